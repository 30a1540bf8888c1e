// Races in shared memory: between the warps of a block, and between the lanes of one warp.
#include "tests/emulator/seeded_fault.h"

namespace ptx::emulator {
namespace {

const char* const kShared = ".shared .align 16 .b32 words[256];\n";
const char* const kObject = ".shared .align 16 .b64 object[2];\n.shared .align 16 .b32 words[256];\n";
const std::string kOwn = "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 4, %r1;\n";
const std::string kStoreOwn = kOwn + "st.shared.b32 [%r2], %thread; // THERE\n";

const std::string kOwnRow =
    "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 16, %r1;\n"
    "st.shared.v4.b32 [%r2], {%thread, %thread, %thread, %thread}; // THERE\n";
const std::string kStoreFragment =  // afterwards %r2 is where the emulator put the lane's first element
    "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 32, %r1;\nmov.f32 %f1, 0f3F800000;\n"
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}; // THERE\n";
const std::string kLoadFragment =
    "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9}, [%r1];";

// Every thread reads the word of the thread whose number differs in `bits`.
std::string load_neighbours(const std::string& bits, const std::string& mark = "") {
  return "xor.b32 %r3, %thread, " + bits + ";\nmad.lo.u32 %r3, %r3, 4, %r1;\nld.shared.b32 %r0, [%r3]; // " + mark +
         "\n" + kStoreResult;
}

const std::vector<SeededFault> kRows = {
    {"read_of_another_warps_word",
     kShared,
     kStoreOwn + "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra done;\n" + load_neighbours("32", "HERE") + "done:\n",
     kStoreOwn + "bar.sync 0;\n" + load_neighbours("32"),
     {1},
     {64},
     "ld.shared.b32 reads shared byte 0, written without order by line {THERE} st.shared.b32 in block 0 thread 0; "
     "block 0 thread 32 and 31 more"},
    {"read_of_another_lanes_word",
     kShared,
     kStoreOwn + load_neighbours("1", "HERE"),
     kStoreOwn + "bar.warp.sync -1;\n" + load_neighbours("1"),
     {1},
     {32},
     "ld.shared.b32 reads shared byte 4, written without order by line {THERE} st.shared.b32 in block 0 thread 1; "
     "block 0 thread 0 and 31 more"},
    {"lanes_may_meet_at_a_block_barrier",
     kShared,
     kStoreOwn + load_neighbours("1", "HERE"),
     kStoreOwn + "bar.sync 0;\n" + load_neighbours("1"),
     {1},
     {32},
     "ld.shared.b32 reads shared byte 4, written without order by line {THERE} st.shared.b32 in block 0 thread 1; "
     "block 0 thread 0 and 31 more"},
    // lanes 16 to 31 synchronise among themselves, which does not order their partners in 0 to 15
    {"halves_of_a_warp_meet_apart",
     kShared,
     kStoreOwn + "setp.lt.u32 %p1, %thread, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, %p1;\nbar.warp.sync %r4;\n" +
         load_neighbours("16", "HERE"),
     kStoreOwn + "setp.lt.u32 %p1, %thread, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, %p1;\nbar.warp.sync %r4;\n" +
         load_neighbours("8"),
     {1},
     {32},
     "ld.shared.b32 reads shared byte 64, written without order by line {THERE} st.shared.b32 in block 0 thread 16; "
     "block 0 thread 0 and 31 more"},
    {"a_vote_orders_no_memory",
     kShared,
     kStoreOwn + "vote.sync.any.pred %p1, 1, -1;\n" + load_neighbours("1", "HERE"),
     kStoreOwn + "vote.sync.any.pred %p1, 1, -1;\nbar.warp.sync -1;\n" + load_neighbours("1"),
     {1},
     {32},
     "ld.shared.b32 reads shared byte 4, written without order by line {THERE} st.shared.b32 in block 0 thread 1; "
     "block 0 thread 0 and 31 more"},
    {"next_round_overwrites_what_others_read",
     kShared,
     kOwn +
         "st.shared.b32 [%r2], %thread;\nbar.sync 0;\nxor.b32 %r3, %thread, 32;\nmad.lo.u32 %r3, %r3, 4, %r1;\n"
         "ld.shared.b32 %r0, [%r3]; // THERE\nsetp.lt.u32 %p0, %thread, 32;\n@%p0 st.shared.b32 [%r2], %r0; // HERE\n",
     kOwn + "st.shared.b32 [%r2], %thread;\nbar.sync 0;\nxor.b32 %r3, %thread, 32;\nmad.lo.u32 %r3, %r3, 4, %r1;\n"
            "ld.shared.b32 %r0, [%r3];\nbar.sync 0;\nst.shared.b32 [%r2], %r0;\n",
     {1},
     {64},
     "st.shared.b32 writes shared byte 0, read without order by line {THERE} ld.shared.b32 in block 0 thread 32; "
     "block 0 thread 0 and 31 more"},
    {"two_warps_store_one_word",
     kShared,
     "st.shared.b32 [words+4], 1; // HERE\n",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 st.shared.b32 [words+4], 1;",
     {1},
     {64},
     "st.shared.b32 writes shared byte 4, written without order by line {HERE} st.shared.b32 in block 0 thread 31; "
     "block 0 thread 32 and 31 more"},
    {"a_lane_overwrites_what_all_read",
     kShared,
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 st.shared.b32 [words], 1;\nbar.sync 0;\nld.shared.b32 %r0, [words]; // THERE\n"
     "@%p0 st.shared.b32 [words], 2; // HERE\n",
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 st.shared.b32 [words], 1;\nbar.sync 0;\nld.shared.b32 %r0, [words];\n"
     "bar.warp.sync -1;\n@%p0 st.shared.b32 [words], 2;\n",
     {1},
     {32},
     "st.shared.b32 writes shared byte 0, read without order by line {THERE} ld.shared.b32 in block 0 thread 1; "
     "block 0 thread 0"},
    // neighbours share words but no bytes
    {"bytes_are_told_apart",
     kShared,
     "mov.u32 %r1, words;\nadd.u32 %r1, %r1, %thread;\nst.shared.u8 [%r1], %thread; // THERE\n"
     "ld.shared.u8 %r0, [%r1+1]; // HERE\n",
     "mov.u32 %r1, words;\nadd.u32 %r1, %r1, %thread;\nst.shared.u8 [%r1], %thread;\nld.shared.u8 %r0, [%r1];\n",
     {1},
     {31},
     "ld.shared.u8 reads shared byte 1, written without order by line {THERE} st.shared.u8 in block 0 thread 1; "
     "block 0 thread 0 and 29 more"},
    {"plain_store_beside_atomics",
     kShared,
     "setp.ge.u32 %p0, %thread, 32;\n@!%p0 st.shared.b32 [words], 0; // THERE\n"
     "@%p0 red.shared.add.u32 [words], 1; // HERE\n",
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 st.shared.b32 [words], 0;\nbar.sync 0;\nred.shared.add.u32 [words], 1;\n",
     {1},
     {64},
     "red.shared.add.u32 accesses shared byte 0, written without order by line {THERE} st.shared.b32 in block 0 "
     "thread "
     "31; block 0 thread 32 and 31 more"},
    // the mapping of matrix elements to lanes is unspecified, so each may belong to another lane
    {"rows_loaded_as_a_matrix",
     kShared,
     kOwnRow + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2]; // HERE\n",
     kOwnRow + "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];\n",
     {1},
     {32},
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 reads shared byte 0, written without order by line {THERE} "
     "st.shared.v4.b32 in block 0 thread 0; block 0 thread 0 and 31 more"},
    {"a_fragment_read_element_by_element",
     kShared,
     kStoreFragment + "ld.shared.b32 %r0, [%r2]; // HERE\n",
     kStoreFragment + "bar.warp.sync -1;\nld.shared.b32 %r0, [%r2];\n",
     {1},
     {32},
     "ld.shared.b32 reads shared byte 0, written without order by line {THERE} "
     "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 in block 0 thread 0; block 0 thread 0 and 31 more"},
    {"a_fragment_loaded_where_another_was_stored",
     kShared,
     kStoreFragment + kLoadFragment + " // HERE\n",
     kStoreFragment + "bar.warp.sync -1;\n" + kLoadFragment + "\n",
     {1},
     {32},
     "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 reads shared byte 0, written without order by line {THERE} "
     "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 in block 0 thread 0; block 0 thread 0 and 31 more"},
    {"a_barrier_of_other_warps",
     kShared,
     "setp.ge.u32 %p0, %thread, 64;\nsetp.eq.u32 %p1, %thread, 0;\n@%p1 st.shared.b32 [words], 1; // THERE\n"
     "@%p0 bra third;\nbar.sync 1, 64;\nbra done;\nthird:\nld.shared.b32 %r0, [words]; // HERE\ndone:\n",
     "setp.ge.u32 %p0, %thread, 64;\nsetp.eq.u32 %p1, %thread, 0;\n@%p1 st.shared.b32 [words], 1;\n"
     "@%p0 bra third;\nbar.sync 1, 96;\nbra done;\nthird:\nbar.sync 1, 96;\nld.shared.b32 %r0, [words];\ndone:\n",
     {1},
     {96},
     "ld.shared.b32 reads shared byte 0, written without order by line {THERE} st.shared.b32 in block 0 thread 0; "
     "block 0 thread 64 and 31 more"},
    {"a_barrier_object_without_a_wait",
     kObject,
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 mbarrier.init.shared.b64 [object], 1;\nbar.sync 0;\n"
     "setp.ge.u32 %p1, %thread, 32;\n@%p1 bra consumer;\nst.shared.b32 [words], 7; // HERE\n"
     "@%p0 mbarrier.arrive.shared.b64 %rd1, [object];\nbra done;\nconsumer:\nld.shared.b32 %r0, [words]; // "
     "THERE\ndone:\n",
     "setp.eq.u32 %p0, %thread, 0;\n@%p0 mbarrier.init.shared.b64 [object], 1;\nbar.sync 0;\n"
     "setp.ge.u32 %p1, %thread, 32;\n@%p1 bra consumer;\nst.shared.b32 [words], 7;\n"
     "@%p0 mbarrier.arrive.shared.b64 %rd1, [object];\nbra done;\nconsumer:\n"
     "mbarrier.try_wait.parity.shared.b64 %p2, [object], 0;\n@!%p2 bra consumer;\nld.shared.b32 %r0, [words];\ndone:\n",
     {1},
     {64},
     "st.shared.b32 writes shared byte 16, read without order by line {THERE} ld.shared.b32 in block 0 thread 33; "
     "block 0 thread 0 and 31 more"},
};
SEEDED_FAULTS(SharedRace, kRows);

