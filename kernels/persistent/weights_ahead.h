// L2 prefetch in the persistent decoder, issued by a block while it waits at a barrier. Nothing waits for the data.
// Weights are constant, so no prefetch can be too early; a key written later updates L2.
#pragma once
#include <cstddef>

#include "kernels/common/ask_ahead.h"
#include "kernels/persistent/persistent_decoder.h"
#include "ptx/builder.h"

namespace warpchat {

class WeightsAhead {
 public:
  explicit WeightsAhead(ptx::Target target) {
    using namespace ptx;
    constexpr uint32_t kBytesOfWarp = kAheadMultiple / (kPersistentThreads / kWarpSize);
    Builder b("weights_ahead", target);
    const Shared<u8> product = b.shared_pointer<u8>(b.argument<u32>("product", Sharing::kWarp), 8);
    Reg<u32> expert = b.argument<u32>("expert", Sharing::kWarp);
    const auto number = [&](size_t offset) { return (product + offset).as<u32>().load(); };
    Reg<u32> rank = b.block() - number(offsetof(ProductRow, first_block));
    const auto ask = [&](size_t matrix, size_t stride, size_t ahead) {
      Reg<u32> bytes = number(ahead);
      Reg<u64> first = (product + matrix).as<u64>().load();
      Reg<u64> skipped = wide(rank) * wide(bytes) + wide(expert) * (wide(number(stride)) * 16);
      Reg<u32> part = bytes / kAheadMultiple * kBytesOfWarp;
      b.if_(bytes > 0, [&] { ask_ahead(b, target, b.pointer<u8>(first + skipped, 16) + b.warp() * part, part); });
    };
    b.if_(rank < number(offsetof(ProductRow, n_blocks)), [&] {
      ask(offsetof(ProductRow, weights), offsetof(ProductRow, stride), offsetof(ProductRow, ahead));
      ask(offsetof(ProductRow, up), offsetof(ProductRow, up_stride), offsetof(ProductRow, up_ahead));
    });
    function_ = b.finish_function();
  }

  // Called by all threads of a block: prefetches its part of a product, as the table row has it. expert: index of the
  // expert's matrices, 0 without experts. product: ProductRow (kernels/persistent/persistent_decoder.h).
  void ask(ptx::Builder& b, const ptx::Shared<ptx::u8>& product, const ptx::Reg<ptx::u32>& expert) const {
    b.call(function_, {product, expert});
  }

 private:
  ptx::FunctionPointer function_;
};

}  // namespace warpchat
