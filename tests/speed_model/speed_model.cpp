#include "tests/speed_model/speed_model.h"

#include <algorithm>
#include <cmath>

#include "kernels/persistent/persistent_decoder.h"
#include "models/error.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

constexpr uint32_t kPersistentWarps = kPersistentThreads / 32;

// None of these was measured by this project. Bandwidths are rates at which published kernels read, below the data
// sheets' 4.8, 3.35, 2.04 and 1.008 TB/s; the H100 PCIe gets the H100's share of its data sheet. Processors, boost
// clocks, four schedulers per processor and tensor-core rates: NVIDIA's data sheets and architecture papers. A graph
// node: 1.3 us, measured on an H100 for "Look Ma, No Bubbles! Designing a Low-Latency Megakernel for Llama-1B" (Hazy
// Research, May 2025). A launch in a stream: that value scaled by the ratio in NVIDIA's "Getting Started with CUDA
// Graphs" (0.9 to 0.5 us on a V100), an assumption. Read latencies are assumptions: 0.65 us for HBM under load; 0.2 us
// for the L2 cache of an H200, whose two halves are 200 to 300 cycles apart; for the RTX 4090 (Ada), 279 cycles,
// published for an L40. Data that all blocks read alike is assumed to be in the L2 cache for most of them after the
// first request; otherwise a token would take about a tenth longer. More assumptions: a shuffle takes 23 cycles on
// every GPU since Volta; an instruction without memory wait 1.25 cycles on average, because chains overlap in part; a
// read over PCIe 1 us. Arrivals make a barrier of 264 blocks take 1.2 us, the upper end of what megakernels report.
constexpr GpuTraits kGpus[] = {
    {"h200", "NVIDIA H200", ptx::sm_90, 4.3e12, 132, 1.98e9, 4, 2.3e-6, 1.3e-6, 989e12, 1e-6, 0.65e-6, 0.2e-6, 0.2e-6,
     23, 1.25, 1.8e-9},
    {"h100", "NVIDIA H100", ptx::sm_90, 3.0e12, 132, 1.98e9, 4, 2.3e-6, 1.3e-6, 989e12, 1e-6, 0.65e-6, 0.2e-6, 0.2e-6,
     23, 1.25, 1.8e-9},
    {"h100-pcie", "NVIDIA H100 PCIe", ptx::sm_90, 1.8e12, 114, 1.755e9, 4, 2.3e-6, 1.3e-6, 756e12, 1e-6, 0.65e-6,
     0.2e-6, 0.2e-6, 23, 1.25, 1.8e-9},
    {"4090", "NVIDIA GeForce RTX 4090", ptx::sm_89, 0.95e12, 128, 2.52e9, 4, 2.3e-6, 1.3e-6, 165e12, 1e-6, 0.5e-6,
     0.12e-6, 0.12e-6, 23, 1.25, 1.8e-9},
};

// Driver names of the GPUs; the first match counts. The blank keeps a GH200 from matching H200.
constexpr struct {
  std::string_view part, gpu;
} kDriverNames[] = {{" H200", "h200"}, {" H100 PCIe", "h100-pcie"}, {" H100", "h100"}, {" RTX 4090", "4090"}};

// Differences from the frozen constants. Expected: other megakernels' barriers take 0.9 to 1.3 us, and a trip to the
// far half of an H100's L2 cache 0.3 us. Harsh: code that runs once per phase starts cold in the instruction caches,
// and memory is slower under load.
constexpr struct {
  std::string_view name;
  double arrival_seconds, l2_factor, memory_factor, instruction_cycles;
} kConstants[] = {
    {"frozen", 1.8e-9, 1, 1, 1.25}, {"expected", 3.5e-9, 1.5, 1, 1.25}, {"harsh", 3.5e-9, 1.5, 0.9 / 0.65, 3}};

