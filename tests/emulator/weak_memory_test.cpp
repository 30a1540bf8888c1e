// Weak memory: reorderings that a device may make happen under some seed, and synchronisation prevents them under every
// seed.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kFewSeeds = 20;

// Enough seeds to show that a correct program never fails; more in the full suite.
uint64_t many_seeds() { return std::getenv("WARPCHAT_FULL_TESTS") ? 1000 : kFewSeeds; }

LaunchOptions weak(uint64_t seed) {
  LaunchOptions options;
  options.seed = seed;
  options.weak_memory = true;
  options.alone = true;
  return options;
}

struct Program {
  std::string text;
  uint32_t blocks, threads;
  bool cooperative = false;
};

// "" if every word of out is 0; programs write their errors there. Otherwise a description.
std::string failure(const Program& p, uint64_t seed) {
  LaunchOptions options = weak(seed);
  options.cooperative = p.cooperative;
  const size_t n = size_t{p.blocks} * p.threads;
  const Result result = run_text(p.text, {p.blocks}, {p.threads}, n, std::vector<uint32_t>(2 * n + 64), options);
  if (!result.fault.empty()) return result.fault;
  for (size_t k = 0; k < n; ++k) {
    if (result.words[k] != 0)
      return "thread " + std::to_string(k) + " has " + std::to_string(result.words[k]) + " errors";
  }
  return "";
}

// Number of the seeds 1..n that make it fail; `why` gets the last failure.
uint64_t failures(const Program& p, uint64_t n, std::string* why = nullptr) {
  uint64_t count = 0;
  for (uint64_t seed = 1; seed <= n; ++seed) {
    const std::string found = failure(p, seed);
    if (found.empty()) continue;
    ++count;
    if (why) *why = "seed " + std::to_string(seed) + ": " + found;
  }
  return count;
}

// Six rounds: every thread stores a word, the grid meets, every thread loads the next block's word, the grid meets.
// One thread of a block arrives at the counter and polls it; the others wait at the block's barrier.
std::string rounds(const std::string& arrive, const std::string& poll, const std::string& after = "",
                   const std::string& load = "ld.global.b32") {
  const auto meet = [&](const std::string& n) {
    return "bar.sync 0;\nadd.u32 %r10, %r10, %r11;\n@%p0 bra wait" + n + ";\n" + arrive + " [counter], 1;\npoll" + n +
           ":\n" + poll + " %r12, [counter];\nsetp.lt.u32 %p1, %r12, %r10;\n@%p1 bra poll" + n + ";\n" + after +
           "\nwait" + n + ":\nbar.sync 0;\n";
  };
  return "setp.ne.u32 %p0, %thread, 0;\nmov.u32 %r11, %nctaid.x;\nmov.u32 %r10, 0;\nmov.u32 %r0, 0;\nmov.u32 %r1, 1;\n"
         "mov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %block, %r2, %thread;\nmad.wide.u32 %rd1, %r3, 4, %in;\n"
         "add.u32 %r4, %block, 1;\nrem.u32 %r4, %r4, %r11;\nmad.lo.u32 %r4, %r4, %r2, %thread;\n"
         "mad.wide.u32 %rd2, %r4, 4, %in;\nround:\n"
         "mad.lo.u32 %r5, %r1, 1000, %r3;\nst.global.b32 [%rd1], %r5;\n" +
         meet("1") + load +
         " %r6, [%rd2];\nmad.lo.u32 %r7, %r1, 1000, %r4;\nsetp.ne.u32 %p2, %r6, %r7;\n@%p2 add.u32 %r0, %r0, 1;\n" +
         meet("2") + "add.u32 %r1, %r1, 1;\nsetp.le.u32 %p3, %r1, 6;\n@%p3 bra round;\n";
}

Program grid_barrier(const std::string& arrive, const std::string& poll, const std::string& after = "",
                     const std::string& load = "ld.global.b32") {
  return {kernel(rounds(arrive, poll, after, load) + kStoreResult, ".global .align 4 .b32 counter;\n"), 4, 64, true};
}

struct Barrier {
  const char *name, *arrive, *poll, *after;
};
void PrintTo(const Barrier& b, std::ostream* out) { *out << b.name; }

