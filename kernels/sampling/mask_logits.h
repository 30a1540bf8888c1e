// Lowers the logits of tokens that a mask forbids, before sampling: for answers whose text has a required form. With at
// least one token allowed, the sampler never draws another (see masked_logit).
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/common/columns.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

struct MaskLogitsSpec {
  uint32_t n_vocab;      // logits per column
  uint32_t columns = 1;  // sequences or tokens of a draft, each with its own mask
};

inline uint32_t mask_words(uint32_t n_vocab) { return ceil_div(n_vocab, 32); }  // u32 of one column's mask

// A forbidden token's logit: finite, from kMaskedLogit down to its double. Why the sampler draws no such token:
// - All of them are below every logit that a network computes. Penalties come later: a repeat penalty from 1e-8 to 1e8
//   leaves them between -1e38 and -1e22, and what is subtracted is lost in rounding.
// - So each allowed token is before each forbidden one: at temperature 0 the best is allowed. top_k below the number of
//   allowed tokens keeps only those; a larger one also keeps forbidden tokens, whose weight is 0.
// - A weight is exp((logit - best) / temperature) in steps of 2^-44 for a vocabulary of 151,936, and 0 below
//   exp(-80) in any case: for a forbidden token up to a temperature of 1e20. top_p sums and the draw are over weights,
//   so 0 changes no sum, and no random number falls into a share of 0. min_p compares with the best logit.
// They differ from each other only for the sampler's speed. With top_k it collects every logit from a bound on, the
// lowest of what its warps reach; a thread has slots of kSampleSlotLogits neighbours. If forbidden logits were equal, a
// single warp without allowed tokens would let all of them through. So many do not fit into shared memory, and one
// block would search all logits several times. Instead the first logit of a slot is ranked by its thread, and the
// others are lower: at most ceil(top_k / 32) of each 4,096 forbidden tokens pass.
inline constexpr float kMaskedLogit = -1e30f;
inline constexpr uint32_t kMaskedRanks = kSampleSlotLogits * ptx::kWarpSize;
inline float masked_logit(uint32_t token) {
  const uint32_t slot = token / kSampleSlotLogits % ptx::kWarpSize;
  const uint32_t rank = token % kSampleSlotLogits * ptx::kWarpSize + slot;
  return std::fma(static_cast<float>(rank), kMaskedLogit / kMaskedRanks, kMaskedLogit);
}

// Name: mask_logits_151936_c8. Parameters: logits f32 [columns, n_vocab]; masks u32 [columns, mask_words(n_vocab)]: bit
// i % 32 of word i / 32 allows token i; and n_columns u32 if columns > 1: at most `columns`; columns beyond are neither
// read nor written. Bits beyond n_vocab are ignored. Grid: blocks of a column, columns.
// Writes masked_logit(i) over forbidden logits, and nothing else. A forbidden logit that is not finite also stays, so
// that the sampler reports it. Throws Error for a spec outside the bounds.
ptx::Kernel mask_logits(const MaskLogitsSpec& spec, ptx::Target target);
std::string name_of(const MaskLogitsSpec& spec);

}  // namespace warpchat
