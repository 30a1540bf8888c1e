#include "tests/gpu/measure_constants.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <numeric>
#include <random>
#include <span>

#include "engine/driver/device_choice.h"
#include "engine/driver/module.h"
#include "engine/gpu/launch_graph.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/shapes.h"
#include "tests/gpu/constant_kernels.h"
#include "tests/gpu/results.h"
#include "tests/gpu/shaped_model.h"
#include "tests/speed_model/launch_work.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class Work>
double seconds_of(Work&& work) {
  const auto start = Clock::now();
  work();
  return seconds_since(start);
}

// n_bytes of words. One word in each 128-byte line is a node of a ring through all lines in random order. So no step
// can be prefetched, and no line is cached because of its neighbour.
std::vector<uint32_t> random_ring(uint64_t n_bytes) {
  constexpr uint32_t kLineWords = 32;
  std::vector<uint32_t> order(n_bytes / 4 / kLineWords), ring(n_bytes / 4);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(1);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  for (size_t i = 0; i < order.size(); ++i) ring[order[i] * kLineWords] = order[(i + 1) % order.size()] * kLineWords;
  return ring;
}

class Constants {
 public:
  explicit Constants(const std::string& device) {
    const auto start = Clock::now();
    choice_ = choose_device(device);
    if (choice_.table == nullptr) throw Error("--device " + device + " is no GPU");
    const double started = seconds_since(start);
    const double opened = seconds_of([&] { context_ = Context::open(*choice_.table, choice_.gpu); });
    table_.emplace("constants", choice_.gpu.name,
                   std::vector<std::string>{"constant", "value", "expected", "unit", "how"});
    if (const GpuTraits* known = gpu_of_driver(choice_.gpu.name))
      assumed_ = with_constants(*known, ConstantSet::kExpected);
    is_emulated_ = choice_.gpu.is_emulated;
    target_ = choice_.gpu.target();
    stream_.emplace(context_);
    row("driver's start", started * 1e3, "ms", "cuInit and the list of devices");
    row("context creation", opened * 1e3, "ms", "cuDevicePrimaryCtxRetain");
  }

  void run() {
    compiler();
    launches();
    barriers();
    chases();
    host_echo();
    clocks();
    copies();
    reads();
  }

 private:
  uint32_t scaled(uint32_t on_a_gpu, uint32_t emulated) const { return is_emulated_ ? emulated : on_a_gpu; }
  // expected: the speed model's assumption in the same unit; NaN if it has no such constant.
  void row(const std::string& name, double value, const std::string& unit, const std::string& how,
           double expected = NAN) {
    table_->row({name, number(value, 3), number(expected, 3), unit, how});
  }
  double assumed(double GpuTraits::*constant, double scale) const {
    return assumed_ ? (*assumed_).*constant * scale : NAN;
  }
  Module compile(ptx::Kernel kernel) const { return Module(context_, std::vector<ptx::Kernel>{std::move(kernel)}); }

  // Median time of the work that `work` enqueues, after one warm-up.
  template <class Work>
  double device_seconds(Work&& work) const {
    std::vector<double> seconds;
    const GpuEvent before(context_, GpuEvent::Timing::kOn), after(context_, GpuEvent::Timing::kOn);
    for (uint32_t i = 0; i <= scaled(7, 1); ++i) {
      stream_->record(before);
      work();
      stream_->record(after);
      stream_->wait();
      if (i > 0) seconds.push_back(after.seconds_since(before));
    }
    return median(seconds);
  }

  // Compiles the kernels of a token as separate modules: one after the other, and all at once.
  void compiler() {
    const ModelShape shape = bench_shape(is_emulated_ ? "tiny" : "qwen2.5-0.5b");
    const std::vector<ptx::Kernel> kernels = kernels_of(launches_of(shape, {PassKind::kDecode, 1, 4096}), target_);
    uint64_t lines = 0;
    for (const ptx::Kernel& kernel : kernels) lines += static_cast<uint64_t>(std::ranges::count(kernel.text, '\n'));
    const double one_by_one = seconds_of([&] {
      for (const ptx::Kernel& kernel : kernels) compile(kernel);
    });
    const double together = seconds_of([&] {
      std::vector<std::future<void>> jobs;
      for (const ptx::Kernel& kernel : kernels)
        jobs.push_back(std::async(std::launch::async, [&] {
          context_->make_current();
          compile(kernel);
        }));
      for (std::future<void>& job : jobs) job.get();
    });
    const std::string what =
        std::to_string(kernels.size()) + " kernels of a token, " + std::to_string(lines) + " lines, loaded uncached";
    row("compiler a line, one thread", one_by_one / static_cast<double>(lines) * 1e6, "us", what);
    row("compiler a line, a thread a kernel", together / static_cast<double>(lines) * 1e6, "us", what);
  }