// Lanes of one instruction never race; any one of several stores to a word wins.
TEST(SharedRace, OneInstructionIsOneAccess) {
  LaunchOptions options;
  options.checks = Checks::all();
  EXPECT_EQ(run_text(kernel("st.shared.b32 [words], %thread;\nbar.warp.sync -1;\nld.shared.b32 %r0, [words];", kShared),
                     {1}, {32}, 64, {5}, options)
                .fault,
            "");
}

// Histograms and reductions store the same value from many threads, so that check can be turned off.
TEST(SharedRace, StoresOfTheSameValueCanBeLeftOut) {
  const auto stores = [](const std::string& value) {
    return kernel("shr.u32 %r1, %thread, 5;\nst.shared.v2.b32 [words+8], {7, " + value + "};\n", kShared);
  };
  LaunchOptions all{.checks = Checks::all()}, others = all;
  others.checks.equal_stores = false;
  EXPECT_NE(run_text(stores("9"), {1}, {128}, 1, {0}, all).fault, "");
  EXPECT_EQ(run_text(stores("9"), {1}, {128}, 1, {0}, others).fault, "");
  EXPECT_NE(run_text(stores("%r1"), {1}, {128}, 1, {0}, others).fault, "");
  const std::string read_too = kernel(
      "setp.lt.u32 %p0, %thread, 32;\n@%p0 st.shared.b32 [words], 7;\n@!%p0 ld.shared.b32 %r0, [words];\n", kShared);
  EXPECT_NE(run_text(read_too, {1}, {64}, 1, {0}, others).fault, "");
}

}  // namespace
}  // namespace ptx::emulator
