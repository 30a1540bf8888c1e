// The recurrence is sequential over positions, and parallel over heads and blocks of values. Results are the same to
// the bit however a prompt is split.
#include "engine/cpu/delta_net.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "engine/cpu/thread_pool.h"
#include "engine/memory_budget.h"

namespace warpchat {
namespace {

constexpr uint32_t kChannels = 256;  // per task: a few positions of them fit in the L1 cache
constexpr float kMinLength = 1e-6f;  // squared; lower bound for a query or key

float* at(const FloatColumns& columns, uint32_t column, uint64_t offset = 0) { return columns.column(column) + offset; }

float sigmoid(float x) { return static_cast<float>(1 / (1 + std::exp(-double{x}))); }
double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

}  // namespace

std::vector<float> by_taps(std::span<const float> conv, uint32_t n_taps) {
  std::vector<float> taps(conv.size());
  const size_t channels = conv.size() / n_taps;
  for (size_t c = 0; c < channels; ++c)
    for (size_t tap = 0; tap < n_taps; ++tap) taps[tap * channels + c] = conv[c * n_taps + tap];
  return taps;
}

DeltaNets::DeltaNets(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config, uint32_t n_states)
    : pool_(pool),
      kernels_(kernels),
      config_(config.delta_net),
      rms_eps_(config.rms_eps),
      n_layers_(config.n_layers_with(Mixer::kDeltaNet)),
      tail_floats_(config_.tail_floats()),
      layer_floats_(config_.layer_floats()),
      // norm_and_rope_heads normalises by the mean square, so gains convert to unit length. Queries include the scale
      // for their dot products with keys.
      query_gain_(config_.head_dim, 1.0f / static_cast<float>(config_.head_dim)),
      key_gain_(config_.head_dim, 1.0f / std::sqrt(static_cast<float>(config_.head_dim))),
      positions_(n_layers_ > 0 ? n_states : 0),
      memory_(saturating_product({config.delta_state_bytes(), positions_.size()}), "the states of delta nets") {}

void DeltaNets::copy_state(uint32_t from, uint32_t to) {
  assert(from < n_states() && to < n_states());
  pool_.for_each(n_layers_, [&](uint32_t layer) {
    std::memcpy(tail_of(to, layer), tail_of(from, layer), layer_floats_ * sizeof(float));
  });
  positions_[to] = positions_[from];
}

void DeltaNets::begin(std::span<const CachedRun> runs) {
  if (n_layers_ == 0) return;
  for (const CachedRun& run : runs) {
    if (run.position == 0) std::memset(tail_of(run.sequence, 0), 0, n_layers_ * layer_floats_ * sizeof(float));
    assert(run.position == 0 || run.position == positions_[run.sequence]);
    positions_[run.sequence] = run.position + run.columns;
  }
}

void DeltaNets::convolve(const LayerDeltaNet& layer, uint32_t nth, std::span<const CachedRun> runs,
                         const DeltaBuffers& x) {
  const uint32_t channels = config_.channels(), n_tasks = (channels + kChannels - 1) / kChannels;
  uint32_t columns = 0;
  for (const CachedRun& run : runs) {
    pool_.for_each(n_tasks, [&](uint32_t task) {
      const uint32_t first = task * kChannels;
      kernels_.convolve({at(x.qkv, columns, first), channels, run.columns, layer.conv.data() + first,
                         config_.conv_kernel, tail_of(run.sequence, nth) + first, channels,
                         std::min(kChannels, channels - first)});
    });
    columns += run.columns;
  }
  pool_.for_each(columns, [&](uint32_t column) {
    const auto normalise = [&](uint64_t offset, const std::vector<float>& gain) {
      kernels_.norm_and_rope_heads({.heads = at(x.qkv, column, offset),
                                    .n_heads = config_.n_k_heads,
                                    .head_dim = config_.head_dim,
                                    .gain = gain.data(),
                                    .eps = kMinLength / static_cast<float>(config_.head_dim),
                                    .neox = true});
    };
    normalise(0, query_gain_);
    normalise(uint64_t{config_.n_k_heads} * config_.head_dim, key_gain_);
    float *alpha = at(x.alpha, column), *beta = at(x.beta, column);
    for (uint32_t h = 0; h < config_.n_v_heads; ++h) {
      alpha[h] = static_cast<float>(std::exp(layer.decay[h] * softplus(double{alpha[h]} + layer.dt_bias[h])));
      beta[h] = sigmoid(beta[h]);
    }
  });
}

void DeltaNets::step(const LayerDeltaNet& layer, uint32_t nth, std::span<const CachedRun> runs, const DeltaBuffers& x) {
  const uint32_t d = config_.head_dim, n_blocks = d / kDeltaBlock;
  uint32_t columns = 0;
  for (const CachedRun& run : runs) {
    pool_.for_each(config_.n_v_heads * n_blocks, [&](uint32_t task) {
      const uint32_t head = task / n_blocks, key_head = config_.key_head(head), first = task % n_blocks * kDeltaBlock;
      kernels_.delta_step({.q = at(x.qkv, columns, uint64_t{key_head} * d),
                           .k = at(x.qkv, columns, uint64_t{config_.n_k_heads + key_head} * d),
                           .v = at(x.qkv, columns, uint64_t{2 * config_.n_k_heads + head} * d + first),
                           .stride = x.qkv.width,
                           .decay = at(x.alpha, columns, head),
                           .beta = at(x.beta, columns, head),
                           .factor_stride = config_.n_v_heads,
                           .columns = run.columns,
                           .head_dim = d,
                           .state = heads_of(run.sequence, nth) + uint64_t{task} * d * kDeltaBlock,
                           .out = at(x.mixed, columns, uint64_t{head} * d + first),
                           .out_stride = x.mixed.width});
    });
    columns += run.columns;
  }
  pool_.for_each(columns, [&](uint32_t column) {
    kernels_.norm_and_rope_heads({.heads = at(x.mixed, column),
                                  .n_heads = config_.n_v_heads,
                                  .head_dim = d,
                                  .gain = layer.norm.data(),
                                  .eps = rms_eps_,
                                  .neox = true});
    kernels_.apply_gate({at(x.mixed, column), at(x.z, column), x.z.width, /*silu=*/true});
  });
}

}  // namespace warpchat
