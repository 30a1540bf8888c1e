#include "tests/gpu/measure_contention.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "engine/decoder.h"
#include "engine/driver/device_choice.h"
#include "engine/driver/module.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/gpu/constant_kernels.h"
#include "tests/gpu/results.h"
#include "tests/gpu/shaped_model.h"

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

DeviceChoice gpu_choice(const std::string& device) {
  DeviceChoice choice = choose_device(device);
  if (choice.table == nullptr) throw Error("--device " + device + " is no GPU");
  return choice;
}

// A kernel with a new name, so the driver's compute cache does not have it.
ptx::Kernel fresh_kernel(ptx::Target target) {
  static std::atomic<uint32_t> n{static_cast<uint32_t>(Clock::now().time_since_epoch().count())};
  return empty_kernel(n++, target);
}

class Contention {
 public:
  explicit Contention(const std::string& device)
      : choice_(gpu_choice(device)),
        context_(Context::open(*choice_.table, choice_.gpu)),
        holding_(context_),
        other_(context_),
        words_(context_, 256, "a measurement"),
        hold_(context_, {hold_kernel(choice_.gpu.target())}),
        hold_seconds_(choice_.gpu.is_emulated ? 0.03 : 0.25),
        table_("contention", choice_.gpu.name,
               {"call", "ms alone", "ms beside a kernel", "ms that the kernel ran", "waits for the kernel",
                "longest other call meanwhile, ms"}) {}

  void run() {
    std::optional<Module> module;
    std::optional<DeviceMemory> memory;
    std::optional<HostMemory> host;
    const DeviceMemory target(context_, 4096, "a measurement");
    const std::vector<std::byte> bytes(4096);
    const auto load = [&] { module.emplace(context_, std::vector{fresh_kernel(choice_.gpu.target())}); };
    const auto drop = [&] { module.reset(); };  // before the call: unloading may wait even if loading does not
    row("load a module", drop, load);
    row("load a module and launch its kernel", drop, [&] {
      load();
      module->kernel(0).launch(other_, std::span<const Argument>(), 1);
    });
    row("unload a module", load, drop);
    row(
        "allocate 64 MiB", [&] { memory.reset(); }, [&] { memory.emplace(context_, uint64_t{64} << 20, "a test"); });
    row(
        "free 64 MiB", [&] { memory.emplace(context_, uint64_t{64} << 20, "a test"); }, [&] { memory.reset(); });
    row(
        "allocate 4 MiB of pinned memory", [&] { host.reset(); }, [&] { host.emplace(context_, 4 << 20, "a test"); });
    row(
        "free pinned memory", [&] { host.emplace(context_, 4 << 20, "a test"); }, [&] { host.reset(); });
    row(
        "ask for free memory", [] {}, [&] { context_->memory(); });
    row(
        "make and drop a stream", [] {}, [&] { const Stream stream(context_); });
    row(
        "copy 4 KiB by another stream, and wait", [] {},
        [&] {
          other_.upload(target.address(), bytes);
          other_.wait();
        });
  }

