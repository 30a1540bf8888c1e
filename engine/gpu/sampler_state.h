// The sampler's settings as the sampling kernel reads them from device memory.
#pragma once
#include <cmath>

#include "engine/sampler.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

inline SamplerState sampler_state(const SamplingParams& params) {
  SamplerState state;
  state.repeat_penalty = params.repeat_penalty;
  state.presence_penalty = params.presence_penalty;
  state.frequency_penalty = params.frequency_penalty;
  state.penalty_window = params.penalty_window;
  state.top_k = params.top_k;
  state.top_p = params.top_p;
  state.temperature = params.temperature;
  if (params.min_p > 0) state.log_min_p = std::log(double{params.min_p});
  state.seed = params.seed;
  return state;
}

}  // namespace warpchat
