// From counted work to tables.
#include "app/commands/kernel_speeds.h"

#include <algorithm>
#include <cstdio>

#include "app/options.h"
#include "engine/gpu/token_work.h"
#include "models/message.h"

namespace warpchat {

namespace {

constexpr uint32_t kPositions[] = {0, 4096, 32768};

const GpuTraits& traits_of(const std::string& gpu) {
  try {
    return gpu_named(gpu);
  } catch (const Error& error) {
    throw UsageError(std::string("--gpu: ") + error.what());
  }
}

std::string decimal(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// A row a kernel, with the time of all its calls.
TextTable kernel_table(const GpuTraits& gpu, const std::vector<KernelGroup>& token) {
  struct Row {
    KernelWork work;
    uint32_t calls = 0;
  };
  std::vector<Row> rows;
  for (const KernelGroup& phase : token) {
    for (const KernelWork& work : phase) {
      auto row = std::ranges::find(rows, work.name, [](const Row& r) { return r.work.name; });
      if (row == rows.end()) row = rows.insert(row, {work});
      ++row->calls;
    }
  }
  TextTable table{{"kernel", "calls", "blocks", "bytes", "instructions", "us by bytes", "us by issue", "bound by"}};
  for (const auto& [work, calls] : rows) {
    const double bytes = seconds_of_bytes(gpu, work), issue = seconds_of_issue(gpu, work);
    table.push_back({work.name, grouped(calls), grouped(work.blocks), grouped(work.bytes), grouped(work.instructions),
                     decimal("%.2f", bytes * calls * 1e6), decimal("%.2f", issue * calls * 1e6),
                     bytes >= issue ? "bytes" : "issue"});
  }
  return table;
}

std::string explanation(const GpuTraits& gpu, uint64_t n_barriers) {
  return "A bound, not a measurement: each kernel takes the longer of its bytes and its instructions, and between two "
         "kernels\npass " +
         decimal("%.1f", gpu.stream_launch_seconds * 1e6) + " us in a stream (assumed: no figure is published), " +
         decimal("%.1f", gpu.graph_node_seconds * 1e6) +
         " us in a graph (as published for an H100); each\nof the persistent decoder's " + grouped(n_barriers) +
         " barriers a token takes " + decimal("%.1f", gpu.barrier_seconds * 1e6) +
         " us (as published for other megakernels). Bytes are the\nkernels' formulas. Instructions are those of PTX, "
         "counted in the emulator for whole "
         "warps; the driver's compiler merges\nand splits them, so that the machine's own are fewer or more. "
         "Latencies, "
         "caches and sampling are not in it.\n";
}

}  // namespace

std::string aligned(const TextTable& table) {
  std::vector<size_t> widths(table.at(0).size(), 0);
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    text += "\n";
  }
  return text;
}

std::string predicted_speeds(const std::string& name, const ModelShape& shape, const std::string& gpu_name) {
  const GpuTraits& gpu = traits_of(gpu_name);
  const uint32_t context = shape.config.context_length;
  const TokenWork work(decoder_specs(shape.config, shape.formats, context, PassKind::kToken, 1), gpu.target);
  TextTable speeds{{"tokens per second", "bytes alone", "stream", "graph", "persistent"}};
  for (const uint32_t wanted : kPositions) {
    const uint32_t position = std::min(wanted, context - 1);
    const TokensPerSecond s = predict(gpu, work.at(position), work.barriers());
    speeds.push_back({"at position " + grouped(position), decimal("%.0f", s.bandwidth), decimal("%.0f", s.stream),
                      decimal("%.0f", s.graph), decimal("%.0f", s.persistent)});
  }
  const uint32_t shown = std::min(kPositions[1], context - 1);
  return name + " on " + std::string(gpu.title) + " (" + ptx::spell(gpu.target) +
         "): " + decimal("%.2f TB/s, ", gpu.bytes_per_second * 1e-12) + grouped(gpu.n_sms) + " processors at " +
         decimal("%.2f GHz, ", gpu.clock_hz * 1e-9) + decimal("%.0f", gpu.instructions_per_clock) +
         " warp instructions a clock each\n\na token at position " + grouped(shown) + "\n" +
         aligned(kernel_table(gpu, work.at(shown))) + "\n" + aligned(speeds) + "\n" + explanation(gpu, work.barriers());
}

}  // namespace warpchat