 private:
  // prepare: setup of the call, not timed.
  void row(const std::string& name, const std::function<void()>& prepare, const std::function<void()>& call) {
    prepare();
    const double alone = seconds_of(call);
    prepare();
    std::atomic_ref(words_.as<uint32_t>()[0]).store(0, std::memory_order_relaxed);
    std::atomic_ref(words_.as<uint32_t>()[32]).store(0, std::memory_order_relaxed);
    Argument nanoseconds;
    nanoseconds.is_address = true;  // pass as 64 bits, like an address
    nanoseconds.bits = static_cast<uint64_t>(hold_seconds_ * 1e9);
    const GpuEvent end(context_);
    const auto start = Clock::now();
    hold_.kernel(0).launch(holding_, {Argument::address(words_.device_address()), nanoseconds});
    holding_.record(end);
    while (std::atomic_ref(words_.as<uint32_t>()[32]).load(std::memory_order_acquire) == 0)
      if (seconds_since(start) > 5) throw Error("a kernel that writes to host memory did not start within 5 s");
    std::atomic<bool> has_returned = false;
    double beside = 0;
    std::thread caller([&] {
      context_->make_current();
      beside = seconds_of(call);
      has_returned = true;
    });
    double longest = 0;
    while (!has_returned) {
      longest = std::max(longest, seconds_of([&] {
                           context_->make_current();
                           end.has_come();
                         }));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    caller.join();
    std::atomic_ref(words_.as<uint32_t>()[0]).store(1, std::memory_order_release);
    holding_.wait();
    const double ran = seconds_since(start);
    const bool waits = beside - alone > 0.7 * hold_seconds_;
    table_.row({name, number(alone * 1e3, 3), number(beside * 1e3, 3), number(ran * 1e3, 1),
                std::string(waits ? "yes" : "no"), number(longest * 1e3, 3)});
  }

  DeviceChoice choice_;
  ContextPointer context_;
  Stream holding_, other_;
  HostMemory words_;  // for hold_kernel
  Module hold_;
  double hold_seconds_;
  ResultTable table_;
};

// A decoder of random weights with a prompt of `n_prompt` tokens in its cache.
struct Prompted {
  Prompted(const std::string& device, const std::string& shape, uint32_t n_prompt, uint32_t n_tokens)
      : choice(gpu_choice(device)),
        context(Context::open(*choice.table, choice.gpu)),
        model(bench_shape(shape)),
        decoder(model.config(),
                make_gpu_steps(model.config(), model.tensors(),
                               {choice, {.context = n_prompt + n_tokens + 2}, LaunchMode::kPersistent})) {
    const std::vector<Token> prompt(n_prompt, 1);
    column = decoder.prefill(prompt, 0).value();
    decoder.wait();
  }
  std::unique_ptr<TokenSource> source(uint32_t n_prompt, uint32_t n_tokens) {
    SamplingParams greedy;
    greedy.temperature = 0;
    return make_token_source(decoder, {greedy, {}, n_prompt, column, n_tokens});
  }
  DeviceChoice choice;
  ContextPointer context;  // kept, because making it is slow
  ShapedModel model;
  Decoder decoder;
  uint32_t column = 0;
};

}  // namespace

void measure_contention(const std::string& device) { Contention(device).run(); }

void measure_decoder_contention(const std::string& device, const std::string& shape, const std::string& call,
                                uint32_t n_tokens) {
  constexpr uint32_t kPrompt = 16;
  Prompted prompted(device, shape, kPrompt, n_tokens);
  const ContextPointer& context = prompted.context;
  std::optional<Module> module;
  std::optional<DeviceMemory> memory;
  const std::map<std::string, std::function<void()>> calls = {
      {"none", [] {}},
      {"load", [&] { module.emplace(context, std::vector{fresh_kernel(prompted.choice.gpu.target())}); }},
      {"allocate", [&] { memory.emplace(context, uint64_t{64} << 20, "a test"); }},
      {"query", [&] { context->memory(); }},
  };
  if (!calls.contains(call)) throw Error("--call must be none, load, allocate or query, found " + call);
  const std::unique_ptr<TokenSource> source = prompted.source(kPrompt, n_tokens);
  const std::atomic<bool> stop = false;
  std::thread caller;
  double took = 0, longest = 0;
  const auto start = Clock::now();
  for (uint32_t i = 0; i < n_tokens; ++i) {
    longest = std::max(longest, seconds_of([&] { source->next(stop); }));
    if (i == n_tokens / 4)
      caller = std::thread([&] {
        context->make_current();
        took = seconds_of(calls.at(call));
      });
  }
  const double decoded = seconds_since(start);
  caller.join();
  ResultTable table("decoder contention", prompted.choice.gpu.name,
                    {"shape", "call", "tokens", "ms of the call", "longest gap between tokens, ms", "tokens/s"});
  table.row({shape, call, uint64_t{n_tokens}, number(took * 1e3, 3), number(longest * 1e3, 3),
             number(n_tokens / decoded, 1)});
}

void decode_once(const std::string& device, const std::string& shape, uint32_t n_prompt, uint32_t n_tokens) {
  Prompted prompted(device, shape, n_prompt, n_tokens);
  const std::unique_ptr<TokenSource> source = prompted.source(n_prompt, n_tokens);
  const std::atomic<bool> stop = false;
  uint32_t n = 0;
  while (n < n_tokens && source->next(stop)) ++n;
  say(std::to_string(n) + " tokens of " + shape + " by the persistent decoder");
}

}  // namespace warpchat
