// Races in global memory between warps and blocks, by happens-before. Also non-coherent loads of memory that the launch
// writes.
#include <gmock/gmock.h>

#include "tests/emulator/seeded_fault.h"

namespace ptx::emulator {
namespace {

const char* const kFlag = ".global .align 4 .b32 flag;\n.global .align 4 .b32 datum;\n";

// Block 0 sends data to block 1 behind a flag, with one thread each.
std::string message(const std::string& send, const std::string& receive, const std::string& mark = "") {
  return thread_zero("setp.ne.u32 %p1, %block, 0;\n@%p1 bra receiver;\nst.global.b32 [datum], 42; // SENT\n" + send +
                     "\nbra done;\nreceiver:\n" + receive +
                     "\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra receiver;\nld.global.b32 %r0, [datum]; // " + mark +
                     "\nst.global.b32 [%out], %r0;\n");
}
const char* const kStaleDatum =
    "ld.global.b32 reads byte 0 of datum (4 bytes), written without order by line {SENT} st.global.b32 in block 0 "
    "thread 0; block 1 thread 0";

// Every block adds its word; the last one to arrive sums them all.
std::string last_block_sums(const std::string& before_counting, const std::string& after, const std::string& mark) {
  return thread_zero("mad.wide.u32 %rd1, %block, 4, %out;\nst.global.b32 [%rd1], %block; // THERE\n" + before_counting +
                     "\natom.global.add.u32 %r1, [flag], 1;\n" + after +
                     "\nsetp.ne.u32 %p1, %r1, 3;\n@%p1 bra done;\nld.global.b32 %r2, [%out]; // " + mark +
                     "\nld.global.b32 %r3, [%out+4];\nadd.u32 %r2, %r2, %r3;\nst.global.b32 [%out+32], %r2;\n");
}

// Both warps of a block store. The first thread meets the other block, and the second block's warps read.
std::string grid_barrier(const std::string& arrive, const std::string& wait, const std::string& mark) {
  return "mov.u32 %r9, %ntid.x;\nmad.lo.u32 %r2, %block, %r9, %thread;\nmad.wide.u32 %rd1, %r2, 4, %out;\n"
         "st.global.b32 [%rd1], %r2; // THERE\n" +
         arrive +
         "\nsetp.ne.u32 %p0, %thread, 0;\n@%p0 bra meet;\n"
         "atom.add.release.gpu.global.u32 %r3, [flag], 1;\nspin:\nld.acquire.gpu.global.b32 %r4, [flag];\n"
         "setp.lt.u32 %p1, %r4, 2;\n@%p1 bra spin;\nmeet:\n" +
         wait +
         "\nsetp.eq.u32 %p2, %block, 0;\n@%p2 bra done;\nxor.b32 %r2, %r2, 127;\nmad.wide.u32 %rd1, %r2, 4, "
         "%out;\nld.global.b32 %r5, [%rd1]; // " +
         mark + "\nst.global.b32 [%rd1+512], %r5;\ndone:\n";
}

const std::vector<SeededFault> kRows = {
    {"blocks_store_one_word",
     "",
     thread_zero("st.global.b32 [%out], %block; // HERE\n"),
     thread_zero("mad.wide.u32 %rd1, %block, 4, %out;\nst.global.b32 [%rd1], %block;"),
     {2},
     {32},
     "st.global.b32 writes byte 0 of out (256 bytes), written without order by line {HERE} st.global.b32 in block 0 "
     "thread 0; block 1 thread 0"},
    {"warps_of_a_block_exchange_words",
     "",
     "mad.wide.u32 %rd1, %thread, 4, %out;\nst.global.b32 [%rd1], %thread; // THERE\nxor.b32 %r1, %thread, 32;\n"
     "setp.ge.u32 %p0, %thread, 32;\nmad.wide.u32 %rd1, %r1, 4, %out;\n@%p0 ld.global.b32 %r0, [%rd1]; // HERE\n",
     "mad.wide.u32 %rd1, %thread, 4, %out;\nst.global.b32 [%rd1], %thread;\nxor.b32 %r1, %thread, 32;\nbar.sync 0;\n"
     "mad.wide.u32 %rd1, %r1, 4, %out;\nld.global.b32 %r0, [%rd1];\n",
     {1},
     {64},
     "ld.global.b32 reads byte 0 of out (256 bytes), written without order by line {THERE} st.global.b32 in block 0 "
     "thread 0; block 0 thread 32 and 31 more"},
    {"a_later_block_overwrites_what_one_read",
     "",
     "setp.ne.u32 %p1, %block, 0;\n@!%p1 ld.global.b32 %r0, [%in+4]; // THERE\n"
     "setp.eq.u32 %p0, %thread, 3;\nand.pred %p1, %p1, %p0;\n@%p1 st.global.b32 [%in+4], 1; // HERE\n",
     "ld.global.b32 %r0, [%in+4];\n",
     {2},
     {32},
     "st.global.b32 writes byte 4 of allocation 1 (8 bytes), read without order by line {THERE} ld.global.b32 in block "
     "0 "
     "thread 0; block 1 thread 3"},
    // bytes of one word belong to different blocks
    {"bytes_are_told_apart",
     "",
     thread_zero("cvt.u64.u32 %rd1, %block;\nadd.s64 %rd1, %rd1, %out;\nst.global.b8 [%rd1], %block; // THERE\n"
                 "ld.global.u8 %r0, [%out]; // HERE\n"),
     thread_zero("cvt.u64.u32 %rd1, %block;\nadd.s64 %rd1, %rd1, %out;\nst.global.b8 [%rd1], %block;\n"
                 "ld.global.u8 %r0, [%rd1];\n"),
     {2},
     {32},
     "ld.global.u8 reads byte 0 of out (256 bytes), written without order by line {THERE} st.global.b8 in block 0 "
     "thread "
     "0; block 1 thread 0"},
    {"plain_flag",
     kFlag,
     message("st.global.b32 [flag], 1; // THERE", "ld.global.b32 %r1, [flag]; // HERE"),
     message("st.release.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
     {2},
     {32},
     "ld.global.b32 reads byte 0 of flag (4 bytes), written without order by line {THERE} st.global.b32 in block 0 "
     "thread "
     "0; "
     "block 1 thread 0"},
    {"relaxed_flag_without_fences",
     kFlag,
     message("st.relaxed.gpu.global.b32 [flag], 1;", "ld.relaxed.gpu.global.b32 %r1, [flag];", "HERE"),
     message("fence.acq_rel.gpu;\nst.relaxed.gpu.global.b32 [flag], 1;",
             "ld.relaxed.gpu.global.b32 %r1, [flag];\nfence.acq_rel.gpu;"),
     {2},
     {32},
     kStaleDatum},
    {"fence_of_the_sender_missing",
     kFlag,
     message("st.relaxed.gpu.global.b32 [flag], 1;", "ld.relaxed.gpu.global.b32 %r1, [flag];\nfence.acq_rel.gpu;",
             "HERE"),
     message("fence.acq_rel.gpu;\nst.relaxed.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
     {2},
     {32},
     kStaleDatum},
    {"fence_of_the_receiver_missing",
     kFlag,
     message("fence.acq_rel.gpu;\nst.relaxed.gpu.global.b32 [flag], 1;", "ld.relaxed.gpu.global.b32 %r1, [flag];",
             "HERE"),
     message("st.release.gpu.global.b32 [flag], 1;", "ld.relaxed.gpu.global.b32 %r1, [flag];\nfence.acq_rel.gpu;"),
     {2},
     {32},
     kStaleDatum},
    {"fence_of_the_block_only",
     kFlag,
     message("membar.cta;\nst.relaxed.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];", "HERE"),
     message("membar.gl;\nst.relaxed.gpu.global.b32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
     {2},
     {32},
     kStaleDatum},
    {"volatile_flag_without_fences",
     kFlag,
     message("st.volatile.global.b32 [flag], 1;", "ld.volatile.global.b32 %r1, [flag];", "HERE"),
     message("membar.gl;\nst.volatile.global.b32 [flag], 1;", "ld.volatile.global.b32 %r1, [flag];\nmembar.gl;"),
     {2},
     {32},
     kStaleDatum},
    {"counter_that_orders_nothing",
     kFlag,
     message("red.relaxed.gpu.global.add.u32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];", "HERE"),
     message("red.release.gpu.global.add.u32 [flag], 1;", "ld.acquire.gpu.global.b32 %r1, [flag];"),
     {2},
     {32},
     kStaleDatum},
    {"atomic_of_the_block_only",
     kFlag,
     thread_zero("red.relaxed.cta.global.add.u32 [flag], 1; // HERE\n"),
     thread_zero("red.relaxed.gpu.global.add.u32 [flag], 1;\n"),
     {2},
     {32},
     "red.relaxed.cta.global.add.u32 accesses byte 0 of flag (4 bytes), written without order by line {HERE} "
     "red.relaxed.cta.global.add.u32 in block 0 thread 0; block 1 thread 0"},
    {"plain_read_of_a_counter",
     kFlag,
     thread_zero("red.global.add.u32 [flag], 1; // THERE\nsetp.eq.u32 %p1, %block, 1;\n@%p1 ld.global.b32 %r0, [flag]; "
                 "// HERE\n"),
     thread_zero("red.global.add.u32 [flag], 1;\nld.relaxed.gpu.global.b32 %r0, [flag];\n"),
     {2},
     {32},
     "ld.global.b32 reads byte 0 of flag (4 bytes), written without order by line {THERE} red.global.add.u32 in block "
     "0 "
     "thread 0; block 1 thread 0"},
    {"last_block_without_fences",
     kFlag,
     last_block_sums("", "", "HERE"),
     last_block_sums("membar.gl;", "membar.gl;", ""),
     {4},
     {32},
     "ld.global.b32 reads byte 0 of out (256 bytes), written without order by line {THERE} st.global.b32 in block 0 "
     "thread 0; block 3 thread 0"},
    // a release covers only what its own warp did: the other warp must have synchronised before
    {"grid_barrier_without_block_barrier_before",
     kFlag,
     grid_barrier("", "bar.sync 0;", "HERE"),
     grid_barrier("bar.sync 0;", "bar.sync 0;", ""),
     {2},
     {64},
     "ld.global.b32 reads byte 252 of out (1,024 bytes), written without order by line {THERE} st.global.b32 in block "
     "0 "
     "thread 63; block 1 thread 0 and 31 more",
     true,
     256},
    {"grid_barrier_without_block_barrier_after",
     kFlag,
     grid_barrier("bar.sync 0;", "", "HERE"),
     grid_barrier("bar.sync 0;", "bar.sync 0;", ""),
     {2},
     {64},
     "ld.global.b32 reads byte 124 of out (1,024 bytes), written without order by line {THERE} st.global.b32 in block "
     "0 "
     "thread 31; block 1 thread 32 and 31 more",
     true,
     256},
};
SEEDED_FAULTS(GlobalRace, kRows);

TEST(GlobalRace, TooNarrowRelease) {  // reported at the flag itself
  LaunchOptions options;
  options.checks = Checks::all();
  const std::string text = kernel(
      message("st.release.cta.global.b32 [flag], 1; // THERE\n", "ld.acquire.gpu.global.b32 %r1, [flag]; // HERE\n"),
      kFlag);
  EXPECT_EQ(run_text(text, {2}, {32}, 64, {5}, options).fault,
            "emulator: k line " + std::to_string(line_of(text, "HERE")) +
                ": ld.acquire.gpu.global.b32 reads byte 0 of flag (4 bytes), written without order by line " +
                std::to_string(line_of(text, "THERE")) +
                " st.release.cta.global.b32 in block 0 thread 0; block 1 thread 0");
}

TEST(GlobalRace, StoresOfTheSameValueCanBeLeftOut) {
  const auto stores = [](const std::string& value) { return kernel("st.global.b32 [%out+4], " + value + ";\n"); };
  LaunchOptions all{.checks = Checks::all()}, others = all;
  others.checks.equal_stores = false;
  EXPECT_NE(run_text(stores("9"), {3}, {64}, 4, {0}, all).fault, "");
  EXPECT_EQ(run_text(stores("9"), {3}, {64}, 4, {0}, others).fault, "");
  EXPECT_NE(run_text(stores("%block"), {3}, {64}, 4, {0}, others).fault, "");
}

// Blocks use a piece of the heap one after the other, and read a piece that another block has freed.
TEST(GlobalRace, DeviceMemoryIsUsedAgain) {
  const std::string heap =
      ".extern .func (.param .b64 result) malloc(.param .b64 bytes);\n.extern .func free(.param .b64 address);\n";
  const std::string text = kernel(
      thread_zero("{\n.param .b64 bytes; .param .b64 result;\nst.param.b64 [bytes], 5000;\n"
                  "call (result), malloc, (bytes);\nld.param.b64 %rd1, [result];\n}\n"
                  "st.b32 [%rd1], %block;\nst.b32 [%rd1+4996], %block;\nld.b32 %r1, [%rd1];\nld.b32 %r2, [%rd1+4996];\n"
                  "add.u32 %r1, %r1, %r2;\nmad.wide.u32 %rd2, %block, 4, %out;\nst.global.b32 [%rd2], %r1;\n"
                  "{\n.param .b64 address;\nst.param.b64 [address], %rd1;\ncall free, (address);\n}\n"),
      heap);
  const Result r = run_text(text, {4}, {32}, 4, {0}, {.checks = Checks::all()});
  EXPECT_EQ(r.fault, "");
  EXPECT_EQ(r.words, (std::vector<uint32_t>{0, 2, 4, 6}));
}

// Threads of block 0 read eight 16-bit values each, 34 bytes from the next thread's. Then one of block 1 writes a byte.
std::string write_behind_a_loop(uint32_t byte) {
  return kernel(
      "setp.ne.u32 %p0, %block, 0;\n@%p0 bra writer;\nmul.wide.u32 %rd1, %thread, 34;\nadd.u64 %rd1, %rd1, %in;\n"
      "mov.u32 %r1, 0;\nagain:\nld.global.u16 %h1, [%rd1]; // THERE\nadd.u64 %rd1, %rd1, 2;\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra again;\nbra done;\nwriter:\nsetp.ne.u32 %p2, %thread, 9;\n"
      "@%p2 bra done;\nst.global.u8 [%in+" +
      std::to_string(byte) + "], 1; // HERE\ndone:\n");
}

TEST(GlobalRace, ReadsOfALoopAreToldApart) {
  LaunchOptions options;
  options.checks = Checks::all();
  const auto fault_at = [&](uint32_t byte) {
    const std::vector<uint32_t> in(1024);
    return run_text(write_behind_a_loop(byte), {2}, {64}, 1, in, options).fault;
  };
  const std::string text = write_behind_a_loop(0);
  const uint32_t start = 37 * 34;  // of thread 37's data
  EXPECT_EQ(fault_at(start + 12),
            with_lines("emulator: k line {HERE}: st.global.u8 writes byte 1,270 of allocation 1 (4,096 bytes), read "
                       "without order by line {THERE} ld.global.u16 in block 0 thread 37; block 1 thread 9",
                       text));
  EXPECT_THAT(fault_at(start), ::testing::HasSubstr("in block 0 thread 37;"));
  EXPECT_THAT(fault_at(start + 15), ::testing::HasSubstr("in block 0 thread 37;"));
  EXPECT_EQ(fault_at(start - 1), "");
  EXPECT_EQ(fault_at(start + 16), "");
}

const std::vector<SeededFault> kReadOnlyRows = {
    {"written_and_then_read",
     "",
     "st.global.b32 [%out], 1; // THERE\nld.global.nc.b32 %r0, [%out]; // HERE\n",
     "st.global.b32 [%out], 1;\nld.global.b32 %r0, [%out];\n",
     {1},
     {1},
     "ld.global.nc.b32 reads byte 0 of out (256 bytes), written in this launch by line {THERE} st.global.b32 in block "
     "0 "
     "thread 0; block 0 thread 0"},
    {"read_and_then_written",
     "",
     "ld.global.nc.b32 %r0, [%in]; // THERE\nst.global.b32 [%in], 1; // HERE\n",
     "ld.global.nc.b32 %r0, [%in];\nst.global.b32 [%out], %r0;\n",
     {1},
     {1},
     "st.global.b32 writes byte 0 of allocation 1 (8 bytes), read in this launch without coherence by line {THERE} "
     "ld.global.nc.b32 in block 0 thread 0; block 0 thread 0"},
    {"written_by_an_atomic",
     "",
     "red.global.add.u32 [%in], 1; // THERE\nld.global.nc.b32 %r0, [%in]; // HERE\n",
     "red.global.add.u32 [%in], 1;\nld.global.nc.b32 %r0, [%in+4];\n",
     {1},
     {1},
     "ld.global.nc.b32 reads byte 0 of allocation 1 (8 bytes), written in this launch by line {THERE} "
     "red.global.add.u32 in block 0 thread 0; block 0 thread 0"},
    // a coherent read in between does not hide the other one
    {"read_both_ways_and_then_written",
     "",
     "ld.global.nc.b32 %r0, [%in]; // THERE\nbar.sync 0;\nld.global.b32 %r0, [%in];\nbar.sync 0;\n"
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 st.global.b32 [%in], 1; // HERE\n",
     "ld.global.b32 %r0, [%in];\nbar.sync 0;\nld.global.b32 %r0, [%in];\nbar.sync 0;\n"
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 st.global.b32 [%in], 1;\n",
     {1},
     {32},
     "st.global.b32 writes byte 0 of allocation 1 (8 bytes), read in this launch without coherence by line {THERE} "
     "ld.global.nc.b32 in block 0 thread 0; block 0 thread 0"},
};
SEEDED_FAULTS(NonCoherentLoad, kReadOnlyRows);

}  // namespace
}  // namespace ptx::emulator
