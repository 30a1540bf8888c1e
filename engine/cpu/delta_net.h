// Gated delta nets: recurrent states of all sequences and layers, and the steps that update them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/attention.h"
#include "engine/cpu/pages.h"
#include "models/model_config.h"

namespace warpchat {

struct FloatColumns {
  float* data = nullptr;  // [columns, width]
  uint32_t width = 0;
  float* column(uint32_t index) const { return data + uint64_t{index} * width; }
};

struct DeltaBuffers {
  FloatColumns qkv;          // [columns, channels]
  FloatColumns z;            // [columns, n_v_heads * head_dim]
  FloatColumns alpha, beta;  // [columns, n_v_heads]
  FloatColumns mixed;        // [columns, n_v_heads * head_dim]: the layer's output
};

using LayerDeltaNet = DeltaVectors<std::vector<float>>;  // conv by_taps

// [channels, n_taps] as [n_taps, channels].
std::vector<float> by_taps(std::span<const float> conv, uint32_t n_taps);

class DeltaNets {
 public:
  // n_states: sequences and checkpoints.
  DeltaNets(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config, uint32_t n_states);

  uint64_t n_bytes() const { return memory_.n_bytes(); }
  uint32_t n_states() const { return static_cast<uint32_t>(positions_.size()); }
  void copy_state(uint32_t from, uint32_t to);

  // A run at position 0 starts from a zero state, any other from its sequence's state.
  void begin(std::span<const CachedRun> runs);
  // x.qkv = each channel's convolution, with queries and keys normalised to unit length; x.alpha, x.beta = factors.
  void convolve(const LayerDeltaNet& layer, uint32_t nth, std::span<const CachedRun> runs, const DeltaBuffers& x);
  // mixed = state . query, normalised and gated. A column's bits depend on its sequence alone.
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
  std::vector<uint32_t> positions_;           // positions processed by each state
  // [states, layers]: the last inputs of the convolution [conv_kernel - 1, channels], then the matrices [n_v_heads,
  // head_dim / kDeltaBlock, head_dim of keys, kDeltaBlock values]
  Pages memory_;
};

}  // namespace warpchat
