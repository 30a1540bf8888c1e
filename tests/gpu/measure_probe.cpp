#include "tests/gpu/measure_probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "engine/driver/device_choice.h"
#include "engine/driver/module.h"
#include "engine/gpu/launch_graph.h"
#include "kernels/persistent/persistent_decoder.h"
#include "tests/gpu/constant_kernels.h"
#include "tests/gpu/results.h"
#include "tests/speed_model/speed_model.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr uint32_t kRingWords = 1024, kRingStep = 37;  // word i leads to word i + kRingStep
constexpr double kPatience = 3;                        // seconds; an answer takes microseconds

class Probe {
 public:
  explicit Probe(const std::string& device) {
    const auto start = Clock::now();
    const DeviceChoice choice = choose_device(device);
    if (choice.table == nullptr) throw Error("--device " + device + " is no GPU");
    const double started = seconds_since(start);
    gpu_ = choice.gpu;
    table_.emplace("probe", gpu_.name, std::vector<std::string>{"check", "value", "expected", "unit"});
    if (const GpuTraits* known = gpu_of_driver(gpu_.name)) assumed_ = with_constants(*known, ConstantSet::kExpected);
    row("driver's start", started * 1e3, "ms");
    int version = 0;
    warpchat::check(*choice.table, choice.table->cuDriverGetVersion(&version), "cuDriverGetVersion", "");
    row("CUDA version of the driver", version / 1000 + version % 1000 / 10 * 0.1, "");
    row("compute capability", gpu_.major + gpu_.minor * 0.1, "");
    row("multiprocessors", gpu_.n_sms, "");
    row("memory", static_cast<double>(gpu_.memory_bytes) * 1e-9, "GB");
    const auto opening = Clock::now();
    context_ = Context::open(*choice.table, gpu_);
    stream_.emplace(context_);
    row("context creation", seconds_since(opening) * 1e3, "ms");
    row("memory that is free", static_cast<double>(context_->memory().free_bytes) * 1e-9, "GB");
  }

  void run() {
    check("compiled kernel", [&] { compiled_kernel(); });
    check("cooperative launch", [&] { cooperative_launch(); });
    check("mapped words", [&] { mapped_words(); });
    check("captured graph", [&] { captured_graph(); });
    check("read ceiling", [&] {
      row("read ceiling", read_ceiling(context_) * 1e-9, "GB/s", assumed_ ? assumed_->bytes_per_second * 1e-9 : NAN);
    });
    if (n_failed_ > 0) throw Error(std::to_string(n_failed_) + " of the probe's checks failed");
  }