class RightBarrier : public ::testing::TestWithParam<Barrier> {};
TEST_P(RightBarrier, NeverFails) {
  const Barrier& b = GetParam();
  std::string why;
  EXPECT_EQ(failures(grid_barrier(b.arrive, b.poll, b.after), many_seeds(), &why), 0u) << why;
}
INSTANTIATE_TEST_SUITE_P(
    All, RightBarrier,
    ::testing::Values(Barrier{"release_and_acquire", "red.release.gpu.global.add.u32", "ld.acquire.gpu.global.u32", ""},
                      Barrier{"of_the_whole_system", "red.release.sys.global.add.u32", "ld.acquire.sys.global.u32", ""},
                      Barrier{"fences_round_relaxed", "fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.u32",
                              "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"},
                      Barrier{"old_membar_and_volatile", "membar.gl;\nred.global.add.u32", "ld.volatile.global.u32",
                              "membar.gl;"}),
    [](const auto& row) { return row.param.name; });

class WrongBarrier : public ::testing::TestWithParam<Barrier> {};
TEST_P(WrongBarrier, FailsUnderSomeSeed) {
  const Barrier& b = GetParam();
  EXPECT_GT(failures(grid_barrier(b.arrive, b.poll, b.after), kFewSeeds), 0u);
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongBarrier,
    ::testing::Values(
        Barrier{"without_release", "red.relaxed.gpu.global.add.u32", "ld.acquire.gpu.global.u32", ""},
        Barrier{"without_acquire", "red.release.gpu.global.add.u32", "ld.relaxed.gpu.global.u32", ""},
        Barrier{"of_the_block_s_scope", "red.release.cta.global.add.u32", "ld.acquire.cta.global.u32", ""},
        Barrier{"release_of_the_block_only", "red.release.cta.global.add.u32", "ld.acquire.gpu.global.u32", ""},
        Barrier{"acquire_of_the_block_only", "red.release.gpu.global.add.u32", "ld.acquire.cta.global.u32", ""},
        Barrier{"release_of_the_cluster_only", "red.release.cluster.global.add.u32", "ld.acquire.gpu.global.u32", ""},
        Barrier{"fence_of_the_block_only", "fence.acq_rel.cta;\nred.relaxed.gpu.global.add.u32",
                "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"},
        Barrier{"without_the_second_fence", "fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.u32",
                "ld.relaxed.gpu.global.u32", ""},
        Barrier{"plain_polling", "red.release.gpu.global.add.u32", "ld.global.u32", "fence.acq_rel.gpu;"}),
    [](const auto& row) { return row.param.name; });

// Non-coherent loads may be stale even after a correct barrier; coherent ones are not.
TEST(WeakMemory, NonCoherentLoadsOfWrittenMemory) {
  const char *arrive = "red.release.gpu.global.add.u32", *poll = "ld.acquire.gpu.global.u32";
  EXPECT_GT(failures(grid_barrier(arrive, poll, "", "ld.global.nc.b32"), kFewSeeds), 0u);
  EXPECT_EQ(failures(grid_barrier(arrive, poll, "", "ld.relaxed.gpu.global.b32"), kFewSeeds), 0u);
}

TEST(WeakMemory, PlainPollingEndsInAReport) {
  std::string why;
  failures(grid_barrier("red.release.gpu.global.add.u32", "ld.global.u32", "fence.acq_rel.gpu;"), kFewSeeds, &why);
  EXPECT_THAT(why, HasSubstr("ld.global.u32 reads byte 0 of counter"));
  EXPECT_THAT(why, HasSubstr("polls it in vain"));
}

TEST(WeakMemory, UnansweredPollsAreADeadlock) {
  const std::string body =
      "again:\nld.acquire.gpu.global.u32 %r0, [counter];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra again;";
  const Program p = {kernel(body, ".global .align 4 .b32 counter;\n"), 2, 32, true};
  EXPECT_THAT(failure(p, 1), HasSubstr("polls in vain"));
}

