// Seeded bugs: for each check a kernel with exactly that fault, reported at the right place, and its mended twin.
#include <gmock/gmock.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

struct Seeded {
  const char* name;
  const char* before;  // module scope
  std::string broken, mended;
  Dim3 grid, block;
  const char* expected;  // part of the fault
};

const char* const kShared = ".shared .align 4 .b32 words[256];\n";
const char* const kFlag = ".global .align 4 .b32 flag;\n.global .align 4 .b32 datum;\n";

std::string thread_zero(const std::string& body) {
  return "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra done;\n" + body + "\ndone:\n";
}

// Neighbours exchange words through shared memory; `between` orders the store before the load.
std::string exchange(const std::string& between, const std::string& neighbour) {
  return "mov.u32 %r1, words;\nmad.lo.s32 %r2, %thread, 4, %r1;\nst.shared.b32 [%r2], %thread;\n" + between +
         "\nxor.b32 %r3, %thread, " + neighbour + ";\nmad.lo.s32 %r3, %r3, 4, %r1;\nld.shared.b32 %r0, [%r3];\n" +
         kStoreResult;
}

// Block 0 sends a datum to block 1 behind a flag.
std::string message(const std::string& send, const std::string& receive) {
  return thread_zero(
      "setp.ne.u32 %p1, %block, 0;\n@%p1 bra receiver;\n"
      "st.global.b32 [datum], 42;\n" +
      send + "\nbra done;\nreceiver:\n" + receive +
      "\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra receiver;\nld.global.b32 %r0, [datum];\nst.global.b32 [%out], %r0;\n");
}