  void launches() {
    const uint32_t n = scaled(1000, 10);
    for (const uint32_t blocks : {1u, choice_.gpu.n_sms}) {
      const Module module = compile(empty_kernel(blocks, target_));
      const std::string of = std::to_string(n) + " empty kernels of " + std::to_string(blocks) + " blocks";
      double host = 0;
      const double streamed = device_seconds([&] {
        host = seconds_of([&] {
          for (uint32_t i = 0; i < n; ++i) module.kernel(0).launch(*stream_, {});
        });
      });
      row("launch, on the host", host / n * 1e6, "us", of);
      row("launch in a stream, from one to the next", streamed / n * 1e6, "us", of,
          assumed(&GpuTraits::stream_launch_seconds, 1e6));
      LaunchGraph graph(context_);
      graph.begin(*stream_);
      for (uint32_t i = 0; i < n; ++i) module.kernel(0).launch(*stream_, {});
      graph.end(*stream_);
      row("graph node, from one to the next", device_seconds([&] { graph.launch(*stream_); }) / n * 1e6, "us", of,
          assumed(&GpuTraits::graph_node_seconds, 1e6));
    }
    const Module module = compile(empty_kernel(1, target_));
    LaunchGraph graph(context_);
    graph.begin(*stream_);
    module.kernel(0).launch(*stream_, {});
    graph.end(*stream_);
    const uint32_t runs = scaled(200, 3);
    const double launched = seconds_of([&] {
      for (uint32_t i = 0; i < runs; ++i) graph.launch(*stream_);
      stream_->wait();
    });
    row("graph of one node, launch to launch", launched / runs * 1e6, "us", "the host's clock");
    const double waited = seconds_of([&] {
      for (uint32_t i = 0; i < runs; ++i) {
        module.kernel(0).launch(*stream_, {});
        stream_->wait();
      }
    });
    row("launch and wait, there and back", waited / runs * 1e6, "us", "the host's clock");
  }

  // Uses the difference of two lengths, which cancels the launch itself.
  void barriers() {
    if (!choice_.gpu.can_cooperate) return;
    const DeviceMemory counter(context_, 128, "a measurement");
    for (const uint32_t threads : {256u, 512u}) {
      const Module module = compile(barrier_kernel(threads, target_));
      const uint32_t resident = module.kernel(0).resident_blocks(*context_), sms = choice_.gpu.n_sms;
      for (const uint32_t of_an_sm : {1u, 2u, 4u}) {
        if (of_an_sm * sms > resident) continue;
        const auto seconds = [&](uint32_t rounds) {
          return device_seconds([&] {
            stream_->fill(counter.address(), 0, 128);
            module.kernel(0).launch(*stream_, std::array<Argument, 2>{counter, rounds}, of_an_sm * sms);
          });
        };
        const uint32_t few = scaled(100, 2), many = scaled(2100, 12);
        const bool is_decoders = threads == kPersistentThreads && of_an_sm == kPersistentBlocksPerSm;
        row("grid barrier", (seconds(many) - seconds(few)) / (many - few) * 1e6, "us",
            std::to_string(of_an_sm) + " blocks of " + std::to_string(threads) + " threads on each of " +
                std::to_string(sms) + " multiprocessors",
            is_decoders && assumed_ ? barrier_seconds(*assumed_) * 1e6 : NAN);
      }
    }
  }

