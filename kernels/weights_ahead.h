// What a block of the persistent decoder asks for before it may begin: into the second-level cache, while it waits for
// the others. Nobody waits for what comes. Weights are constants, so that nothing can be asked for too early; a key
// that is written later is in that cache then.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// By a warp: so many bytes, a multiple of 32, from an address that is one of 16.
void ask_ahead(ptx::Builder& b, ptx::Target target, const ptx::Global<ptx::u8>& from, ptx::In<ptx::u32> bytes);

class WeightsAhead {
 public:
  explicit WeightsAhead(ptx::Target target);

  // By every thread of a block: its part of a product, as the row of the table says; `expert`: of whose matrices, 0 for
  // a product that has no experts. product: ProductRow (kernels/persistent_decoder.h).
  void ask(ptx::Builder& b, const ptx::Global<ptx::u8>& product, const ptx::Reg<ptx::u32>& expert) const;

 private:
  ptx::FunctionPointer function_;
};

}  // namespace warpchat
