// How fast a GPU could decode at best: every kernel takes the longer of its bytes at the memory's bandwidth and its
// instructions at the rate at which the processors issue them, and a fixed time to get from one kernel to the next.
// Latencies, caches and what instructions wait for are not in it: it is a bound, and what is measured is held against
// it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model_config.h"
#include "ptx/target.h"

namespace warpchat {

struct GpuTraits {
  std::string_view name, title;
  ptx::Target target;
  double bytes_per_second;  // of memory, as reads reach it
  uint32_t n_sms;
  double clock_hz;
  double instructions_per_clock;  // of warps, that a processor issues
  double stream_launch_seconds;   // from the end of one kernel to the start of the next
  double graph_node_seconds;
  double barrier_seconds;  // of a whole grid
  double tensor_flops;     // a second, of the tensor cores: products of halves, sums of floats
};
std::span<const GpuTraits> known_gpus();
const GpuTraits& gpu_named(std::string_view name);  // Error that lists the known ones

// One launch. The blocks share its work evenly.
struct KernelWork {
  std::string name;
  uint64_t bytes = 0;
  uint64_t instructions = 0;  // of warps, in all
  uint64_t blocks = 1;
};

// Tokens per second that a prompt of n_tokens cannot exceed: its products and scores on the tensor cores, and all
// weights read once.
double prefill_bound(const GpuTraits& gpu, const ModelConfig& config, uint64_t weight_bytes, uint32_t n_tokens);

double seconds_of_bytes(const GpuTraits& gpu, const KernelWork& work);
// Of the processor that gets the most blocks.
double seconds_of_issue(const GpuTraits& gpu, const KernelWork& work);
double seconds(const GpuTraits& gpu, const KernelWork& work);  // the longer of both

// Kernels that do not wait for each other: launched one by one, or between two barriers of the persistent decoder,
// where they share bandwidth and processors.
using KernelGroup = std::vector<KernelWork>;

struct TokensPerSecond {
  double bandwidth;  // bytes alone, all of them at once
  double stream, graph, persistent;
};
// n_barriers: of a token of the persistent decoder, more than there are groups: it chooses and publishes, too.
TokensPerSecond predict(const GpuTraits& gpu, std::span<const KernelGroup> token, uint64_t n_barriers);

}  // namespace warpchat
