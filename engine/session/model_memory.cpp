// The devices' own budgets.
#include "engine/session/model_memory.h"

#include <algorithm>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_memory.h"

namespace warpchat {

uint64_t memory_needed(const ModelOptions& options, const ModelConfig& config, const ModelTensors& tensors,
                       bool on_gpu) {
  const uint32_t context = choose_context(options, config);
  if (on_gpu)
    return gpu_memory_budget(config, tensors, {context, options.batch, options.sequences, options.cache})
        .total(context);
  CpuOptions cpu;
  cpu.context = context;
  cpu.sequences = options.sequences;
  cpu.cache = options.cache;
  cpu.max_columns = std::clamp<uint32_t>(options.batch, 1, std::max<uint32_t>(1, context));
  return cpu_memory_needed(config, tensors, cpu);
}

}  // namespace warpchat