// The pieces of a kernel from the first load to the last result.
class Pieces {
 public:
  // bytes, asked_ahead, instructions, flops: totals of all kernels that run at the same time. gap: seconds for which
  // prefetched bytes have been arriving.
  Pieces(const GpuTraits& gpu, const KernelWork& work, double bytes, double asked_ahead, double instructions,
         double flops, double gap)
      : n_(static_cast<double>(work.model.pieces)) {
    const double ahead = std::min(asked_ahead, bytes);
    const double share_ahead = bytes > 0 ? ahead / bytes : 0;
    const LatencyCounts& w = work.model.piece;
    const LatencyCounts counts{w.host, w.memory * (1 - share_ahead), w.common, w.l2 + w.memory * share_ahead, w.local};
    chain_ = seconds(gpu, counts, work.piece_instructions);
    first_ = bytes > 0 ? (1 - share_ahead) * gpu.memory_seconds + share_ahead * gpu.l2_seconds : 0;
    bytes_ = bytes / gpu.bytes_per_second - std::min(ahead / gpu.bytes_per_second, gap);
    rate_ = std::max(
        {bytes_, instructions / (gpu.n_sms * gpu.instructions_per_clock * gpu.clock_hz), flops / gpu.tensor_flops});
  }

  // Adds the time of `teams` that take pieces in turn: full rounds first, then the remaining pieces.
  void add_to(PhaseSeconds& seconds, double teams) const {
    const double whole = std::floor(n_ / teams), rest = n_ - whole * teams;
    const double dealt = (whole > 0 ? of(whole * teams, whole) : 0) + (rest > 0 ? of(rest, 1) : 0);
    const double even = of(n_, std::max(1.0, n_ / teams));
    seconds.bytes += bytes_;
    seconds.latency += even - bytes_;
    seconds.imbalance += dealt - even;
  }

 private:
  double of(double n, double rounds) const { return std::max(rounds * chain_, first_ + rate_ * n / n_); }

  double n_, chain_, first_, bytes_, rate_;
};

// For each kernel of a group, the number of pieces that the persistent decoder's grid works on at once.
std::vector<double> persistent_teams(const GpuTraits& gpu, const KernelGroup& group) {
  std::vector<ProductRow> rows(group.kernels.size());
  std::vector<ProductRow*> pointers;
  std::vector<uint64_t> bytes;
  for (ProductRow& row : rows) row.n_blocks = persistent_blocks(gpu), pointers.push_back(&row);
  for (const KernelWork& work : group.kernels) bytes.push_back(std::max<uint64_t>(1, work.weight_bytes));
  if (rows.size() > 1) share_blocks(pointers, bytes, persistent_blocks(gpu));
  std::vector<double> teams;
  for (size_t i = 0; i < rows.size(); ++i) {
    const KernelWork& work = group.kernels[i];
    teams.push_back(1.0 * rows[i].n_blocks *
                    std::clamp(kPersistentWarps / work.model.warps, 1u, std::max(1u, work.max_teams)));
  }
  return teams;
}

