// Translates model options for each device's memory budget.
#include "engine/session/model_memory.h"

#include <algorithm>

#include "engine/cpu/attention.h"

namespace warpchat {

namespace {

// At least a context's pages, at most what fits 32 bits.
uint32_t pages_in(uint64_t cache_bytes, uint64_t page_bytes, uint32_t context) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(cache_bytes / std::max<uint64_t>(1, page_bytes), pages_of(context), INT32_MAX));
}

// As many checkpoints as fit into the cache's memory, but enough to return to the last few messages.
uint32_t state_checkpoints(uint64_t cache_bytes, uint64_t state_bytes) {
  constexpr uint64_t kMin = 4, kMax = 32;
  return state_bytes == 0 ? 0 : static_cast<uint32_t>(std::clamp(cache_bytes / state_bytes, kMin, kMax));
}

}  // namespace

CpuOptions cpu_options(const ModelOptions& options, const ModelConfig& config, uint32_t context) {
  CpuOptions cpu;
  cpu.context = context;
  cpu.sequences = options.sequences;
  cpu.cache = options.cache;
  cpu.max_columns = std::clamp<uint32_t>(options.batch, 1, std::max<uint32_t>(1, context));
  const uint64_t position_bytes = CachedAttention::cache_bytes_per_position(config, options.cache);
  if (options.cache_bytes) cpu.pages = pages_in(*options.cache_bytes, kPagePositions * position_bytes, context);
  cpu.state_checkpoints = state_checkpoints(options.cache_bytes.value_or(saturating_product({position_bytes, context})),
                                            config.delta_state_bytes());
  return cpu;
}

GpuSizes gpu_sizes(const ModelOptions& options, const ModelConfig& config, uint32_t context) {
  GpuSizes sizes{context, options.batch, options.sequences, options.cache};
  if (options.cache_bytes)
    sizes.n_pages = pages_in(*options.cache_bytes, CachePlan(config, sizes).page_bytes(), context);
  const uint64_t own_bytes = saturating_product({CachePlan(config, sizes).page_bytes(), pages_of(context)});
  sizes.state_checkpoints = state_checkpoints(options.cache_bytes.value_or(own_bytes), config.delta_state_bytes());
  return sizes;
}

uint64_t memory_needed(const ModelOptions& options, const ModelConfig& config, const ModelTensors& tensors,
                       bool on_gpu) {
  const uint32_t context = choose_context(options, config);
  return on_gpu ? gpu_memory_budget(config, tensors, gpu_sizes(options, config, context)).total(context)
                : cpu_memory_needed(config, tensors, cpu_options(options, config, context));
}

}  // namespace warpchat
