// How fast a GPU decodes, by what its kernels say of themselves (kernels/flow.h), their bytes and their instructions,
// and one row of constants a GPU. A phase takes what the barrier or launch before it takes, its start, then the longer
// of what its busiest warps wait for one thing after the other, and of its bytes, instructions and tensor products at
// the rates of the whole GPU; then its end.
//
// The form is frozen, so that tuning is judged by it and not with it: a faster kernel changes its flow, bytes and
// instructions, a measurement changes the constants, and neither changes a formula here. Left out: conflicts in caches
// and banks, clocks that sink, blocks on processors of different speed, the profiler.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/flow.h"
#include "kernels/phase_program.h"
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
  double tensor_flops;        // a second, of the tensor cores: products of halves, sums of floats
  double host_seconds;        // to read a word of the host's memory
  double memory_seconds;      // to read one of the device's, while others read, too
  double common_seconds;      // to read one of those that all blocks read, some of them a little earlier
  double l2_seconds;          // to read one that the second-level cache has
  double local_cycles;        // a shuffle, a read of shared memory, a barrier of a block
  double instruction_cycles;  // from one instruction of a warp to its next, where it waits for no memory
  double arrival_seconds;     // of a block at a barrier of the grid, behind those of other blocks
};
std::span<const GpuTraits> known_gpus();
const GpuTraits& gpu_named(std::string_view name);  // Error that lists the known ones
// The row for what a driver calls a GPU ("NVIDIA H100 80GB HBM3"), or for a row's own name; null: there is none.
const GpuTraits* gpu_of_driver(std::string_view name);

// What the assumed constants are: those that kernels were tuned by, likely ones, and the worst that are plausible.
enum class ConstantSet : uint8_t { kFrozen, kExpected, kHarsh };
constexpr ConstantSet kConstantSets[] = {ConstantSet::kFrozen, ConstantSet::kExpected, ConstantSet::kHarsh};
std::string_view name_of(ConstantSet set);
ConstantSet constant_set_named(std::string_view name);  // Error that lists them
// known_gpus() holds the frozen constants.
GpuTraits with_constants(GpuTraits gpu, ConstantSet set);

// One launch, or the same work in a phase of the persistent decoder.
struct KernelWork {
  std::string name;
  Flow flow;
  uint64_t bytes = 0;             // of device memory, of all pieces
  double flops = 0;               // of the tensor cores
  double start_instructions = 0;  // of one warp, in the flow's start
  double piece_instructions = 0;  // of one warp, in a piece
  uint64_t blocks = 1;            // of a launch of its own
  uint32_t block_warps = 1;
  uint32_t most_teams = UINT32_MAX;  // of a block of the persistent decoder, that work on a piece each
  uint64_t weight_bytes = 0;         // by which it shares a phase's blocks with others; 0: it is alone

  double instructions() const;  // of warps, in all, of a launch of its own
};

// What does not wait for each other: launched one by one, or between two barriers of the persistent decoder, where they
// share bandwidth and processors.
struct KernelGroup {
  enum class Form : uint8_t { kBoth, kSeparate, kPersistent };
  PhaseKind phase;
  std::vector<KernelWork> kernels;
  Form form = Form::kBoth;
};

// Where a phase's time goes, in seconds; the sum is the phase's.
struct PhaseSeconds {
  double wait = 0;       // for the launch or the barrier
  double start = 0;      // until something of the first piece is asked for: tables, the input in shared memory
  double bytes = 0;      // at the memory's bandwidth
  double latency = 0;    // what warps wait for beyond that, where each has the same share of the work, or a piece
  double imbalance = 0;  // where some have a piece more than others
  double end = 0;
  double total() const { return wait + start + bytes + latency + imbalance + end; }
  PhaseSeconds& operator+=(const PhaseSeconds& other);
};

double seconds(const GpuTraits& gpu, const Waits& waits, double instructions = 0);  // of one warp
double seconds_of_bytes(const GpuTraits& gpu, const KernelWork& work);
double seconds_of_issue(const GpuTraits& gpu, const KernelWork& work);  // by all processors
double barrier_seconds(const GpuTraits& gpu);                           // of the persistent decoder's grid
uint32_t persistent_blocks(const GpuTraits& gpu);

PhaseSeconds launch_seconds(const GpuTraits& gpu, const KernelWork& work, double launch);  // of its own
PhaseSeconds phase_seconds(const GpuTraits& gpu, const KernelGroup& group,
                           double quiet = 0);  // in the persistent decoder
// Of each group there; nothing for those that it does not run. What a phase asks for ahead comes from the last phase
// with weights on: quiet is the time of those between, but for what their own bytes take.
std::vector<PhaseSeconds> token_seconds(const GpuTraits& gpu, std::span<const KernelGroup> token);

// Of memory, in a phase of the persistent decoder, that all warps of a processor have asked for at once, on average.
double bytes_in_flight(const GpuTraits& gpu, const KernelGroup& group);
// How often the busiest team of the persistent decoder has a piece, and how often it would if pieces could be divided.
struct Rounds {
  uint64_t dealt;
  double even;
};
Rounds rounds(const GpuTraits& gpu, const KernelGroup& group, size_t kernel = 0);

struct TokensPerSecond {
  double bandwidth;  // bytes alone, all of them at once
  double stream, graph;
  double persistent;  // 0: the persistent decoder runs none of it
};
// Passes per second; of one token, unless the groups are of more columns. n_barriers: of the persistent decoder, 0 for
// groups that it does not run.
TokensPerSecond predict(const GpuTraits& gpu, std::span<const KernelGroup> pass, uint64_t n_barriers);

// Tokens per second that a prompt of n_tokens cannot exceed: its products and scores on the tensor cores, of experts
// those that a token uses, and all weights read once.
double prefill_bound(const GpuTraits& gpu, const ModelConfig& config, uint64_t weight_bytes, uint32_t n_tokens);

}  // namespace warpchat