  // from: the ring on the device. Throws Error if the walk does not end where it ends on the host.
  double chase_seconds(ChasedMemory memory, const Argument& from, std::span<const uint32_t> ring, uint32_t steps) {
    const Module module = compile(chase_kernel(memory, target_));
    const DeviceMemory at(context_, 4, "a measurement");  // carries on: an earlier walk's lines would be in the cache
    stream_->fill(at.address(), 0, 4);
    uint64_t n_steps = 0;
    const auto seconds = [&](uint32_t n) {
      return device_seconds([&] {
        module.kernel(0).launch(*stream_, {from, n, at});
        n_steps += n;
      });
    };
    const double longer = seconds(steps), shorter = seconds(steps / 2);
    uint32_t found = 0, expected = 0;
    stream_->download(std::as_writable_bytes(std::span(&found, 1)), at.address());
    stream_->wait();
    for (uint64_t i = 0; i < n_steps; ++i) expected = ring[expected];
    if (found != expected)
      throw Error("a chase of " + std::to_string(n_steps) + " steps ends at word " + std::to_string(found) +
                  ", expected " + std::to_string(expected));
    return (longer - shorter) / (steps - steps / 2);
  }

  void chases() {
    const struct {
      const char* name;
      ChasedMemory memory;
      uint64_t bytes;
      double expected;
    } rows[] = {
        {"trip to shared memory", ChasedMemory::kShared, 4096, NAN},
        {"trip to L1", ChasedMemory::kFirstLevel, 16 << 10, NAN},
        {"trip to L2", ChasedMemory::kSecondLevel, 4 << 20, assumed(&GpuTraits::l2_seconds, 1e9)},
        {"trip to L2, most of it", ChasedMemory::kSecondLevel, 24 << 20, assumed(&GpuTraits::l2_seconds, 1e9)},
        {"trip to DRAM", ChasedMemory::kSecondLevel, uint64_t{1} << 30, assumed(&GpuTraits::memory_seconds, 1e9)},
    };
    for (const auto& r : rows) {
      const uint64_t bytes = is_emulated_ ? std::min<uint64_t>(r.bytes, 4096) : r.bytes;
      const std::vector<uint32_t> ring = random_ring(bytes);
      const DeviceMemory from(context_, bytes, "a measurement");
      stream_->upload(from.address(), std::as_bytes(std::span(ring)));
      stream_->wait();
      row(r.name, chase_seconds(r.memory, from, ring, scaled(200000, 64)) * 1e9, "ns",
          "a random ring of " + std::to_string(bytes >> 10) + " KiB, a node in each 128 bytes, one thread", r.expected);
    }
    const uint64_t bytes = is_emulated_ ? 4096 : 4 << 20;
    const std::vector<uint32_t> ring = random_ring(bytes);
    const HostMemory host(context_, bytes, "a measurement");
    std::copy(ring.begin(), ring.end(), host.as<uint32_t>().begin());
    row("trip to the host's memory",
        chase_seconds(ChasedMemory::kHost, Argument::address(host.device_address()), ring, scaled(4000, 64)) * 1e9,
        "ns", "a random ring of mapped memory, one thread", assumed(&GpuTraits::host_seconds, 1e9));
  }

  void host_echo() {
    const Module module = compile(echo_kernel(target_));
    const HostMemory words(context_, 256, "a measurement");
    const std::span<uint32_t> word = words.as<uint32_t>();
    std::fill(word.begin(), word.end(), 0u);
    const uint32_t rounds = scaled(2000, 20);
    module.kernel(0).launch(*stream_, {Argument::address(words.device_address()), rounds});
    std::vector<double> seconds;
    for (uint32_t round = 1; round <= rounds; ++round) {
      seconds.push_back(seconds_of([&] {
        std::atomic_ref(word[0]).store(round, std::memory_order_release);
        while (std::atomic_ref(word[32]).load(std::memory_order_acquire) < round)
          if (is_emulated_) std::this_thread::yield();
      }));
    }
    stream_->wait();
    row("host to device and back, by mapped words", median(seconds) * 1e6, "us", "the host's clock, the median");
  }