// Two threads of different blocks, ten times; x and y lie in separate cache lines. `%in` is zeros. Thread 0 of a block
// has its partner's place in %rd2 and its own in %rd1.
std::string two_blocks(const std::string& first, const std::string& second) {
  return "setp.ne.u32 %p0, %thread, 0;\nmov.u32 %r0, 0;\n@%p0 bra end;\nsetp.eq.u32 %p1, %block, 1;\n@%p1 bra "
         "second;\n" +
         first + "\nbra end;\nsecond:\n" + second + "\nend:\n";
}

const char* const kPlaces = ".global .align 128 .b32 x[32];\n.global .align 128 .b32 y[32];\n";

// Delays this block, so that the other one can act.
std::string pause(const std::string& label) {
  return "mov.u32 %r8, 200;\n" + label + ":\nsub.u32 %r8, %r8, 1;\nsetp.ne.u32 %p4, %r8, 0;\n@%p4 bra " + label + ";\n";
}

struct Litmus {
  const char* name;
  std::string right, wrong;  // bodies that set %r0 if the forbidden outcome happened
};
void PrintTo(const Litmus& l, std::ostream* out) { *out << l.name; }

// Data behind a flag: after seeing the flag, the receiver must see the data. It reads the data before, so that it is
// cached.
std::string message(const std::string& send, const std::string& receive, const std::string& after = "") {
  return two_blocks("st.global.b32 [x], 42;\n" + send + " [y], 1;",
                    "ld.global.b32 %r5, [x];\npoll:\n" + receive +
                        " %r1, [y];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra poll;\n" + after +
                        "\nld.global.b32 %r2, [x];\nsetp.ne.u32 %p3, %r2, 42;\n@%p3 mov.u32 %r0, 1;");
}

// Each block stores its own word and loads the other's. The counter in x[8] makes the later one check whether both saw
// 0.
std::string store_buffering(const std::string& fence) {
  const auto half = [&](const char* own, const char* other) {
    return std::string("st.relaxed.gpu.global.b32 [") + own + "], 1;\n" + fence + "\nld.relaxed.gpu.global.b32 %r1, [" +
           other + "];\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra end;\n" + pause(std::string("wait_") + own) +
           "atom.acq_rel.gpu.global.add.u32 %r2, [x+64], 1;\n"
           "setp.eq.u32 %p3, %r2, 1;\n@%p3 mov.u32 %r0, 1;";
  };
  return two_blocks(half("x", "y"), half("y", "x"));
}

// Blocks publish partial sums; the last one to take a ticket reads them all (blocks 0 and 1 of 2).
std::string last_block(const std::string& ticket, const std::string& after) {
  return "setp.ne.u32 %p0, %thread, 0;\nmov.u32 %r0, 0;\n@%p0 bra end;\nld.global.b32 %r7, [x];\nld.global.b32 %r7, "
         "[x+4];\n"
         "mov.u64 %rd3, x;\nmad.wide.u32 %rd1, %block, 4, %rd3;\nadd.u32 %r1, %block, 5;\nst.global.b32 [%rd1], "
         "%r1;\n" +
         ticket + " %r2, [y], 1;\n" + after +
         "\nsetp.ne.u32 %p1, %r2, 1;\n@%p1 bra end;\nld.global.b32 %r3, [x];\nld.global.b32 %r4, [x+4];\n"
         "add.u32 %r3, %r3, %r4;\nsetp.ne.u32 %p2, %r3, 11;\n@%p2 mov.u32 %r0, 1;\nend:\n";
}

const std::vector<Litmus>& litmus_tests() {
  static const std::vector<Litmus> rows = {
      {"message_without_release", message("st.release.gpu.global.b32", "ld.acquire.gpu.global.b32"),
       message("st.relaxed.gpu.global.b32", "ld.acquire.gpu.global.b32")},
      {"message_without_acquire", message("st.release.gpu.global.b32", "ld.acquire.gpu.global.b32"),
       message("st.release.gpu.global.b32", "ld.relaxed.gpu.global.b32")},
      {"message_by_volatile", message("membar.gl;\nst.volatile.global.b32", "ld.volatile.global.b32", "membar.gl;"),
       message("st.volatile.global.b32", "ld.volatile.global.b32")},
      {"store_buffering_without_fence", store_buffering("fence.sc.gpu;"), store_buffering("")},
      {"last_block_without_fence", last_block("atom.acq_rel.gpu.global.add.u32", ""),
       last_block("atom.relaxed.gpu.global.add.u32", "")},
      {"last_block_with_one_fence",
       last_block("fence.acq_rel.gpu;\n" + pause("wait") + "atom.global.add.u32", "fence.acq_rel.gpu;"),
       last_block("fence.acq_rel.gpu;\n" + pause("wait") + "atom.global.add.u32", "")},
  };
  return rows;
}

