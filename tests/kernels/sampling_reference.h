// The sampling rules in double precision: the remaining tokens, their probabilities, and the token that a random number
// draws.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/sampler.h"

namespace warpchat {

struct Share {
  uint32_t token;
  double probability;
};

// Tokens that can be drawn, ordered by id. recent: the previous tokens, oldest first, without limit.
std::vector<Share> sampling_shares(std::vector<float> logits, const SamplingParams& params,
                                   const std::vector<uint32_t>& recent = {});

// The first 64 bits that Philox4x32-10 makes of a key and a counter {counter, 0, 0, 0}.
uint64_t philox(uint64_t key, uint32_t counter);

// The token whose share contains the random number; both neighbours within 1e-5 of their border.
std::vector<uint32_t> drawn_tokens(const std::vector<Share>& shares, uint64_t random);

}  // namespace warpchat
