// Gated delta nets: a channel's convolution, the recurrence of a head, and the gates of outputs.
// Source: Yang et al., Gated Delta Networks (2024).
#pragma once
#include "engine/cpu/kernels/multiply.h"

namespace warpchat {
namespace {

static_assert(kDeltaBlock % kLanes == 0);

// Positions in the outer loop, since channels are contiguous. The tail holds the last inputs and moves on with each.
void convolve(const Convolve& c) {
  for (uint32_t column = 0; column < c.columns; ++column) {
    float* x = c.x + column * c.stride;
    for (uint32_t i = 0; i < c.n; i += kLanes) {
      const Floats now = load<Floats>(x + i);
      Floats sum = now * load<Floats>(c.taps + (c.n_taps - 1) * c.channels + i);
      for (uint32_t tap = 0; tap + 1 < c.n_taps; ++tap) {
        float* at = c.tail + tap * c.channels + i;
        sum = fma(load<Floats>(at), load<Floats>(c.taps + tap * c.channels + i), sum);
        store(at, tap + 2 < c.n_taps ? load<Floats>(at + c.channels) : now);
      }
      store(x + i, silu(sum));
    }
  }
}

// Reads state . key before the update and state . query after it. Each value owns a column of the state, so a block of
// values stays in the L1 cache across positions.
void delta_step(const DeltaStep& s) {
  constexpr int kVectors = kDeltaBlock / kLanes, kSums = 8 / kVectors;  // enough independent sums to hide latency
  for (uint32_t column = 0; column < s.columns; ++column) {
    const float *q = s.q + column * s.stride, *k = s.k + column * s.stride, *v = s.v + column * s.stride;
    const Floats decay = splat(s.decay[column * s.factor_stride]), beta = splat(s.beta[column * s.factor_stride]);
    Floats found[kSums][kVectors] = {}, read[kSums][kVectors] = {};
    for (uint32_t i = 0; i < s.head_dim; i += kSums) {
      WARPCHAT_UNROLL
      for (int p = 0; p < kSums; ++p) {
        const Floats key = splat(k[i + p]);
        WARPCHAT_UNROLL
        for (int j = 0; j < kVectors; ++j)
          found[p][j] = fma(load<Floats>(s.state + (i + p) * kDeltaBlock + j * kLanes), key, found[p][j]);
      }
    }
    Floats change[kVectors];
    for (int j = 0; j < kVectors; ++j) {
      Floats sum = found[0][j];
      for (int p = 1; p < kSums; ++p) sum += found[p][j];
      change[j] = beta * (load<Floats>(v + j * kLanes) - decay * sum);
    }
    for (uint32_t i = 0; i < s.head_dim; i += kSums) {
      WARPCHAT_UNROLL
      for (int p = 0; p < kSums; ++p) {
        const Floats key = splat(k[i + p]), query = splat(q[i + p]);
        WARPCHAT_UNROLL
        for (int j = 0; j < kVectors; ++j) {
          float* at = s.state + (i + p) * kDeltaBlock + j * kLanes;
          const Floats changed = fma(key, change[j], load<Floats>(at) * decay);
          store(at, changed);
          read[p][j] = fma(changed, query, read[p][j]);
        }
      }
    }
    for (int j = 0; j < kVectors; ++j) {
      Floats sum = read[0][j];
      for (int p = 1; p < kSums; ++p) sum += read[p][j];
      store(s.out + column * s.out_stride + j * kLanes, sum);
    }
  }
}

void apply_gate(const ApplyGate& g) {
  const auto factor = [&](Floats z) {
    const Floats switched = splat(1.0f) / inverse_sigmoid(z);
    return g.silu ? z * switched : switched;
  };
  uint32_t i = 0;
  for (; i + kLanes <= g.n; i += kLanes) store(g.x + i, load<Floats>(g.x + i) * factor(load<Floats>(g.z + i)));
  const uint32_t rest = g.n - i;
  store_some(g.x + i, load_some(g.x + i, rest) * factor(load_some(g.z + i, rest)), rest);
}

}  // namespace
}  // namespace warpchat
