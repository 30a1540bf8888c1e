// Decoder steps on the CPU: threads, and SIMD chosen at run time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/steps.h"
#include "kernels/attention/kv_cache.h"

namespace warpchat {

struct CpuOptions {
  uint32_t threads = 0;            // 0: one per physical core
  uint32_t context = 0;            // positions in the KV cache; > 0
  uint32_t max_columns = 512;      // prompt positions per pass
  uint32_t sequences = 1;          // with up to `context` positions each
  uint32_t pages = 0;              // in the shared KV cache; 0: a full context per sequence
  uint32_t state_checkpoints = 0;  // checkpoints of delta nets, besides the sequences' own states
  KvTypes cache = {};              // element types of the KV cache
  std::string simd;                // "avx2", "neon_dot", ... (simd_level.cpp); empty: $WARPCHAT_SIMD, else the best
  std::function<void(double)> progress;  // 0..1 while the weights are prepared; may be empty
};

// Bytes that make_cpu_steps will hold: packed weights, KV cache, activations.
uint64_t cpu_memory_needed(const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options);

// tensors must outlive the result. Throws if memory is short: needed, available, largest context that fits.
std::unique_ptr<Steps> make_cpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const CpuOptions& options);

}  // namespace warpchat
