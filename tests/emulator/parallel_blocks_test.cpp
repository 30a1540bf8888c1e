// Blocks on several host threads: results do not depend on their number.
#include <gtest/gtest.h>

#include <new>

#include "ptx/emulator/worker_pool.h"
#include "tests/emulator/kernel_text.h"
#include "tests/support/threads/refused_threads.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kBlocks = 96, kThreads = 64;

struct Row {
  const char* name;
  std::string body, before;
  LaunchOptions options;
  std::vector<std::pair<std::string, uint32_t>> globals = {};  // afterwards
};

LaunchOptions with(bool cooperative, Checks checks) {
  LaunchOptions options;
  options.cooperative = cooperative;
  options.checks = checks;
  return options;
}

const Row kRows[] = {
    // only its own words; odd lanes leave the loop early
    {"independent",
     "mov.u32 %r0, %block;\nmov.u32 %r1, 0;\nagain:\nmad.lo.u32 %r0, %r0, 1664525, %thread;\nadd.u32 %r1, %r1, 1;\n"
     "and.b32 %r2, %thread, 1;\nmad.lo.u32 %r2, %r2, 40, %r1;\nsetp.lt.u32 %p0, %r2, 90;\n@%p0 bra again;\n",
     "",
     {}},
    // host threads share the counter; each block has its own sum
    {"global_atomics",
     "atom.global.add.u32 %r1, [counter], 1;\nred.global.max.u32 [greatest], %thread;\nmov.u32 %r0, %thread;\n",
     ".global .align 4 .b32 counter, greatest;\n",
     {},
     {{"counter", kBlocks* kThreads}, {"greatest", kThreads - 1}}},
    // blocks pass on a token: each waits for its predecessor
    {"chain",
     "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra join;\nwait:\nld.acquire.gpu.global.u32 %r1, [turn];\n"
     "setp.ne.u32 %p1, %r1, %block;\n@%p1 bra wait;\nld.global.u32 %r2, [sum];\nadd.u32 %r2, %r2, %block;\n"
     "st.global.u32 [sum], %r2;\nadd.u32 %r1, %r1, 1;\nst.release.gpu.global.u32 [turn], %r1;\n"
     "st.shared.u32 [mine], %r2;\njoin:\nbar.sync 0;\nld.shared.u32 %r0, [mine];\n",
     ".global .align 4 .b32 turn, sum;\n.shared .align 4 .b32 mine;\n",
     {}},
    {"chain_of_resident_blocks",
     "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra join;\natom.add.release.gpu.global.u32 %r1, [here], 1;\nwait:\n"
     "ld.acquire.gpu.global.u32 %r1, [here];\nsetp.lt.u32 %p1, %r1, 96;\n@%p1 bra wait;\njoin:\nbar.sync 0;\n"
     "mov.u32 %r0, %block;\n",
     ".global .align 4 .b32 here;\n", with(true, {})},
    // checks look at one block at a time, on any thread
    {"checked", "mad.lo.u32 %r0, %block, 3, %thread;\n", "", with(false, Checks::all())},
};

std::vector<uint32_t> results(const Row& row, uint32_t threads) {
  Device device;
  const Module module(kernel(row.body + kStoreResult, row.before), device.profile, device.memory);
  uint32_t* out = device.zeros<uint32_t>(kBlocks * kThreads);
  EXPECT_EQ(run(device, module, "k", {kBlocks}, {kThreads}, pack_parameters(out, out), 0, row.options, threads), "")
      << row.name << " on " << threads << " threads";
  for (const auto& [name, value] : row.globals) {
    EXPECT_EQ(*reinterpret_cast<uint32_t*>(module.find_global(name)->address), value) << row.name << " " << name;
  }
  return device.download(out, kBlocks * kThreads);
}

TEST(ParallelBlocks, SameResultsOnAnyNumberOfThreads) {
  for (const Row& row : kRows) {
    const std::vector<uint32_t> alone = results(row, 1);
    for (uint32_t threads : {2u, 4u, 7u}) EXPECT_EQ(results(row, threads), alone) << row.name;
  }
}

TEST(ParallelBlocks, ThreadsThatTheSystemRefusesAreDoneWithout) {
  for (const Row& row : kRows) {
    const std::vector<uint32_t> alone = results(row, 1);
    for (uint64_t n_given : {0u, 2u}) {
      const warpchat::RefusedThreads refused(n_given);
      EXPECT_EQ(results(row, 4), alone) << row.name;
      EXPECT_EQ(refused.n_refused(), 1u) << row.name;
    }
  }
}

TEST(WorkerPool, PassesOnWhatAJobThrowsAndGoesOn) {
  WorkerPool crew(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> n_calls = 0;
    EXPECT_THROW(crew.run([&] {
      if (++n_calls == 1 || round % 2) throw std::bad_alloc();
    }),
                 std::bad_alloc);
    n_calls = 0;
    crew.run([&] { ++n_calls; });
    EXPECT_GE(n_calls, 1);
  }
}

TEST(ParallelBlocks, OneFaultEndsAll) {
  Device device;
  const Module module(kernel("setp.ne.u32 %p0, %block, 40;\n@%p0 bra fine;\ntrap;\nfine:\nmov.u32 %r0, 1;\n" +
                             std::string(kStoreResult)),
                      device.profile, device.memory);
  uint32_t* out = device.zeros<uint32_t>(kBlocks * kThreads);
  const std::string fault = run(device, module, "k", {kBlocks}, {kThreads}, pack_parameters(out, out), 0, {}, 4);
  EXPECT_NE(fault.find("traps; block 40 thread 0"), std::string::npos) << fault;
}

}  // namespace
}  // namespace ptx::emulator
