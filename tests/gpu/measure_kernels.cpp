#include "tests/gpu/measure_kernels.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/driver/module.h"
#include "engine/gpu/launch_graph.h"
#include "engine/profile.h"
#include "kernels/matmul/gemv_plan.h"
#include "kernels/persistent/token_functions.h"
#include "tests/gpu/results.h"
#include "tests/support/gguf/quantise.h"
#include "tests/support/random_floats.h"

namespace warpchat {
namespace {

// What the driver reports of a compiled kernel.
struct Compiled {
  int registers = 0, local_bytes = 0, blocks_per_sm = 0;
};

Compiled ask_driver(const Context& context, const ptx::Kernel& kernel) {
  using namespace ptx::cuda;
  const DriverCall table = context.load_call();
  const auto check = [&](CUresult code, const char* call) { context.check(code, call, kernel.name); };
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  Compiled compiled;
  check(table->cuModuleLoadDataEx(&module, kernel.text.c_str(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
  check(table->cuModuleGetFunction(&function, module, kernel.name.c_str()), "cuModuleGetFunction");
  check(table->cuFuncGetAttribute(&compiled.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function), "cuFuncGetAttribute");
  check(table->cuFuncGetAttribute(&compiled.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function),
        "cuFuncGetAttribute");
  if (kernel.dynamic_shared_bytes > 0)
    check(table->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(kernel.dynamic_shared_bytes)),
          "cuFuncSetAttribute");
  check(table->cuOccupancyMaxActiveBlocksPerMultiprocessor(&compiled.blocks_per_sm, function,
                                                           static_cast<int>(kernel.launch.threads.total()),
                                                           kernel.dynamic_shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  check(table->cuModuleUnload(module), "cuModuleUnload");
  return compiled;
}

uint64_t weight_bytes(const GemvPlan& plan) {
  uint64_t bytes = 0;
  for (const ProductMatrix& matrix : plan.matrices) bytes += plan.spec.rows * matrix.row_bytes;
  return bytes;
}

// Bytes that a lane has in flight before it needs the first: its units of each of its rows.
double lane_bytes_in_flight(const GemvPlan& plan) {
  double of_a_row = 0;
  for (const ProductMatrix& matrix : plan.matrices) of_a_row += static_cast<double>(matrix.row_bytes) / plan.n_units;
  return of_a_row * plan.units_in_flight * plan.rows_per_warp;
}

// Products over a pool of weights; each launch uses the next ones.
class ProductBench {
 public:
  ProductBench(const std::string& name, const ModelShape& shape, const DeviceChoice& device,
               const Predictions& predictions)
      : shape_(name),
        device_(device),
        context_(Context::open(*device.table, device.gpu)),
        stream_(context_),
        predictions_(predictions),
        list_(launches_of(shape, {PassKind::kDecode, 1, 4096})),
        table_("products", device.gpu.name,
               {"shape", "kernel", "PTX lines", "registers", "local bytes", "blocks", "blocks a multiprocessor",
                "bytes in flight a multiprocessor", "bytes", "us", "GB/s", "expected us", "harsh us"}) {}

  void run() {
    std::set<std::string> done;
    for_each_launch(list_, [&](const KernelLaunch& launch, uint32_t) {
      const auto* spec = std::get_if<GemvSpec>(&launch.spec);
      if (spec != nullptr && done.insert(name_of(*spec)).second) one(*spec);
    });
  }

 private:
  static constexpr uint64_t kPool = uint64_t{512} << 20;

  // Valid blocks of the format, one matrix after the other.
  DeviceMemory pool_of(const GemvPlan& plan, uint64_t n_bytes) const {
    DeviceMemory pool(context_, n_bytes, "weights");
    uint64_t at = 0;
    std::vector<std::vector<std::byte>> rows;
    for (const ProductMatrix& matrix : plan.matrices) {
      constexpr uint32_t kRows = 64;
      const std::vector<float> random = normal_floats(size_t{kRows} * plan.spec.k, /*seed=*/1);
      std::vector<std::byte> packed(kRows * matrix.row_bytes);
      for (uint32_t r = 0; r < kRows; ++r) {
        const std::vector<std::byte> blocks =
            quantise_row(matrix.type, std::span(random).subspan(size_t{r} * plan.spec.k, plan.spec.k));
        pack_rows(matrix.type, plan.spec.k, 1, blocks,
                  std::span(packed).subspan(r * matrix.row_bytes, matrix.row_bytes));
      }
      rows.push_back(std::move(packed));
    }
    for (size_t m = 0; at < n_bytes; m = (m + 1) % rows.size()) {
      const uint64_t of_matrix = std::min(n_bytes - at, round_up(plan.spec.rows * plan.matrices[m].row_bytes));
      for (uint64_t done = 0; done < of_matrix; done += rows[m].size())
        stream_.upload(pool.address() + at + done,
                       std::span(rows[m]).first(std::min<uint64_t>(rows[m].size(), of_matrix - done)));
      at += of_matrix;
    }
    stream_.wait();
    return pool;
  }

  static uint64_t round_up(uint64_t n) { return (n + 255) / 256 * 256; }

  void one(const GemvSpec& spec) {
    const auto is_its = [&](const std::string& name) { return name == name_of(spec); };
    const ptx::Kernel kernel = kernels_of(list_, device_.gpu.target(), is_its).at(0);
    const GemvPlan plan = plan_of(spec);
    uint64_t of_a_launch = 0;
    for (const ProductMatrix& matrix : plan.matrices) of_a_launch += round_up(spec.rows * matrix.row_bytes);
    const uint64_t max = device_.gpu.is_emulated ? 2 * of_a_launch : std::max(kPool, 2 * of_a_launch);
    const uint64_t n_sets = std::max<uint64_t>(1, max / of_a_launch);
    const DeviceMemory pool = pool_of(plan, n_sets * of_a_launch);
    const uint32_t n_launches = static_cast<uint32_t>(std::min<uint64_t>(n_sets, 200));
    const double seconds = graph_seconds(kernel, plan, pool, n_launches) / n_launches;
    report(kernel, plan, seconds);
  }

  double graph_seconds(const ptx::Kernel& kernel, const GemvPlan& plan, const DeviceMemory& pool, uint32_t n) {
    const Module module(context_, {kernel});
    const GemvSpec& spec = plan.spec;
    const std::vector<float> x = normal_floats(spec.k, /*seed=*/2), vectors = normal_floats(2 * spec.rows + spec.k, 3);
    const DeviceMemory device_x(context_, x.size() * 4, "x"), gamma(context_, vectors.size() * 4, "gamma"),
        bias(context_, vectors.size() * 4, "bias"), y(context_, uint64_t{spec.rows} * 4, "y");
    stream_.upload(device_x.address(), std::as_bytes(std::span(x)));
    for (const DeviceMemory* vector : {&gamma, &bias})
      stream_.upload(vector->address(), std::as_bytes(std::span(vectors)));
    stream_.fill(y.address(), 0, y.n_bytes());
    stream_.wait();
    LaunchGraph graph(context_);
    graph.begin(stream_);
    uint64_t at = pool.address();
    for (uint32_t i = 0; i < n; ++i) {
      std::vector<Argument> arguments;
      for (const ProductMatrix& matrix : plan.matrices) {
        arguments.push_back(Argument::address(at));
        at += round_up(spec.rows * matrix.row_bytes);
      }
      arguments.push_back(device_x);
      if (spec.prologue == GemvPrologue::kRmsNorm) arguments.push_back(gamma);
      if (adds_bias(spec.epilogue)) arguments.push_back(bias);
      arguments.push_back(y);
      module.kernel(0).launch(stream_, arguments, kernel.launch.blocks);
    }
    graph.end(stream_);
    std::vector<double> seconds;
    const GpuEvent before(context_, GpuEvent::Timing::kOn), after(context_, GpuEvent::Timing::kOn);
    for (int i = 0; i < (device_.gpu.is_emulated ? 1 : 6); ++i) {
      stream_.record(before);
      graph.launch(stream_);
      stream_.record(after);
      stream_.wait();
      if (i > 0 || device_.gpu.is_emulated) seconds.push_back(after.seconds_since(before));
    }
    return median(seconds);
  }

  void report(const ptx::Kernel& kernel, const GemvPlan& plan, double seconds) {
    const Compiled compiled = ask_driver(*context_, kernel);
    const uint64_t blocks = kernel.launch.blocks.total();
    const double blocks_on_an_sm = std::min<double>(
        compiled.blocks_per_sm, static_cast<double>(blocks) / device_.gpu.n_sms);  // of one with its full share
    const double in_flight = blocks_on_an_sm * plan.threads() * lane_bytes_in_flight(plan);
    const double bytes = static_cast<double>(weight_bytes(plan));
    const Predicted predicted = predictions_.kernel_seconds(kernel.name, 0);
    table_.row({shape_, kernel.name, static_cast<uint64_t>(std::ranges::count(kernel.text, '\n')),
                static_cast<uint64_t>(compiled.registers), static_cast<uint64_t>(compiled.local_bytes), blocks,
                static_cast<uint64_t>(compiled.blocks_per_sm), number(in_flight, 0), number(bytes, 0),
                microseconds(seconds), number(bytes / std::max(seconds, 1e-9) * 1e-9, 1),
                microseconds(predicted.expected), microseconds(predicted.harsh)});
  }

  std::string shape_;
  const DeviceChoice& device_;
  ContextPointer context_;
  Stream stream_;
  const Predictions& predictions_;
  LaunchList list_;
  ResultTable table_;
};

}  // namespace

void measure_products(const std::string& name, const ModelShape& shape, const DeviceChoice& device,
                      const Predictions& predictions) {
  ProductBench(name, shape, device, predictions).run();
}

void measure_kernels_in_a_stream(const std::string& name, const std::string& device, Decoder& decoder, Steps& steps,
                                 uint32_t depth, uint32_t tokens, const Predictions& predictions) {
  steps.set_launch_mode(LaunchMode::kStream);
  Profile& profile = steps.profile();
  const auto decode = [&] {
    const Token token = 1;
    for (uint32_t i = 0; i < tokens; ++i) {
      decoder.forward({&token, 1}, depth + i, Logits::kLast);
      decoder.wait();
    }
  };
  profile.set_enabled(true);
  decode();
  profile.reset();
  decode();
  ResultTable table("kernels in a stream", device,
                    {"shape", "depth", "kernel", "calls a token", "us", "bytes", "GB/s", "expected us in a graph",
                     "harsh us in a graph"});
  for (const OperationProfile& row : profile.rows()) {
    if (row.calls == 0) continue;
    const double calls = static_cast<double>(row.calls), seconds = row.seconds / calls;
    const double bytes = static_cast<double>(row.bytes) / calls;
    const Predicted predicted = predictions.kernel_seconds(row.name, depth);
    table.row({name, uint64_t{depth}, row.name, number(calls / tokens, 2), microseconds(seconds), number(bytes, 0),
               number(bytes / std::max(seconds, 1e-9) * 1e-9, 1), microseconds(predicted.expected),
               microseconds(predicted.harsh)});
  }
  profile.set_enabled(false);
}

}  // namespace warpchat
