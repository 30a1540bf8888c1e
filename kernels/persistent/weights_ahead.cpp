#include "kernels/persistent/weights_ahead.h"

#include <cstddef>

#include "kernels/persistent/persistent_decoder.h"

namespace warpchat {

using namespace ptx;

WeightsAhead::WeightsAhead(Target target) {
  constexpr uint32_t kBytesOfWarp = kAheadMultiple / (kPersistentThreads / kWarpSize);
  Builder b("weights_ahead", target);
  const Global<u8> product = b.global_argument<u8>("product", Sharing::kWarp, 8);
  Reg<u32> expert = b.argument<u32>("expert", Sharing::kWarp);
  const auto number = [&](size_t offset) { return (product + offset).as<u32>().load({}, kReadOnly); };
  Reg<u32> rank = b.block() - number(offsetof(ProductRow, first_block));
  const auto ask = [&](size_t matrix, size_t stride, size_t ahead) {
    Reg<u32> bytes = number(ahead);
    Reg<u64> first = (product + matrix).as<u64>().load({}, kReadOnly);
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

void WeightsAhead::ask(Builder& b, const Global<u8>& product, const Reg<u32>& expert) const {
  b.call(function_, {product, expert});
}

}  // namespace warpchat
