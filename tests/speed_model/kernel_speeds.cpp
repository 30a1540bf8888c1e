#include "tests/speed_model/kernel_speeds.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "models/text_format.h"
#include "models/text_table.h"
#include "tests/speed_model/launch_work.h"

namespace warpchat {

namespace {

constexpr uint32_t kContexts[] = {1, 64, 4096, 32768};  // positions, including the new token
constexpr uint32_t kShownContext = 64;
constexpr uint32_t kSequences[] = {1, 2, 4, 8, 16, 32, 64}, kBatchContext = 1024;
constexpr uint32_t kPrompts[] = {512, 4096};
constexpr double kMicro = 1e6;

std::string decimal(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string us(double seconds) { return decimal("%.1f", seconds * kMicro); }

// Returns the row of this name; appends it if it is new.
template <class Row>
Row& row_of(std::vector<Row>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found != rows.end() ? *found : rows.emplace_back(Row{name});
}

// One row per phase of the persistent decoder, with the time of all its calls.
TextTable phase_table(const GpuTraits& gpu, const std::vector<KernelGroup>& token) {
  struct Row {
    std::string name;
    const KernelGroup* group = nullptr;
    uint32_t calls = 0;
    PhaseSeconds time = {};
  };
  std::vector<Row> rows;
  PhaseSeconds all;
  const std::vector<PhaseSeconds> times = token_seconds(gpu, token);
  for (size_t i = 0; i < token.size(); ++i) {
    const KernelGroup& group = token[i];
    if (group.form == KernelGroup::Form::kSeparate) continue;
    Row& row = row_of(rows, std::string(name_of(group.phase)));
    const PhaseSeconds& time = times[i];
    row.group = &group, ++row.calls, row.time += time, all += time;
  }
  TextTable table{{"phase", "calls", "rounds", "KB in flight", "barriers", "start", "bytes", "latency", "imbalance",
                   "end", "us in all"}};
  const auto add = [&](std::vector<std::string> cells, const PhaseSeconds& t) {
    for (double part : {t.wait, t.start, t.bytes, t.latency, t.imbalance, t.end, t.total()}) cells.push_back(us(part));
    table.push_back(cells);
  };
  for (const Row& row : rows) {
    const bool has_kernel = !row.group->kernels.empty();
    add({row.name, grouped(row.calls), has_kernel ? decimal("%.2f", rounds(gpu, *row.group).even) : "",
         has_kernel ? decimal("%.1f", bytes_in_flight(gpu, *row.group) / 1000) : ""},
        row.time);
  }
  add({"in all", "", "", ""}, all);
  return table;
}

// One row per kernel, launched by itself; a kernel that serves products of several sizes has a row for each.
TextTable kernel_table(const GpuTraits& gpu, const std::vector<KernelGroup>& token) {
  struct Row {
    std::string name;
    KernelWork work = {};
    uint32_t calls = 0;
  };
  std::vector<Row> rows;
  for (const KernelGroup& group : token) {
    if (group.form == KernelGroup::Form::kPersistent) continue;
    for (const KernelWork& work : group.kernels) {
      const auto is_it = [&](const Row& row) { return row.name == work.name && row.work.bytes == work.bytes; };
      const auto found = std::ranges::find_if(rows, is_it);
      ++(found != rows.end() ? *found : rows.emplace_back(Row{work.name, work})).calls;
    }
  }
  TextTable table{{"kernel", "calls", "blocks", "bytes", "instructions", "us by bytes", "us by issue", "us in all"}};
  for (const auto& [name, work, calls] : rows)
    table.push_back({name, grouped(calls), grouped(work.blocks), grouped(work.bytes),
                     grouped(static_cast<uint64_t>(work.instructions())), us(calls * seconds_of_bytes(gpu, work)),
                     us(calls * seconds_of_issue(gpu, work)), us(calls * launch_seconds(gpu, work, 0).total())});
  return table;
}

// The tables of one model on one GPU.
class Speeds {
 public:
  // frozen: a row of known_gpus().
  Speeds(const ModelShape& shape, const GpuTraits& frozen, ConstantSet constants)
      : shape_(shape),
        frozen_(frozen),
        gpu_(with_constants(frozen, constants)),
        context_(shape.config.context_length),
        token_(launches_of(shape, {PassKind::kDecode, 1, context_}), gpu_.target),
        prompt_columns_(std::min(kPromptColumns, context_)),
        prompt_(pass(PassKind::kPrefill, prompt_columns_)) {}

  const GpuTraits& gpu() const { return gpu_; }
  const PassWork& token() const { return token_; }
  uint32_t position(uint32_t context) const { return std::min(context, context_) - 1; }

  // Where a token's time goes, phase by phase.
  std::string persistent(uint32_t position) const {
    return "a token of the persistent decoder in a context of " + grouped(position + 1) + ", in us\n" +
           aligned(phase_table(gpu_, token_.at(position)));
  }

  TextTable decoding() const {
    TextTable table{{"tokens per second", "bytes alone", "stream", "graph", "persistent"}};
    for (const uint32_t at : positions()) {
      const TokensPerSecond s = predict(gpu_, token_.at(at), token_.barriers());
      table.push_back({"in a context of " + grouped(at + 1), decimal("%.0f", s.bandwidth), decimal("%.0f", s.stream),
                       decimal("%.0f", s.graph), decimal("%.0f", s.persistent)});
    }
    return table;
  }

  // The same persistent decoder and prompt with every set of constants.
  TextTable by_constants() const {
    TextTable table{{"tokens per second, by constants"}};
    for (const ConstantSet set : kConstantSets) table[0].emplace_back(name_of(set));
    const auto add = [&](const std::string& what, auto&& speed) {
      std::vector<std::string> row{what};
      for (const ConstantSet set : kConstantSets) row.push_back(decimal("%.0f", speed(with_constants(frozen_, set))));
      table.push_back(row);
    };
    for (const uint32_t at : positions())
      add("persistent, in a context of " + grouped(at + 1),
          [&](const GpuTraits& gpu) { return predict(gpu, token_.at(at), token_.barriers()).persistent; });
    add("a prompt of " + grouped(prompt_columns_),
        [&](const GpuTraits& gpu) { return prompt_columns_ / prompt_seconds(gpu, prompt_, prompt_columns_); });
    return table;
  }

  TextTable choosing() const {
    const SampleSpec spec{.n_vocab = shape_.config.n_vocab, .ring = sample_ring(context_)};
    TextTable table{{"us to choose a token", "greedy", "top-k 40", "top-p"}};
    for (const bool is_persistent : {false, true}) {
      std::vector<std::string> row{is_persistent ? "in the persistent decoder" : "a kernel of its own"};
      for (const auto& [top_k, has_top_p] : {std::pair{0u, false}, {40u, false}, {0u, true}}) {
        const KernelWork work = sampling_work(spec, gpu_.target, is_persistent, top_k, has_top_p);
        row.push_back(us(launch_seconds(gpu_, work, 0).total()));
      }
      table.push_back(row);
    }
    return table;
  }

  TextTable batches() const {
    const uint32_t at = position(kBatchContext);
    const TokensPerSecond one = predict(gpu_, token_.at(at), token_.barriers());
    TextTable table{{"sequences side by side in contexts of " + grouped(at + 1), "tokens per second, graph",
                     "times one persistent"}};
    for (const uint32_t n : kSequences) {
      const double speed = n * (n == 1 ? one : predict(gpu_, pass(kind_of_tokens(n), n).at(at), 0)).graph;
      table.push_back({grouped(n), decimal("%.0f", speed), decimal("%.2f", speed / one.persistent)});
    }
    return table;
  }

  std::string batch(uint32_t n) const {
    const uint32_t at = position(kBatchContext);
    return "a pass of " + grouped(n) + " sequences in contexts of " + grouped(at + 1) + ", by kernel\n" +
           aligned(kernel_table(gpu_, pass(kind_of_tokens(n), n).at(at)));
  }

  TextTable prompts() const {
    TextTable table{{"prompt of", "tokens per second", "bound by products and bytes"}};
    for (const uint32_t n : kPrompts) {
      if (n > context_) continue;
      const double seconds = prompt_seconds(gpu_, prompt_, n);
      table.push_back({grouped(n), decimal("%.0f", n / seconds),
                       decimal("%.0f", prefill_bound(gpu_, shape_.config, token_.weight_bytes(), n))});
    }
    return table;
  }

 private:
  PassWork pass(PassKind kind, uint32_t columns) const {
    return {launches_of(shape_, {kind, columns, context_}), gpu_.target, &token_};
  }
  std::set<uint32_t> positions() const {
    std::set<uint32_t> all;
    for (const uint32_t context : kContexts) all.insert(position(context));
    return all;
  }

  const ModelShape& shape_;
  GpuTraits frozen_, gpu_;
  uint32_t context_;
  PassWork token_;
  uint32_t prompt_columns_;
  PassWork prompt_;
};

std::string title(const std::string& name, const GpuTraits& gpu, ConstantSet constants) {
  return name + " on " + std::string(gpu.title) + " (" + ptx::spell(gpu.target) + "), " +
         std::string(name_of(constants)) + " constants: " + decimal("%.2f TB/s, ", gpu.bytes_per_second * 1e-12) +
         grouped(gpu.n_sms) + " processors at " + decimal("%.2f GHz, ", gpu.clock_hz * 1e-9) +
         decimal("%.0f", gpu.instructions_per_clock) + " warp instructions a clock each\nan answer from memory " +
         decimal("%.2f us, ", gpu.memory_seconds * kMicro) + "from the second-level cache " +
         decimal("%.2f us, ", gpu.l2_seconds * kMicro) + "from the host " +
         decimal("%.1f us; ", gpu.host_seconds * kMicro) + "a launch in a stream " +
         decimal("%.1f us, ", gpu.stream_launch_seconds * kMicro) + "in a graph " +
         decimal("%.1f us, ", gpu.graph_node_seconds * kMicro) + "a barrier of " + grouped(persistent_blocks(gpu)) +
         " blocks " + decimal("%.2f us", barrier_seconds(gpu) * kMicro) + "\n";
}

constexpr const char* kExplanation =
    "A prediction, not a measurement, from constants that were published for this or a like GPU, or assumed, and none "
    "of\n"
    "which was measured here: tests/speed_model/speed_model.cpp says which. Kernels were tuned by the frozen "
    "constants, which "
    "are\n"
    "optimistic; --constants frozen, expected (the default) or harsh chooses those of the other tables. Bytes are the "
    "kernels' formulas; instructions "
    "are\n"
    "those of PTX, counted in the emulator for whole warps, which the driver's compiler merges and splits; what warps "
    "wait\n"
    "for one thing after the other is what each kernel's work model says. start: until the first weights are asked "
    "for;\n"
    "latency: waiting beyond the time of the bytes; imbalance: some warps have a piece more than others. rounds: "
    "pieces\n"
    "of work for each team of warps on average; KB in flight: asked of memory at once by a processor's warps, at "
    "most.\n"
    "Conflicts, sinking clocks and the profiler are not in it.\n";

}  // namespace

std::string predicted_speeds(const std::string& name, const ModelShape& shape, const GpuTraits& frozen,
                             ConstantSet constants) {
  const Speeds speeds(shape, frozen, constants);
  const GpuTraits& gpu = speeds.gpu();
  const uint32_t shown = speeds.position(kShownContext);
  return title(name, gpu, constants) + "\n" + aligned(speeds.by_constants()) + "\n" + speeds.persistent(shown) +
         "\na token in a context of " + grouped(shown + 1) + " by separate kernels, without what lies between them\n" +
         aligned(kernel_table(gpu, speeds.token().at(shown))) + "\n" + aligned(speeds.decoding()) + "\n" +
         aligned(speeds.choosing()) + "\n" + aligned(speeds.batches()) + "\n" +
         speeds.batch(kSequences[std::size(kSequences) - 1]) + "\n" + aligned(speeds.prompts()) + "\n" + kExplanation;
}

}  // namespace warpchat
