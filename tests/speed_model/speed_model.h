// Predicts how fast a GPU decodes, from the kernels' work models (work_model.h), their bytes and instructions, and one
// row of constants per GPU. The time of a phase is its barrier or launch, its start, the longer of two times, and its
// end. One time is the latencies that its busiest warps wait for in sequence. The other is its bytes, instructions and
// tensor-core products at the rates of the whole GPU.
//
// The formulas are frozen, so that they judge tuning and are not tuned themselves. A faster kernel changes its work
// model, bytes and instructions; a measurement changes the constants. Not modelled: conflicts in caches and banks,
// falling clocks, differences between processors, and the profiler.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/persistent/phase_program.h"
#include "models/model_config.h"
#include "ptx/target.h"
#include "tests/speed_model/work_model.h"

namespace warpchat {

struct GpuTraits {
  std::string_view name, title;
  ptx::Target target;
  double bytes_per_second;  // reachable read bandwidth
  uint32_t n_sms;
  double clock_hz;
  double instructions_per_clock;  // warp instructions that a processor issues
  double stream_launch_seconds;   // from the end of one kernel to the start of the next
  double graph_node_seconds;
  double tensor_flops;        // tensor cores: f16 products, f32 sums
  double host_seconds;        // latency of a word in the host's memory
  double memory_seconds;      // latency of a word in device memory under load
  double common_seconds;      // latency of a word that all blocks read at about the same time
  double l2_seconds;          // latency of a word in the L2 cache
  double local_cycles;        // latency of a shuffle, a read of shared memory, a barrier of a block
  double instruction_cycles;  // from one instruction of a warp to its next, without memory latency
  double arrival_seconds;     // each arrival of a block at a grid barrier, in sequence
};
std::span<const GpuTraits> known_gpus();
const GpuTraits& gpu_named(std::string_view name);  // throws Error with the known names
// The row for the driver's name of a GPU ("NVIDIA H100 80GB HBM3") or for the row's own name; null if none.
const GpuTraits* gpu_of_driver(std::string_view name);

// The assumed constants: the ones that kernels were tuned by, likely ones, and the worst that are plausible.
enum class ConstantSet : uint8_t { kFrozen, kExpected, kHarsh };
constexpr ConstantSet kConstantSets[] = {ConstantSet::kFrozen, ConstantSet::kExpected, ConstantSet::kHarsh};
std::string_view name_of(ConstantSet set);
ConstantSet constant_set_named(std::string_view name);  // throws Error with the names
// known_gpus() holds the frozen constants.
GpuTraits with_constants(GpuTraits gpu, ConstantSet set);

// One launch, or the same work in a phase of the persistent decoder.
struct KernelWork {
  std::string name;
  WorkModel model;
  uint64_t bytes = 0;             // of device memory, for all pieces
  double flops = 0;               // tensor cores
  double start_instructions = 0;  // per warp, in the model's start
  double piece_instructions = 0;  // per warp and piece
  uint64_t blocks = 1;            // if launched by itself
  uint32_t block_warps = 1;
  uint32_t max_teams = UINT32_MAX;  // teams per block of the persistent decoder, each with its own piece
  uint64_t weight_bytes = 0;        // determines its share of a phase's blocks; 0: it is alone

  double instructions() const;  // warp instructions if launched by itself
};

// Independent kernels: launched separately, or between two barriers of the persistent decoder, where they share
// bandwidth and processors.
struct KernelGroup {
  enum class Form : uint8_t { kBoth, kSeparate, kPersistent };
  PhaseKind phase;
  std::vector<KernelWork> kernels;
  Form form = Form::kBoth;
};

// Where a phase's time goes, in seconds; the sum is the phase's.
struct PhaseSeconds {
  double wait = 0;       // for the launch or the barrier
  double start = 0;      // until the first piece's first load: tables, the input in shared memory
  double bytes = 0;      // at the memory's bandwidth
  double latency = 0;    // waiting beyond that with an equal share of work per warp, or with one piece
  double imbalance = 0;  // because some warps have one piece more
  double end = 0;
  double total() const { return wait + start + bytes + latency + imbalance + end; }
  PhaseSeconds& operator+=(const PhaseSeconds& other);
};

double seconds(const GpuTraits& gpu, const LatencyCounts& counts, double instructions = 0);  // for one warp
double seconds_of_bytes(const GpuTraits& gpu, const KernelWork& work);
double seconds_of_issue(const GpuTraits& gpu, const KernelWork& work);  // on all processors
double barrier_seconds(const GpuTraits& gpu);                           // the persistent decoder's grid
uint32_t persistent_blocks(const GpuTraits& gpu);

PhaseSeconds launch_seconds(const GpuTraits& gpu, const KernelWork& work, double launch);  // launched by itself
PhaseSeconds phase_seconds(const GpuTraits& gpu, const KernelGroup& group,
                           double quiet = 0);  // in the persistent decoder
// Time of each group in the persistent decoder; 0 for groups that it does not run. Prefetches for a phase start in the
// last phase with weights: `quiet` is the time of the phases between, without their own bytes.
std::vector<PhaseSeconds> token_seconds(const GpuTraits& gpu, std::span<const KernelGroup> token);

// Average bytes in flight per processor in a phase of the persistent decoder.
double bytes_in_flight(const GpuTraits& gpu, const KernelGroup& group);
// Pieces of the busiest team of the persistent decoder, and the number if pieces were divisible.
struct Rounds {
  uint64_t dealt;
  double even;
};
Rounds rounds(const GpuTraits& gpu, const KernelGroup& group, size_t kernel = 0);

struct TokensPerSecond {
  double bandwidth;  // all bytes at full bandwidth, nothing else
  double stream, graph;
  double persistent;  // 0: not run by the persistent decoder
};
// Passes per second: tokens, unless the pass has several columns. n_barriers: the persistent decoder's, or 0 if it does
// not run the groups.
TokensPerSecond predict(const GpuTraits& gpu, std::span<const KernelGroup> pass, uint64_t n_barriers);

// Roofline of prefill for n_tokens, in tokens per second: products and scores on tensor cores, only the experts that a
// token uses, and all weights read once.
double prefill_bound(const GpuTraits& gpu, const ModelConfig& config, uint64_t weight_bytes, uint32_t n_tokens);

}  // namespace warpchat