 private:
  void row(const std::string& what, double value, const std::string& unit, double expected = NAN) {
    table_->row({what, number(value, 3), number(expected, 3), unit});
  }
  // A failed check does not stop the others, unless it broke the context.
  template <class Check>
  void check(const std::string& what, Check&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      ++n_failed_;
      row(what + " failed: " + error.what(), NAN, "");
    }
  }
  uint32_t scaled(uint32_t on_a_gpu, uint32_t emulated) const { return gpu_.is_emulated ? emulated : on_a_gpu; }
  Module compile(ptx::Kernel kernel) const { return Module(context_, std::vector<ptx::Kernel>{std::move(kernel)}); }
  uint32_t word_at(const DeviceMemory& memory) const {
    uint32_t word = 0;
    stream_->download(std::as_writable_bytes(std::span(&word, 1)), memory.address());
    stream_->wait();
    return word;
  }
  DeviceMemory ring() const {
    std::vector<uint32_t> words(kRingWords);
    for (uint32_t i = 0; i < kRingWords; ++i) words[i] = (i + kRingStep) % kRingWords;
    DeviceMemory memory(context_, kRingWords * 4, "a probe");
    stream_->upload(memory.address(), std::as_bytes(std::span(words)));
    stream_->wait();
    return memory;
  }
  static void expect_place(uint32_t found, uint32_t steps) {
    const uint32_t expected = uint64_t{steps} * kRingStep % kRingWords;
    if (found != expected)
      throw Error("found place " + std::to_string(found) + " of a ring, expected " + std::to_string(expected));
  }

  void compiled_kernel() {
    const DeviceMemory from = ring(), at(context_, 4, "a probe");
    stream_->fill(at.address(), 0, 4);
    const auto start = Clock::now();
    const Module module = compile(chase_kernel(ChasedMemory::kSecondLevel, gpu_.target()));
    const double compiled = seconds_since(start);
    constexpr uint32_t kSteps = 100;
    module.kernel(0).launch(*stream_, {from, kSteps, at});
    expect_place(word_at(at), kSteps);
    row("small kernel compiled and loaded", compiled * 1e3, "ms");
  }

  void cooperative_launch() {
    if (!gpu_.can_cooperate) throw Error("the device has no cooperative launches");
    const Module module = compile(barrier_kernel(kPersistentThreads, gpu_.target()));
    const DeviceMemory counter(context_, 128, "a probe");
    const GpuEvent before(context_, GpuEvent::Timing::kOn), after(context_, GpuEvent::Timing::kOn);
    const auto seconds = [&](uint32_t rounds) {
      stream_->fill(counter.address(), 0, 128);
      stream_->record(before);
      module.kernel(0).launch(*stream_, std::array<Argument, 2>{counter, rounds}, gpu_.n_sms);
      stream_->record(after);
      stream_->wait();
      if (const uint32_t arrivals = word_at(counter); arrivals != rounds * gpu_.n_sms)
        throw Error("found " + std::to_string(arrivals) + " arrivals, expected " + std::to_string(rounds * gpu_.n_sms));
      return after.seconds_since(before);
    };
    const uint32_t few = scaled(100, 2), many = scaled(1100, 6);
    seconds(few);
    const double first = seconds(few), second = seconds(many);
    row("grid barrier, a block of 512 threads on each multiprocessor", (second - first) / (many - few) * 1e6, "us",
        assumed_ ? barrier_seconds(*assumed_) * 1e6 : NAN);
  }

  void mapped_words() {
    const Module module = compile(echo_kernel(gpu_.target()));
    const HostMemory words(context_, 256, "a probe");
    const std::span<uint32_t> word = words.as<uint32_t>();
    std::fill(word.begin(), word.end(), 0u);
    const uint32_t rounds = scaled(500, 5);
    module.kernel(0).launch(*stream_, {Argument::address(words.device_address()), rounds});
    std::vector<double> seconds;
    for (uint32_t round = 1; round <= rounds; ++round) {
      const auto start = Clock::now();
      std::atomic_ref(word[0]).store(round, std::memory_order_release);
      while (std::atomic_ref(word[32]).load(std::memory_order_acquire) < round) {
        if (gpu_.is_emulated) std::this_thread::yield();
        if (seconds_since(start) < kPatience) continue;
        std::atomic_ref(word[0]).store(UINT32_MAX, std::memory_order_release);  // ends the kernel, if it sees the word
        throw Error("the device did not answer a word in host memory");
      }
      seconds.push_back(seconds_since(start));
    }
    stream_->wait();
    row("host to device and back, by mapped words", median(seconds) * 1e6, "us");
  }

  void captured_graph() {
    const uint32_t nodes = scaled(100, 3), runs = scaled(10, 2);
    const DeviceMemory from = ring(), at(context_, 4, "a probe");
    stream_->fill(at.address(), 0, 4);
    const Module module = compile(chase_kernel(ChasedMemory::kSecondLevel, gpu_.target()));
    LaunchGraph graph(context_);
    graph.begin(*stream_);
    for (uint32_t i = 0; i < nodes; ++i) module.kernel(0).launch(*stream_, {from, 1u, at});
    graph.end(*stream_);
    graph.launch(*stream_);
    stream_->wait();
    const auto start = Clock::now();
    for (uint32_t i = 1; i < runs; ++i) graph.launch(*stream_);
    stream_->wait();
    const double took = seconds_since(start);
    expect_place(word_at(at), nodes * runs);
    row("node of a captured graph, with a trip to memory", took / (nodes * (runs - 1)) * 1e6, "us",
        assumed_ ? (assumed_->graph_node_seconds + 2 * assumed_->l2_seconds) * 1e6 : NAN);
  }

  GpuDevice gpu_;
  std::optional<GpuTraits> assumed_;  // set if the speed model knows the GPU
  ContextPointer context_;
  std::optional<Stream> stream_;
  std::optional<ResultTable> table_;
  int n_failed_ = 0;
};

}  // namespace

void measure_probe(const std::string& device) { Probe(device).run(); }

double read_ceiling(const ContextPointer& context) {
  constexpr uint32_t kThreads = 512, kAtOnce = 8;
  const uint32_t blocks = context->device().n_sms * 4;
  const uint64_t turn = uint64_t{blocks} * kThreads * kAtOnce;  // chunks of 16 bytes per round of all threads
  const uint64_t wanted = context->device().is_emulated ? 1 : uint64_t{2} << 30 >> 4;
  const uint64_t n = std::max<uint64_t>(1, wanted / turn) * turn;
  const Module module(context, {read_kernel(n, blocks, kThreads, kAtOnce, context->device().target())});
  const Stream stream(context);
  const DeviceMemory from(context, n * 16, "a measurement"),
      out(context, uint64_t{blocks} * kThreads * 4, "a measurement");
  stream.fill(from.address(), 0x5a, n * 16);
  double best = 0;
  for (int i = 0; i < (context->device().is_emulated ? 1 : 10); ++i) {
    const GpuEvent before(context, GpuEvent::Timing::kOn), after(context, GpuEvent::Timing::kOn);
    stream.record(before);
    module.kernel(0).launch(stream, {from, out});
    stream.record(after);
    stream.wait();
    best = std::max(best, static_cast<double>(n) * 16 / std::max(1e-9, after.seconds_since(before)));
  }
  return best;
}

}  // namespace warpchat