class LitmusTest : public ::testing::TestWithParam<Litmus> {};
TEST_P(LitmusTest, TellsRightFromWrong) {
  const auto program = [](const std::string& body) {
    return Program{kernel(body + kStoreResult, kPlaces), 2, 32, true};
  };
  std::string why;
  EXPECT_EQ(failures(program(GetParam().right), 10 * kFewSeeds, &why), 0u) << why;
  EXPECT_GT(failures(program(GetParam().wrong), 10 * kFewSeeds), 0u);
}
INSTANTIATE_TEST_SUITE_P(All, LitmusTest, ::testing::ValuesIn(litmus_tests()),
                         [](const auto& row) { return row.param.name; });

// Within a block, a barrier is enough for stores of any thread.
TEST(WeakMemory, ABlockSeesItsOwnStores) {
  const std::string body =
      "mov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %block, %r2, %thread;\nmad.wide.u32 %rd1, %r3, 4, %in;\n"
      "ld.global.b32 %r9, [%rd1];\nst.global.b32 [%rd1], %r3;\nadd.u32 %r3, %r3, 1;\nst.global.b32 [%rd1], %r3;\n"
      "bar.sync 0;\nxor.b32 %r4, %thread, 37;\nmad.lo.u32 %r4, %block, %r2, %r4;\nmad.wide.u32 %rd2, %r4, 4, %in;\n"
      "ld.global.b32 %r5, [%rd2];\nadd.u32 %r4, %r4, 1;\nsub.u32 %r0, %r5, %r4;\nbar.sync 0;\n"
      "atom.global.add.u32 %r6, [%rd1], 1;\nld.global.u16 %r7, [%rd1];\nadd.u32 %r6, %r6, 1;\nsub.u32 %r7, %r7, %r6;\n"
      "or.b32 %r0, %r0, %r7;\n";
  std::string why;
  EXPECT_EQ(failures({kernel(body + kStoreResult), 5, 64}, 5 * kFewSeeds, &why), 0u) << why;
}

TEST(WeakMemory, EveryStoreArrivesByTheEnd) {
  for (uint64_t seed = 1; seed <= kFewSeeds; ++seed) {
    const Result result =
        run_text(kernel("mov.u32 %r30, %ntid.x;\nmad.lo.s32 %r0, %block, %r30, %thread;\n" + std::string(kStoreResult)),
                 {40}, {96}, 40 * 96, {0}, weak(seed));
    ASSERT_EQ(result.fault, "");
    for (uint32_t k = 0; k < 40 * 96; ++k) ASSERT_EQ(result.words[k], k) << seed;
  }
}

// Atomics with grid scope lose nothing; those with block scope do, between blocks.
TEST(WeakMemory, ScopeOfAtomics) {
  const auto total = [](const char* scope, uint64_t seed) {
    const std::string body = std::string("red.relaxed.") + scope + ".global.add.u32 [%out], 1;";
    Device device(profile_named("sm_90"));
    const Module module(kernel(body), device.profile, device.memory);
    uint32_t* out = device.zeros<uint32_t>(1);
    EXPECT_EQ(run(device, module, "k", {6}, {64}, pack_parameters(out, out), 0, weak(seed)), "");
    return *out;
  };
  uint64_t losses = 0;
  for (uint64_t seed = 1; seed <= kFewSeeds; ++seed) {
    EXPECT_EQ(total("gpu", seed), 6u * 64);
    losses += total("cta", seed) < 6u * 64;
  }
  EXPECT_GT(losses, 0u);
}