// The kernel of a group that ends last; the others end meanwhile.
PhaseSeconds longest(const GpuTraits& gpu, const KernelGroup& group, double quiet) {
  const double entry = seconds(gpu, phase_entry_latency(group.phase));
  double bytes = 0, ahead = 0, instructions = 0;
  for (const KernelWork& work : group.kernels) {
    bytes += static_cast<double>(work.bytes);
    ahead += static_cast<double>(work.model.bytes_ahead);
    instructions += static_cast<double>(work.model.pieces * work.model.warps) * work.piece_instructions;
  }
  const std::vector<double> teams = persistent_teams(gpu, group);
  PhaseSeconds longest{.start = group.kernels.empty() ? entry : 0};
  for (size_t i = 0; i < teams.size(); ++i) {
    const KernelWork& work = group.kernels[i];
    PhaseSeconds own;
    own.start = entry + seconds(gpu, work.model.start, work.start_instructions);
    own.end = seconds(gpu, work.model.end);
    Pieces(gpu, work, bytes, ahead, instructions, 0, quiet + barrier_seconds(gpu) + own.start).add_to(own, teams[i]);
    if (own.total() > longest.total()) longest = own;
  }
  return longest;
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

const GpuTraits* gpu_of_driver(std::string_view name) {
  for (const GpuTraits& gpu : kGpus)
    if (gpu.name == name) return &gpu;
  for (const auto& [part, gpu] : kDriverNames)
    if (name.find(part) != std::string_view::npos) return &gpu_named(gpu);
  return nullptr;
}

std::string_view name_of(ConstantSet set) { return kConstants[static_cast<size_t>(set)].name; }

ConstantSet constant_set_named(std::string_view name) {
  for (const ConstantSet set : kConstantSets)
    if (name_of(set) == name) return set;
  throw Error("the set of constants \"" + std::string(name) + "\" is unknown, expected frozen, expected or harsh");
}

GpuTraits with_constants(GpuTraits gpu, ConstantSet set) {
  const auto& constants = kConstants[static_cast<size_t>(set)];
  gpu.arrival_seconds = constants.arrival_seconds;
  gpu.common_seconds *= constants.l2_factor;
  gpu.l2_seconds *= constants.l2_factor;
  gpu.memory_seconds *= constants.memory_factor;
  gpu.instruction_cycles = constants.instruction_cycles;
  return gpu;
}

PhaseSeconds& PhaseSeconds::operator+=(const PhaseSeconds& other) {
  wait += other.wait, start += other.start, bytes += other.bytes;
  latency += other.latency, imbalance += other.imbalance, end += other.end;
  return *this;
}

double KernelWork::instructions() const {
  return static_cast<double>(blocks * block_warps) * start_instructions +
         static_cast<double>(model.pieces * model.warps) * piece_instructions;
}

double seconds(const GpuTraits& gpu, const LatencyCounts& w, double instructions) {
  return w.host * gpu.host_seconds + w.memory * gpu.memory_seconds + w.common * gpu.common_seconds +
         w.l2 * gpu.l2_seconds + (w.local * gpu.local_cycles + instructions * gpu.instruction_cycles) / gpu.clock_hz;
}

double seconds_of_bytes(const GpuTraits& gpu, const KernelWork& work) {
  return static_cast<double>(work.bytes) / gpu.bytes_per_second;
}

double seconds_of_issue(const GpuTraits& gpu, const KernelWork& work) {
  return work.instructions() / (gpu.n_sms * gpu.instructions_per_clock * gpu.clock_hz);
}

uint32_t persistent_blocks(const GpuTraits& gpu) { return gpu.n_sms * kPersistentBlocksPerSm; }

double barrier_seconds(const GpuTraits& gpu) {
  return seconds(gpu, kGridBarrierLatency) + persistent_blocks(gpu) * gpu.arrival_seconds;
}

// Blocks that are not resident at once start when others end, and pay the start again.
PhaseSeconds launch_seconds(const GpuTraits& gpu, const KernelWork& work, double launch) {
  const double resident = 1.0 * gpu.n_sms * work.model.blocks_per_sm, blocks = static_cast<double>(work.blocks);
  const double instructions = static_cast<double>(work.model.pieces * work.model.warps) * work.piece_instructions;
  PhaseSeconds own{.wait = launch};
  own.start =
      std::ceil(blocks / resident) * seconds(gpu, work.model.launch + work.model.start, work.start_instructions);
  own.end = seconds(gpu, work.model.end);
  Pieces(gpu, work, static_cast<double>(work.bytes), 0, instructions, work.flops, 0)
      .add_to(own, std::min(blocks, resident) * (work.block_warps / work.model.warps));
  return own;
}

PhaseSeconds phase_seconds(const GpuTraits& gpu, const KernelGroup& group, double quiet) {
  PhaseSeconds seconds = longest(gpu, group, quiet);
  seconds.wait = barrier_seconds(gpu);
  return seconds;
}

std::vector<PhaseSeconds> token_seconds(const GpuTraits& gpu, std::span<const KernelGroup> token) {
  std::vector<PhaseSeconds> all;
  double quiet = 0;
  for (const KernelGroup& group : token) {
    PhaseSeconds& seconds = all.emplace_back();
    if (group.form == KernelGroup::Form::kSeparate) continue;
    seconds = phase_seconds(gpu, group, quiet);
    bool has_weights = false;
    double own = 0;  // seconds of busy memory
    for (const KernelWork& work : group.kernels) {
      has_weights |= work.weight_bytes != 0;
      own += seconds_of_bytes(gpu, work);
    }
    quiet = has_weights ? 0 : std::max(0.0, quiet + seconds.total() - own);
  }
  return all;
}

double bytes_in_flight(const GpuTraits& gpu, const KernelGroup& group) {
  const std::vector<double> teams = persistent_teams(gpu, group);
  double bytes = 0;
  for (size_t i = 0; i < teams.size(); ++i) {
    const WorkModel& model = group.kernels[i].model;
    bytes += std::min(teams[i], static_cast<double>(model.pieces)) * static_cast<double>(model.bytes_in_flight);
  }
  return bytes / gpu.n_sms;
}

Rounds rounds(const GpuTraits& gpu, const KernelGroup& group, size_t kernel) {
  const double even =
      static_cast<double>(group.kernels.at(kernel).model.pieces) / persistent_teams(gpu, group).at(kernel);
  return {static_cast<uint64_t>(std::ceil(even)), even};
}

TokensPerSecond predict(const GpuTraits& gpu, std::span<const KernelGroup> pass, uint64_t n_barriers) {
  double bytes = 0, single = 0, launches = 0, shared = 0;
  for (const KernelGroup& group : pass) {
    if (group.form != KernelGroup::Form::kPersistent) {
      for (const KernelWork& work : group.kernels) {
        bytes += seconds_of_bytes(gpu, work);
        single += launch_seconds(gpu, work, 0).total();
        ++launches;
      }
    }
  }
  for (const PhaseSeconds& phase : token_seconds(gpu, pass)) shared += phase.total() - phase.wait;
  shared += static_cast<double>(n_barriers) * barrier_seconds(gpu);
  return {1 / bytes, 1 / (single + launches * gpu.stream_launch_seconds),
          1 / (single + launches * gpu.graph_node_seconds), shared > 0 ? 1 / shared : 0};
}

namespace {

double active_weights(const ModelConfig& c, const LayerConfig& layer) {
  double n = 0;
  const auto add = [&](const MatrixShape& m, bool is_of_each = false) {
    n += double{1} * m.rows * m.k * (is_of_each ? c.experts.n_used : 1);
  };
  const auto matrices = matrix_shapes(c, layer.mixer);
  const auto delta = delta_matrix_shapes(c);
  const auto experts = expert_shapes(c);
  for_each(add, matrices);
  if (layer.mixer == Mixer::kDeltaNet) for_each(add, delta);
  if (layer.ffn == Ffn::kExperts) for_each(add, experts, kIsPerExpert);
  return n;
}

}  // namespace

double prefill_bound(const GpuTraits& gpu, const ModelConfig& c, uint64_t weight_bytes, uint32_t n_tokens) {
  // A token attends to half of the positions on average, with one product each for K and V.
  const double scores = double{1} * c.n_heads * c.head_dim * (n_tokens + 1.0);
  double products = 0;
  for (const LayerConfig& layer : c.layers)
    products += active_weights(c, layer) + (layer.mixer == Mixer::kAttention ? scores : 0);
  const double flops = 2.0 * products * n_tokens + 2.0 * c.hidden * c.n_vocab;
  return n_tokens / std::max(flops / gpu.tensor_flops, static_cast<double>(weight_bytes) / gpu.bytes_per_second);
}

}  // namespace warpchat
