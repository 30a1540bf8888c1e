// Gated delta nets: the states of the sequences in all such layers, and how a pass changes them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/attention.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"
#include "engine/steps.h"
#include "models/model_config.h"

namespace warpchat {

struct LayerDeltaNet {
  DeltaMatrices<PackedMatrix> matrices;
  DeltaVectors<std::vector<float>> vectors;  // conv by_taps
};

// [channels, n_taps] as [n_taps, channels].
std::vector<float> by_taps(std::span<const float> conv, uint32_t n_taps);

class DeltaNets {
 public:
  // As many states, one after the other, as sequences and copies need.
  DeltaNets(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config, uint32_t n_states);

  uint64_t n_bytes() const { return memory_.n_bytes(); }
  uint32_t n_states() const { return static_cast<uint32_t>(positions_.size()); }
  void copy_state(uint32_t from, uint32_t to);

  // A run at position 0 begins with an empty state, every other one where its sequence's state stands.
  void begin(std::span<const CachedRun> runs);
  // x.qkv = the convolution of each channel, queries and keys of unit length; x.alpha and x.beta as factors.
  void convolve(const LayerDeltaNet& layer, uint32_t nth, std::span<const CachedRun> runs, const DeltaBuffers& x);
  // mixed = what the states hold at the queries, normalised and gated. A column's bits depend on its sequence alone.
  void step(const LayerDeltaNet& layer, uint32_t nth, std::span<const CachedRun> runs, const DeltaBuffers& x);

 private:
  float* tail_of(uint32_t state, uint32_t nth) const {
    return memory_.as<float>() + (uint64_t{state} * n_layers_ + nth) * layer_floats_;
  }
  float* heads_of(uint32_t state, uint32_t nth) const { return tail_of(state, nth) + tail_floats_; }

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  const DeltaNetConfig config_;
  const float rms_eps_;
  const uint32_t n_layers_;
  const uint64_t tail_floats_, layer_floats_;
  std::vector<float> query_gain_, key_gain_;  // [head_dim]
  std::vector<uint32_t> positions_;           // that each state has seen
  // [states, layers]: the last positions before the convolution [conv_kernel - 1, channels], then
  // [n_v_heads, head_dim / kDeltaBlock, head_dim of keys, kDeltaBlock values]
  Pages memory_;
};

}  // namespace warpchat