TEST(WeakMemory, SameSeedSameRun) {
  const Program p = grid_barrier("red.relaxed.gpu.global.add.u32", "ld.relaxed.gpu.global.u32");
  for (uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(failure(p, seed), failure(p, seed));
}

TEST(WeakMemory, NeedsASeed) {
  LaunchOptions options;
  options.weak_memory = true;
  EXPECT_THAT(run_text(kernel(""), {1}, {1}, 1, {0}, options).fault, HasSubstr("weak memory needs a seed"));
}

// A reader that sees the flag before its release arrives is not ordered after it. So if no race is reported, the flag
// was seen.
TEST(WeakMemory, ChecksOrderAReaderAfterWhatItSaw) {
  const std::string text =
      kernel(two_blocks("st.global.b32 [x], 42;\nst.release.gpu.global.b32 [y], 1;",
                        pause("wait") +
                            "ld.acquire.gpu.global.b32 %r0, [y];\nld.global.b32 %r2, [x];\nst.global.b32 [%out], %r0;"),
             kPlaces);
  uint64_t seen = 0;
  for (uint64_t seed = 1; seed <= 10 * kFewSeeds; ++seed) {
    LaunchOptions options = weak(seed);
    options.checks = Checks::all();
    options.cooperative = true;
    const Result result = run_text(text, {2}, {32}, 1, {0}, options);
    if (!result.fault.empty()) continue;
    ASSERT_EQ(result.words[0], 1u) << "seed " << seed;
    ++seen;
  }
  EXPECT_GT(seen, 0u);
}

// Finally a block reads 7 after a flag, and no race is reported.
void expect_sevens(const std::string& body, uint32_t blocks) {
  for (uint64_t seed = 1; seed <= 10 * kFewSeeds; ++seed) {
    LaunchOptions options = weak(seed);
    options.checks = Checks::all();
    options.cooperative = true;
    const Result result = run_text(kernel(body, kPlaces), {blocks}, {32}, blocks, {0}, options);
    ASSERT_EQ(result.fault, "") << "seed " << seed;
    ASSERT_EQ(result.words[blocks - 1], 7u) << "seed " << seed;
  }
}

// Two blocks release the same flag; the third is ordered after the one whose value it reads.
TEST(WeakMemory, ChecksReportNoRaceOfTwoReleases) {
  expect_sevens(
      "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra end;\nmad.wide.u32 %rd1, %block, 4, %out;\n"
      "setp.eq.u32 %p1, %block, 2;\n@%p1 bra poll;\nst.global.b32 [%rd1], 7;\nadd.u32 %r1, %block, 1;\n"
      "st.release.gpu.global.b32 [y], %r1;\nbra end;\npoll:\nld.acquire.gpu.global.b32 %r2, [y];\n"
      "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra poll;\nsub.u32 %r2, %r2, 1;\nmad.wide.u32 %rd2, %r2, 4, %out;\n"
      "ld.global.b32 %r3, [%rd2];\nst.global.b32 [%rd1], %r3;\nend:\n",
      3);
}

// A block stores a flag and then updates it atomically: the store arrives first, and the atomic releases both.
TEST(WeakMemory, ChecksReportNoRaceOfAStoreAndAnAtomic) {
  expect_sevens(two_blocks("st.release.gpu.global.b32 [y], 1;\nst.global.b32 [x], 7;\n"
                           "red.release.gpu.global.add.u32 [y], 1;",
                           "poll:\nld.acquire.gpu.global.b32 %r1, [y];\nsetp.ne.u32 %p2, %r1, 2;\n@%p2 bra poll;\n"
                           "ld.global.b32 %r2, [x];\nst.global.b32 [%out+4], %r2;"),
                2);
}

// The checks see the same program with and without weak memory.
TEST(WeakMemory, ChecksBesideReportNoRace) {
  const Program p = grid_barrier("red.release.gpu.global.add.u32", "ld.acquire.gpu.global.u32");
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    LaunchOptions options = weak(seed);
    options.checks = Checks::all();
    options.cooperative = true;
    EXPECT_EQ(run_text(p.text, {p.blocks}, {p.threads}, 256, std::vector<uint32_t>(256), options).fault, "");
  }
}

}  // namespace
}  // namespace ptx::emulator
