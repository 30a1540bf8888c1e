// One thread per logit, so a warp has one word of the mask. Logits are loaded whether allowed or not: otherwise each
// load would wait for the mask's.
#include "kernels/sampling/mask_logits.h"

#include "kernels/common/spec_check.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

std::string name_of(const MaskLogitsSpec& s) {
  return "mask_logits_" + std::to_string(s.n_vocab) + "_c" + std::to_string(s.columns);
}

Kernel mask_logits(const MaskLogitsSpec& s, Target target) {
  constexpr uint32_t kThreads = 256;
  require_between(1, INT32_MAX, "mask_logits", "n_vocab", s.n_vocab);
  require_between(1, UINT16_MAX, "mask_logits", "columns", s.columns);
  const uint64_t n_words = mask_words(s.n_vocab);
  Builder b(name_of(s), target);
  Global<f32> logits = b.global<f32>("logits", uint64_t{s.columns} * s.n_vocab);
  Global<u32> masks = b.global<u32>("masks", s.columns * n_words);
  Reg<u32> column = b.block(Axis::kY).named("column");
  leave_beyond_columns(b, declare_columns(b, s.columns), column);
  Reg<u32> token = (b.block() * kThreads + b.thread()).named("token");
  b.return_if(token >= s.n_vocab);
  Global<f32> logit = logits + wide(column) * s.n_vocab + token;
  Reg<u32> word = (masks + wide(column) * n_words).load(token / 32, kReadOnly);
  Pred finite = b.is(FloatClass::kFinite, logit.load());
  Pred forbidden = ((word >> b.lane()) & 1) == 0;
  Reg<u32> slot = (token / kSampleSlotLogits) % kWarpSize;
  Reg<u32> rank = (token % kSampleSlotLogits) * kWarpSize + slot;
  Reg<f32> masked = b.fma(b.convert<f32>(rank), kMaskedLogit / kMaskedRanks, kMaskedLogit);
  b.predicated(finite && forbidden, [&] { logit.store(0, masked); });
  return b.finish(Launch{{ceil_div(s.n_vocab, kThreads), s.columns}, kThreads},
                  {.bytes = s.columns * (uint64_t{s.n_vocab} * 8 + n_words * 4)});
}

}  // namespace warpchat
