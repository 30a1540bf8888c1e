// A delta net over the positions of some sequences, position by position in double precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/delta_net/delta_net.h"
#include "tests/support/random_floats.h"

namespace warpchat {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline constexpr uint32_t kLayers = 2, kLayer = 1;  // layers in a state

// Weights, inputs and states of several sequences, and the expected results in double. Each sequence has `n` positions,
// from `first` on.
struct DeltaProblem {
  DeltaNetSpec spec;
  uint32_t n_sequences, n, first;
  std::vector<float> conv, dt_bias, decay, norm, qkv, z, alpha, beta;
  std::vector<std::vector<float>> states;  // [sequences][layers * layer_floats]

  DeltaProblem(const DeltaNetSpec& s, uint32_t n_sequences_, uint32_t n_, uint32_t first_)
      : spec(s), n_sequences(n_sequences_), n(n_), first(first_) {
    uint32_t seed = 1;
    const uint64_t columns = uint64_t{n_sequences} * n;
    const auto random = [&](uint64_t size, float scale) {
      std::vector<float> values = normal_floats(size, ++seed);
      for (float& value : values) value *= scale;
      return values;
    };
    conv = random(uint64_t{s.channels()} * s.conv_kernel, 0.7f);
    dt_bias = random(s.n_v_heads, 1), decay = random(s.n_v_heads, 1), norm = random(s.head_dim, 1);
    for (float& value : decay) value = -0.1f * std::exp(value);
    qkv = random(columns * s.channels(), 1), z = random(columns * s.inner(), 1);
    alpha = random(columns * s.n_v_heads, 2), beta = random(columns * s.n_v_heads, 2);
    for (uint32_t i = 0; i < n_sequences; ++i) states.push_back(random(kLayers * s.layer_floats(), 0.3f));
  }
  std::vector<uint32_t> positions() const {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < n_sequences * n; ++i) all.push_back(first + i % n);
    return all;
  }

  struct Result {
    std::vector<double> qkv, out;
    std::vector<std::vector<double>> states;
  };
  // convolved: the input of delta_step.
  Result expected(const std::vector<float>& convolved) const {
    Result r{std::vector<double>(qkv.size()), std::vector<double>(z.size()), {}};
    const uint32_t channels = spec.channels(), taps = spec.conv_kernel;
    for (uint32_t s = 0; s < n_sequences; ++s) {
      std::vector<double> state(states[s].begin(), states[s].end());
      double* layer = state.data() + kLayer * spec.layer_floats();
      if (first == 0) std::fill_n(layer, spec.layer_floats(), 0.0);
      for (uint32_t c = 0; c < channels; ++c) {
        std::vector<double> seen;
        for (uint32_t i = 0; i + 1 < taps; ++i) seen.push_back(layer[uint64_t{i} * channels + c]);
        for (uint32_t t = 0; t < n; ++t) {
          const uint64_t at = (uint64_t{s} * n + t) * channels + c;
          seen.push_back(qkv[at]);
          double sum = 0;
          for (uint32_t i = 0; i < taps; ++i) sum += conv[c * taps + i] * seen[seen.size() - taps + i];
          r.qkv[at] = sum * sigmoid(sum);
        }
        for (uint32_t i = 0; i + 1 < taps; ++i) layer[uint64_t{i} * channels + c] = seen[seen.size() - (taps - 1) + i];
      }
      for (uint32_t h = 0; h < spec.n_v_heads; ++h) step(s, h, convolved, layer + spec.tail_floats(), r.out);
      r.states.push_back(std::move(state));
    }
    return r;
  }

 private:
  void step(uint32_t s, uint32_t h, const std::vector<float>& convolved, double* heads,
            std::vector<double>& out) const {
    const uint32_t d = spec.head_dim, of_key = spec.n_v_heads / spec.n_k_heads;
    const uint32_t key_head = spec.tiled ? h % spec.n_k_heads : h / of_key;
    double* cells = heads + uint64_t{h} * d * d;
    for (uint32_t t = 0; t < n; ++t) {
      const uint64_t column = uint64_t{s} * n + t;
      const float* row = convolved.data() + column * spec.channels();
      const auto unit = [&](const float* from) {
        std::vector<double> x(from, from + d);
        double squares = 1e-6;
        for (const double value : x) squares += value * value;
        for (double& value : x) value /= std::sqrt(squares);
        return x;
      };
      const std::vector<double> q = unit(row + key_head * d), k = unit(row + (spec.n_k_heads + key_head) * d);
      const double kept_share =
          std::exp(decay[h] * std::log1p(std::exp(double{alpha[column * spec.n_v_heads + h]} + dt_bias[h])));
      const double write_strength = sigmoid(beta[column * spec.n_v_heads + h]);
      std::vector<double> read(d);
      double squares = 0;
      for (uint32_t j = 0; j < d; ++j) {
        double found = 0;
        for (uint32_t i = 0; i < d; ++i) found += cells[i * d + j] * kept_share * k[i];
        const double change = write_strength * (row[(2 * spec.n_k_heads + h) * d + j] - found);
        for (uint32_t i = 0; i < d; ++i) {
          cells[i * d + j] = cells[i * d + j] * kept_share + k[i] * change;
          read[j] += cells[i * d + j] * q[i] / std::sqrt(double{1} * d);
        }
        squares += read[j] * read[j];
      }
      for (uint32_t j = 0; j < d; ++j) {
        const uint64_t at = column * spec.inner() + h * d + j;
        out[at] = read[j] / std::sqrt(squares / d + spec.eps) * norm[j] * z[at] * sigmoid(z[at]);
      }
    }
  }
};

}  // namespace warpchat