const std::vector<Seeded>& seeded_bugs() {
  static const std::vector<Seeded> rows = {
      {"store_beyond_the_buffer",
       "",
       "mad.wide.u32 %rd1, %thread, 4, %out;\nst.global.b32 [%rd1+4], %thread;",
       "mad.wide.u32 %rd1, %thread, 4, %out;\nst.global.b32 [%rd1], %thread;",
       {1},
       {64},
       "writes byte 256 of out (256 bytes); block 0 thread 63"},
      {"load_before_the_buffer",
       "",
       "ld.global.b32 %r0, [%in+-4];\nst.global.b32 [%out], %r0;",
       "ld.global.b32 %r0, [%in];\nst.global.b32 [%out], %r0;",
       {1},
       {1},
       "ld.global.b32 reads"},
      {"uninitialised_global_word",
       "",
       "ld.global.b32 %r0, [%out+4];\nst.global.b32 [%out], %r0;",
       "st.global.b32 [%out+4], 1;\nld.global.b32 %r0, [%out+4];\nst.global.b32 [%out], %r0;",
       {1},
       {1},
       "reads byte 4 of out (256 bytes), which was never written"},
      {"uninitialised_shared_word",
       kShared,
       thread_zero("ld.shared.b32 %r0, [words+8];\nst.global.b32 [%out], %r0;"),
       thread_zero("st.shared.b32 [words+8], 3;\nld.shared.b32 %r0, [words+8];\nst.global.b32 [%out], %r0;"),
       {1},
       {32},
       "reads shared byte 8, which was never written"},
      {"missing_block_barrier",
       kShared,
       exchange("", "32"),
       exchange("bar.sync 0;", "32"),
       {1},
       {64},
       "reads shared byte"},
      {"missing_warp_barrier",
       kShared,
       exchange("", "1"),
       exchange("bar.warp.sync -1;", "1"),
       {1},
       {32},
       "without order by"},
      {"plain_flag_between_blocks",
       kFlag,
       message("st.global.b32 [flag], 1;", "ld.global.b32 %r1, [flag];"),
       message("st.release.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
       {2},
       {32},
       "without order by"},
      {"relaxed_flag_without_fences",
       kFlag,
       message("st.relaxed.gpu.global.b32 [flag], 1;", "ld.relaxed.gpu.global.b32 %r1, [flag];"),
       message("fence.acq_rel.gpu;\nst.relaxed.gpu.global.b32 [flag], 1;",
               "ld.relaxed.gpu.global.b32 %r1, [flag];\nfence.acq_rel.gpu;"),
       {2},
       {32},
       "ld.global.b32 reads byte 0 of datum"},
      {"release_of_the_block_only",
       kFlag,
       message("st.release.cta.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
       message("st.release.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
       {2},
       {32},
       "ld.acquire.gpu.global.b32 reads byte 0 of flag (4 bytes), written without order by line 18"},
      {"atomic_counter_orders_nothing",
       kFlag,
       message("red.relaxed.gpu.global.add.u32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
       message("red.release.gpu.global.add.u32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
       {2},
       {32},
       "ld.global.b32 reads byte 0 of datum"},
      {"blocks_write_one_word",
       "",
       thread_zero("st.global.b32 [%out], %block;"),
       thread_zero("mad.wide.u32 %rd1, %block, 4, %out;\nst.global.b32 [%rd1], %block;"),
       {2},
       {32},
       "written without order by line"},
      {"barrier_in_a_branch",
       "",
       "setp.lt.u32 %p0, %thread, 16;\n@!%p0 bra other;\nbar.sync 0;\nbra done;\nother: bar.sync 0;\ndone:",
       "setp.lt.u32 %p0, %thread, 16;\n@!%p0 bra done;\ndone:\nbar.sync 0;",
       {1},
       {64},
       "bar.sync is reached by 16 of 32 lanes of its warp"},
      {"barrier_of_other_counts",
       "",
       "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra few;\nbar.sync 1, 64;\nbra done;\nfew: bar.sync 1, 96;\ndone:",
       "bar.sync 1, 64;",
       {1},
       {64},
       "others expect"},
      {"non_coherent_load_of_written_memory",
       "",
       thread_zero("st.global.b32 [%out], 1;\nld.global.nc.b32 %r0, [%out];\nst.global.b32 [%out+4], %r0;"),
       thread_zero("st.global.b32 [%out], 1;\nld.global.nc.b32 %r0, [%in];\nst.global.b32 [%out+4], %r0;"),
       {1},
       {32},
       "ld.global.nc.b32 reads byte 0 of out"},
  };
  return rows;
}

class SeededBug : public ::testing::TestWithParam<Seeded> {};

TEST_P(SeededBug, IsReportedAndItsTwinRunsClean) {
  const Seeded& c = GetParam();
  LaunchOptions options;
  options.checks = Checks::all();
  EXPECT_THAT(run_text(kernel(c.broken, c.before), c.grid, c.block, 64, {5}, options).fault, HasSubstr(c.expected));
  EXPECT_EQ(run_text(kernel(c.mended, c.before), c.grid, c.block, 64, {5}, options).fault, "");
}

INSTANTIATE_TEST_SUITE_P(All, SeededBug, ::testing::ValuesIn(seeded_bugs()),
                         [](const auto& row) { return row.param.name; });

TEST(Check, MessageNamesEverything) {
  LaunchOptions options;
  options.checks.bounds = true;
  const std::string text = kernel("mad.wide.u32 %rd1, %thread, 4, %out;\nst.global.b32 [%rd1+4], %thread;");
  EXPECT_EQ(run_text(text, {1}, {64}, 64, {5}, options).fault,
            "emulator: k line 12: st.global.b32 writes byte 256 of out (256 bytes); block 0 thread 63");
}

// Faults that need no check.
TEST(Fault, WithoutChecks) {
  const struct {
    const char *name, *body, *expected;
  } rows[] = {
      {"null pointer", "mov.b64 %rd1, 0;\nst.global.b32 [%rd1], 1;", "near the null pointer"},
      {"unmapped", "mov.b64 %rd1, 0x5000000000;\nld.global.b32 %r0, [%rd1];", "belongs to no allocation"},
      {"misaligned", "ld.global.b32 %r0, [%in+2];", "not a multiple of 4"},
      {"misaligned vector", "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+4];", "not a multiple of 16"},
      {"beyond shared", "mov.u32 %r1, 4096;\nst.shared.b32 [%r1], 1;", "shared byte 4,096"},
      {"trap", "trap;", "traps"},
      {"deadlock", "setp.lt.u32 %p0, %thread, 32;\n@%p0 bar.sync 1, 64;", "waits for threads that never come"},
  };
  for (const auto& row : rows)
    EXPECT_THAT(run_text(kernel(row.body), {1}, {32}, 64).fault, HasSubstr(row.expected)) << row.name;
}

TEST(Fault, FreedMemory) {
  Device device;
  const Module module(kernel("ld.global.b32 %r0, [%in];\nst.global.b32 [%out], %r0;"), device.profile, device.memory);
  uint32_t* out = device.zeros<uint32_t>(1);
  uint32_t* in = device.upload(std::vector<uint32_t>(64, 7));
  device.memory.free(reinterpret_cast<uint64_t>(in));
  LaunchOptions options;
  options.checks.bounds = true;
  EXPECT_THAT(run(device, module, "k", {1}, {1}, pack_parameters(out, in), 0, options),
              HasSubstr("reads byte 0 of freed allocation 1 (256 bytes)"));
}

TEST(Fault, GuardedLanesNeitherFaultNorWrite) {
  const Result result = run_text(kernel("mov.b64 %rd1, 0;\nsetp.eq.u32 %p0, %thread, 99;\nmov.u32 %r0, 3;\n@%p0 "
                                        "ld.global.b32 %r0, [%rd1];\n@%p0 st.global.b32 [%rd1], 1;\n" +
                                        std::string(kStoreResult)),
                                 {1}, {64}, 64);
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.words[63], 3u);
}

}  // namespace
}  // namespace ptx::emulator