  void clocks() {
    const uint32_t n = scaled(4096, 16);
    const DeviceMemory out(context_, uint64_t{n} * 8, "a measurement");
    const Module timer = compile(timer_kernel(n, target_)), clock = compile(clock_kernel(target_));
    std::vector<uint64_t> samples(n);
    timer.kernel(0).launch(*stream_, {out});
    stream_->download(std::as_writable_bytes(std::span(samples)), out.address());
    stream_->wait();
    uint64_t step = 0;
    for (size_t i = 1; i < samples.size(); ++i)
      if (const uint64_t passed = samples[i] - samples[i - 1]; passed > 0 && (step == 0 || passed < step))
        step = passed;
    row("step of %globaltimer", static_cast<double>(step), "ns", "the smallest seen; stamps are no finer");
    Argument cycles;
    cycles.is_address = true;  // pass as 64 bits, like an address
    cycles.bits = scaled(100'000'000, 1000);
    std::array<uint64_t, 4> at{};
    clock.kernel(0).launch(*stream_, {cycles, out});
    stream_->download(std::as_writable_bytes(std::span(at)), out.address());
    stream_->wait();
    const double rate = static_cast<double>(at[3] - at[1]) / std::max<double>(1, static_cast<double>(at[2] - at[0]));
    row("clock of a multiprocessor", rate * 1e3, "MHz", "%clock64 by %globaltimer, one thread busy");
  }

  void copies() {
    const uint64_t bytes = is_emulated_ ? 1 << 16 : uint64_t{512} << 20;
    const DeviceMemory to(context_, bytes, "a measurement");
    HostMemory pinned;
    const double pin = seconds_of([&] { pinned = HostMemory(context_, bytes, "a measurement"); });
    const std::vector<std::byte> pageable(bytes, std::byte{1});
    std::fill(pinned.bytes().begin(), pinned.bytes().end(), std::byte{1});
    const std::string size = std::to_string(bytes >> 10) + " KiB";
    const auto rate = [&](std::span<const std::byte> from) {
      return static_cast<double>(bytes) / seconds_of([&] {
               stream_->upload(to.address(), from);
               stream_->wait();
             });
    };
    row("pinning the host's memory", static_cast<double>(bytes) / pin * 1e-9, "GB/s", size);
    for (int i = 0; i < 2; ++i) rate(pinned.bytes());
    row("upload from pinned memory", rate(pinned.bytes()) * 1e-9, "GB/s", size);
    row("upload from pageable memory", rate(pageable) * 1e-9, "GB/s", size);
  }

  // Read rate by bytes in flight per multiprocessor: blocks x threads x 16-byte chunks.
  void reads() {
    ResultTable table(
        "read rate", choice_.gpu.name,
        {"blocks a multiprocessor", "threads", "loads ahead", "bytes in flight a multiprocessor", "GB/s"});
    const uint64_t wanted = is_emulated_ ? 1 : (uint64_t{2} << 30) / 16, longest_turn = choice_.gpu.n_sms * 4 * 256 * 8;
    const DeviceMemory from(context_, (wanted + longest_turn) * 16, "a measurement");
    stream_->fill(from.address(), 0x5a, from.n_bytes());
    for (const uint32_t of_an_sm : {1u, 2u, 4u}) {
      for (const uint32_t at_once : {1u, 2u, 4u, 8u}) {
        const uint32_t threads = 256, blocks = of_an_sm * choice_.gpu.n_sms;
        const uint64_t turn = uint64_t{blocks} * threads * at_once, n = (wanted + turn - 1) / turn * turn;
        const DeviceMemory out(context_, uint64_t{blocks} * threads * 4, "a measurement");
        const Module module = compile(read_kernel(n, blocks, threads, at_once, target_));
        const double seconds = device_seconds([&] { module.kernel(0).launch(*stream_, {from, out}); });
        table.row({uint64_t{of_an_sm}, uint64_t{threads}, uint64_t{at_once},
                   uint64_t{of_an_sm} * threads * at_once * 16,
                   number(static_cast<double>(n) * 16 / std::max(1e-9, seconds) * 1e-9, 1)});
      }
    }
  }

  DeviceChoice choice_;
  std::optional<GpuTraits> assumed_;  // set if the speed model knows the GPU
  ContextPointer context_;
  std::optional<Stream> stream_;
  std::optional<ResultTable> table_;
  ptx::Target target_ = ptx::sm_75;
  bool is_emulated_ = false;
};

}  // namespace

void measure_constants(const std::string& device) { Constants(device).run(); }

}  // namespace warpchat
