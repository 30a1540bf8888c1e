#include "tests/gpu/constant_kernels.h"

#include <string>
#include <vector>

#include "kernels/persistent/grid_barrier.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

Kernel empty_kernel(uint32_t blocks, Target target) {
  Builder b("empty_" + std::to_string(blocks), target);
  return b.finish(Launch{blocks, 32});
}

Kernel barrier_kernel(uint32_t threads, Target target) {
  Builder b("barriers_" + std::to_string(threads), target);
  Global<u64> counter = b.global<u64>("counter", 1, 128);
  Reg<u32> rounds = b.param<u32>("rounds");
  GridBarrier barrier(b, counter, b.shared<u64>("open_at", 1), b.blocks());
  b.for_("round", 0u, rounds, 1u, [&](Reg<u32>) { barrier.wait(); });
  return b.finish(Launch{1, threads, /*cooperative=*/true});
}

namespace {

constexpr uint32_t kSharedWords = 1024;

template <class Load>
void chase(Builder& b, const Reg<u32>& steps, const Global<u32>& place, Load&& load) {
  Var<u32> at = b.var("at", place.load());
  b.for_("step", 0u, steps, 1u, [&](Reg<u32>) { at = load(Reg<u32>(at)); });
  place.store(0, at);
}

}  // namespace

Kernel chase_kernel(ChasedMemory memory, Target target) {
  constexpr const char* kNames[] = {"l1", "l2", "host", "shared"};
  Builder b(std::string("chase_") + kNames[static_cast<int>(memory)], target);
  Global<u32> from = b.global<u32>("from");
  Reg<u32> steps = b.param<u32>("steps");
  Global<u32> at_word = b.global<u32>("at", 1);
  switch (memory) {
    case ChasedMemory::kFirstLevel:
      chase(b, steps, at_word, [&](const Reg<u32>& at) { return from.load(at, {.policy = Cache::Policy::kAll}); });
      break;
    case ChasedMemory::kSecondLevel:
      chase(b, steps, at_word, [&](const Reg<u32>& at) { return from.load_relaxed(Scope::kGpu, at); });
      break;
    case ChasedMemory::kHost:
      chase(b, steps, at_word, [&](const Reg<u32>& at) { return from.load_relaxed(Scope::kSystem, at); });
      break;
    case ChasedMemory::kShared: {
      Shared<u32> words = b.shared<u32>("words", kSharedWords);
      b.for_("word", 0u, kSharedWords, 1u, [&](const Reg<u32>& i) { words.store(i, from.load(i)); });
      chase(b, steps, at_word, [&](const Reg<u32>& at) { return words.load(at); });
    }
  }
  return b.finish(Launch{1, 1});
}

Kernel timer_kernel(uint32_t n, Target target) {
  Builder b("timer_samples", target);
  Global<u64> out = b.global<u64>("out", n);
  b.for_("sample", 0u, n, 1u, [&](const Reg<u32>& i) { out.store(i, b.globaltimer()); });
  return b.finish(Launch{1, 1});
}

Kernel clock_kernel(Target target) {
  Builder b("clock_rate", target);
  Reg<u64> cycles = b.param<u64>("cycles");
  Global<u64> out = b.global<u64>("out", 4);
  Reg<u64> begin_time = b.globaltimer(), begin = b.clock64();
  Var<u64> now = b.var("now", begin);
  b.while_([&] { return now - begin < cycles; }, [&] { now = b.clock64(); });
  out.store(0, begin_time);
  out.store(1, begin);
  out.store(2, b.globaltimer());
  out.store(3, b.clock64());
  return b.finish(Launch{1, 1});
}

Kernel echo_kernel(Target target) {
  Builder b("echo", target);
  Global<u32> host = b.global<u32>("host", 64);
  Reg<u32> rounds = b.param<u32>("rounds");
  b.for_("round", 1u, rounds + 1u, 1u, [&](const Reg<u32>& round) {
    b.while_([&] { return host.load_acquire(Scope::kSystem) < round; }, [] {});
    host.store_release(round, Scope::kSystem, 32);
  });
  return b.finish(Launch{1, 1});
}

Kernel hold_kernel(Target target) {
  Builder b("hold", target);
  Global<u32> host = b.global<u32>("host", 64);
  Reg<u64> nanoseconds = b.param<u64>("nanoseconds");
  Reg<u64> begin = b.globaltimer();
  host.store_release(1u, Scope::kSystem, 32);
  Var<u64> passed = b.var("passed", uint64_t{0});
  b.while_([&] { return passed < nanoseconds; },
           [&] {
             passed = b.globaltimer() - begin;
             b.if_(host.load_acquire(Scope::kSystem) > 0u, [&] { passed = nanoseconds; });
           });
  return b.finish(Launch{1, 1});
}

Kernel read_kernel(uint64_t n, uint32_t blocks, uint32_t threads, uint32_t at_once, Target target) {
  Builder b("read_" + std::to_string(blocks) + "x" + std::to_string(threads) + "x" + std::to_string(at_once), target);
  Global<u32> from = b.global<u32>("from", n * 4), out = b.global<u32>("out", uint64_t{blocks} * threads);
  Reg<u32> thread = b.block() * threads + b.thread();
  Var<u32> sum = b.var("sum", 0u);
  const uint64_t stride = uint64_t{blocks} * threads;
  b.for_("chunk", b.convert<u64>(thread), n, stride * at_once, [&](Reg<u64> chunk) {
    std::vector<Vec<u32, 4>> loaded;
    for (uint32_t i = 0; i < at_once; ++i) loaded.push_back(from.load<4>((chunk + stride * i) * 4, kReadOnce));
    for (const Vec<u32, 4>& words : loaded)
      for (int i = 0; i < 4; ++i) sum = sum ^ words[i];
  });
  out.store(thread, sum);
  return b.finish(Launch{blocks, threads});
}

}  // namespace warpchat
