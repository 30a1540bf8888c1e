// The sampling rules once more, in double precision: which tokens remain, with which probabilities, and which of them a
// random number draws.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/sampler.h"

namespace warpchat {

struct Share {
  uint32_t token;
  double probability;
};

// What can be drawn, in the order of ids. recent: the tokens before, oldest first, as many as there are.
std::vector<Share> sampling_shares(std::vector<float> logits, const SamplingParams& params,
                                   const std::vector<uint32_t>& recent = {});

// The first 64 bits that Philox4x32-10 makes of a key and a counter {counter, 0, 0, 0}.
uint64_t philox(uint64_t key, uint32_t counter);

// The token in whose share the random number lies; both neighbours where it lies within 1e-5 of their border.
std::vector<uint32_t> drawn_tokens(const std::vector<Share>& shares, uint64_t random);

}  // namespace warpchat
