// Sizes of the CPU's buffers, and the system's memory limits.
#include "engine/cpu/memory_budget.h"

#include <sys/resource.h>

#include <algorithm>

#include "engine/cpu/attention.h"
#include "engine/cpu/control_groups.h"
#include "engine/cpu/experts.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/products.h"
#include "engine/cpu/status_field.h"

namespace warpchat {
namespace {

uint64_t available_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const uint64_t used = read_field("/proc/self/status", "VmSize:").value_or(0) * 1024;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

// Size in an arena.
uint64_t packed_bytes(const CpuKernels& kernels, const TensorInfo& tensor) {
  return saturating_sum({PackedMatrix::bytes_needed(kernels, tensor), 63}) / 64 * 64;
}

}  // namespace

uint32_t widest_input(const ModelConfig& config) {
  return std::max({config.hidden, config.ffn, config.experts.ffn, config.experts.shared_ffn,
                   config.n_heads * config.head_dim, config.delta_net.inner()});
}

uint32_t logits_columns(uint32_t max_columns, uint32_t sequences) {
  constexpr uint32_t kAtOnce = 64;  // more at once are hardly faster
  return std::min(max_columns, std::max(kAtOnce, sequences));
}

uint64_t expert_bytes(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors) {
  uint64_t bytes = 0;
  for (const LayerTensors& layer : tensors.layers)
    for_each(
        [&](const TensorInfo* t, bool is_of_each) {
          if (t == nullptr || !is_of_each) return;
          bytes =
              saturating_sum({bytes, saturating_product({config.experts.n, packed_bytes(kernels, expert_of(*t, 0))})});
        },
        layer.experts, kIsPerExpert);
  return bytes;
}

MemoryBudget memory_budget(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                           uint32_t max_columns, uint32_t sequences, KvTypes cache, uint32_t n_states) {
  MemoryBudget budget{};
  const auto add = [&](const TensorInfo* t) {
    if (t != nullptr) budget.weights_bytes = saturating_sum({budget.weights_bytes, packed_bytes(kernels, *t)});
  };
  for (const LayerTensors& layer : tensors.layers) {
    for_each(add, layer.matrices);
    for_each(add, layer.delta_matrices);
    for_each(
        [&](const TensorInfo* t, bool is_of_each) {
          if (!is_of_each) add(t);
        },
        layer.experts, kIsPerExpert);
  }
  budget.weights_bytes = saturating_sum({budget.weights_bytes, expert_bytes(kernels, config, tensors)});
  add(tensors.output);
  budget.cache_bytes_per_position =
      saturating_product({CachedAttention::cache_bytes_per_position(config, cache), sequences});
  uint64_t values = 0;
  for (const Buffer buffer : kActivations) values += shape_of(buffer, config).width;
  budget.activation_bytes =
      saturating_sum({saturating_product({max_columns, values, sizeof(float)}),
                      saturating_product({logits_columns(max_columns, sequences), config.n_vocab, sizeof(float)}),
                      saturating_product({n_states, config.delta_state_bytes()}),
                      CachedAttention::partial_bytes(config), ExpertRunner::bytes_needed(config, max_columns),
                      ProductRunner::bytes_needed(max_columns, widest_input(config))});
  return budget;
}

uint64_t available_memory() {
  const std::optional<uint64_t> free_kib = read_field("/proc/meminfo", "MemAvailable:");
  const uint64_t free = free_kib ? *free_kib * 1024 : UINT64_MAX;
  return std::min({free, memory_left_in_control_groups(), available_address_space()});
}

}  // namespace warpchat
