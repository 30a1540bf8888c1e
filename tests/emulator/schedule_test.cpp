// Seeds determine the order of execution: the same seed gives the same run, others give other orders, and results of
// correct kernels never change.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

// Every thread takes a ticket: out[global thread] is its turn.
const std::string kTickets = kernel(
    "mov.u32 %r2, 0;\nagain:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 40;\n@%p1 bra again;\n"
    "atom.global.add.u32 %r0, [counter], 1;\n" +
        std::string(kStoreResult),
    ".global .align 4 .b32 counter;\n");

std::vector<uint32_t> tickets(uint64_t seed, uint32_t threads = 1, Checks checks = {}) {
  Device device(profile_named("sm_90"));
  const Module module(kTickets, device.profile, device.memory);
  uint32_t* out = device.zeros<uint32_t>(8 * 96);
  LaunchOptions options;
  options.seed = seed;
  options.checks = checks;
  EXPECT_EQ(run(device, module, "k", {8}, {96}, pack_parameters(out, out), 0, options, threads), "");
  return device.download(out, 8 * 96);
}

TEST(Schedule, SameSeedSameRun) {
  for (uint64_t seed : {1, 2, 77}) {
    EXPECT_EQ(tickets(seed), tickets(seed)) << seed;
    EXPECT_EQ(tickets(seed), tickets(seed, 3)) << "the number of host threads has no effect; seed " << seed;
  }
}

TEST(Schedule, SeedsDiffer) {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 1; seed <= 8; ++seed) orders.insert(tickets(seed));
  EXPECT_EQ(orders.size(), 8u);
}

TEST(Schedule, EveryThreadHasItsTurn) {
  for (uint64_t seed : {0, 5}) {
    std::vector<uint32_t> order = tickets(seed, 1, Checks::all());
    std::ranges::sort(order);
    for (uint32_t k = 0; k < order.size(); ++k) ASSERT_EQ(order[k], k) << seed;
  }
}

// The seed also chooses the order of a diverged warp's parts: the last writer of a shared word differs.
TEST(Schedule, PartsOfAWarpAreChosenToo) {
  std::string body =
      "and.b32 %r1, %thread, 3;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra zero;\n"
      "setp.eq.u32 %p0, %r1, 1;\n@%p0 bra one;\natom.shared.exch.b32 %r5, [word], 2;\nbra join;\n"
      "one:\natom.shared.exch.b32 %r5, [word], 1;\nbra join;\n"
      "zero:\natom.shared.exch.b32 %r5, [word], 0;\njoin:\nbar.sync 0;\nld.shared.b32 %r0, [word];\n";
  std::set<uint32_t> last;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    LaunchOptions options;
    options.seed = seed;
    const Result result =
        run_text(kernel(body + kStoreResult, ".shared .align 4 .b32 word;\n"), {1}, {32}, 32, {0}, options);
    ASSERT_EQ(result.fault, "");
    last.insert(result.words[0]);
  }
  EXPECT_GT(last.size(), 1u);
}

// Lanes that wait for each other inside a warp, for example at a spin lock, make progress under every seed.
TEST(Schedule, SpinLockInsideAWarpGetsOn) {
  const std::string body =
      "again:\natom.shared.cas.b32 %r1, [word], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra again;\n"
      "ld.volatile.shared.b32 %r2, [word+4];\nadd.u32 %r2, %r2, 1;\nst.volatile.shared.b32 [word+4], %r2;\n"
      "membar.cta;\natom.shared.exch.b32 %r1, [word], 0;\nbar.sync 0;\nld.shared.b32 %r0, [word+4];\n";
  const std::string start = "st.shared.b32 [word], 0;\nst.shared.b32 [word+4], 0;\nbar.sync 0;\n";
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    LaunchOptions options;
    options.seed = seed;
    const Result result =
        run_text(kernel(start + body + kStoreResult, ".shared .align 8 .b32 word[2];\n"), {1}, {64}, 64, {0}, options);
    ASSERT_EQ(result.fault, "");
    ASSERT_EQ(result.words[63], 64u) << seed;
  }
}

}  // namespace
}  // namespace ptx::emulator
