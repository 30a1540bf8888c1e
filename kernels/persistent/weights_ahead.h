// L2 prefetch in the persistent decoder, issued by a block while it waits at a barrier. Nothing waits for the data.
// Weights are constant, so no prefetch can be too early; a key written later updates L2.
#pragma once
#include "kernels/common/ask_ahead.h"
#include "ptx/builder.h"

namespace warpchat {

class WeightsAhead {
 public:
  explicit WeightsAhead(ptx::Target target);

  // Called by all threads of a block: prefetches its part of a product, as given in the table row. expert: index of the
  // expert's matrices, 0 without experts. product: ProductRow (kernels/persistent/persistent_decoder.h).
  void ask(ptx::Builder& b, const ptx::Global<ptx::u8>& product, const ptx::Reg<ptx::u32>& expert) const;

 private:
  ptx::FunctionPointer function_;
};

}  // namespace warpchat
