#include "engine/gpu/speed_model.h"

#include <algorithm>

#include "models/error.h"

namespace warpchat {

namespace {

// Bandwidths are what published kernels read at, not the data sheets' 4.8 and 1.008 TB/s. Processors, clocks (boost)
// and four schedulers a processor, and the tensor cores' rate: NVIDIA's data sheets and architecture papers. A graph
// node: 1.3 us as measured on an H100 for "Look Ma, No Bubbles! Designing a Low-Latency Megakernel for Llama-1B" (Hazy
// Research, May 2025); a grid barrier: those of megakernels, the upper end of 0.7 to 1 us. A launch in a stream is an
// assumption: the node by the ratio of the two in NVIDIA's "Getting Started with CUDA Graphs" (0.9 to 0.5 us on a
// V100). None of these was measured by this project, and the three times were not measured on an RTX 4090 at all.
constexpr GpuTraits kGpus[] = {
    {"h200", "NVIDIA H200", ptx::sm_90, 4.3e12, 132, 1.98e9, 4, 2.3e-6, 1.3e-6, 1.0e-6, 989e12},
    {"4090", "NVIDIA GeForce RTX 4090", ptx::sm_89, 0.95e12, 128, 2.52e9, 4, 2.3e-6, 1.3e-6, 1.0e-6, 165e12},
};

KernelWork together(const KernelGroup& phase) {
  KernelWork sum{.blocks = 0};
  for (const KernelWork& work : phase) {
    sum.bytes += work.bytes;
    sum.instructions += work.instructions;
    sum.blocks += work.blocks;
  }
  return sum;
}

}  // namespace

std::span<const GpuTraits> known_gpus() { return kGpus; }

const GpuTraits& gpu_named(std::string_view name) {
  std::string known;
  for (const GpuTraits& gpu : kGpus) {
    if (gpu.name == name) return gpu;
    known += (known.empty() ? "" : ", ") + std::string(gpu.name);
  }
  throw Error("the GPU \"" + std::string(name) + "\" is unknown, expected one of " + known);
}

double prefill_bound(const GpuTraits& gpu, const ModelConfig& c, uint64_t weight_bytes, uint32_t n_tokens) {
  const double q_width = double{1} * c.n_heads * c.head_dim, kv_width = double{1} * c.n_kv_heads * c.head_dim;
  const double weights = c.hidden * (2 * q_width + 2 * kv_width + 3.0 * c.ffn);  // of a layer
  const double scores = q_width * (n_tokens + 1.0);  // of a token on average: half of them, a product each with K and V
  const double flops = 2.0 * c.n_layers * (weights + scores) * n_tokens + 2.0 * c.hidden * c.n_vocab;
  return n_tokens / std::max(flops / gpu.tensor_flops, static_cast<double>(weight_bytes) / gpu.bytes_per_second);
}

double seconds_of_bytes(const GpuTraits& gpu, const KernelWork& work) {
  return static_cast<double>(work.bytes) / gpu.bytes_per_second;
}

double seconds_of_issue(const GpuTraits& gpu, const KernelWork& work) {
  const auto most_blocks = static_cast<double>((work.blocks + gpu.n_sms - 1) / gpu.n_sms);
  const double of_a_block = static_cast<double>(work.instructions) / static_cast<double>(work.blocks);
  return of_a_block * most_blocks / (gpu.instructions_per_clock * gpu.clock_hz);
}

double seconds(const GpuTraits& gpu, const KernelWork& work) {
  return std::max(seconds_of_bytes(gpu, work), seconds_of_issue(gpu, work));
}

TokensPerSecond predict(const GpuTraits& gpu, std::span<const KernelGroup> token, uint64_t n_barriers) {
  double bytes = 0, alone = 0, shared = 0, launches = 0;
  for (const KernelGroup& phase : token) {
    for (const KernelWork& work : phase) {
      bytes += seconds_of_bytes(gpu, work);
      alone += seconds(gpu, work);
      ++launches;
    }
    shared += seconds(gpu, together(phase));
  }
  return {1 / bytes, 1 / (alone + launches * gpu.stream_launch_seconds),
          1 / (alone + launches * gpu.graph_node_seconds),
          1 / (shared + static_cast<double>(n_barriers) * gpu.barrier_seconds)};
}

}  // namespace warpchat
