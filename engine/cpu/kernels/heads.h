// Head transforms between projection and attention: norm and RoPE.
// Source: Su et al., RoFormer (2021).
#pragma once
#include "engine/cpu/kernels/input.h"

namespace warpchat {
namespace {

// Rotates values a .. a + n - 1 with their partners b .. b + n - 1 in place.
WARPCHAT_INLINE void rotate_halves(float* head, uint32_t half, const float* cosines, const float* sines) {
  uint32_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const Floats a = load<Floats>(head + i), b = load<Floats>(head + half + i);
    store(head + i, a * load<Floats>(cosines + i) + b * load<Floats>(sines + i));
    store(head + half + i, b * load<Floats>(cosines + half + i) + a * load<Floats>(sines + half + i));
  }
  for (; i < half; ++i) {
    const float a = head[i], b = head[half + i];
    head[i] = a * cosines[i] + b * sines[i];
    head[half + i] = b * cosines[half + i] + a * sines[half + i];
  }
}

WARPCHAT_INLINE void rotate_pairs(float* head, uint32_t dims, const float* cosines, const float* sines) {
  uint32_t i = 0;
  for (; i + kLanes <= dims; i += kLanes) {
    const Floats v = load<Floats>(head + i);
    store(head + i, v * load<Floats>(cosines + i) + swap_pairs(v) * load<Floats>(sines + i));
  }
  for (; i < dims; i += 2) {
    const float a = head[i], b = head[i + 1];
    head[i] = a * cosines[i] + b * sines[i];
    head[i + 1] = b * cosines[i + 1] + a * sines[i + 1];
  }
}

void norm_and_rope_heads(const NormAndRopeHeads& t) {
  for (uint32_t h = 0; h < t.n_heads; ++h) {
    float* head = t.heads + uint64_t{h} * t.head_dim;
    if (t.gain != nullptr) {
      const float factor = inverse_rms(head, t.head_dim, t.eps);
      for (uint32_t i = 0; i < t.head_dim; ++i) head[i] = head[i] * factor * t.gain[i];
    }
    if (t.neox) {
      rotate_halves(head, t.rope_dims / 2, t.cosines, t.sines);
    } else {
      rotate_pairs(head, t.rope_dims, t.cosines, t.sines);
    }
  }
}

}  // namespace
}  // namespace warpchat
