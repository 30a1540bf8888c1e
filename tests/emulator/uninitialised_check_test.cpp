// Reads of uninitialised registers, shared and global memory.
#include "tests/emulator/seeded_fault.h"

namespace ptx::emulator {
namespace {

const char* const kShared = ".shared .align 4 .b32 words[256];\n";
const char* const kStore = "st.global.b32 [%out], %r0;";

const std::vector<SeededFault> kMemoryRows = {
    {"global_word",
     "",
     std::string("ld.global.b32 %r0, [%out+4]; // HERE\n") + kStore,
     std::string("st.global.b32 [%out+4], 1;\nld.global.b32 %r0, [%out+4];\n") + kStore,
     {1},
     {1},
     "ld.global.b32 reads byte 4 of out (256 bytes), which was never written; block 0 thread 0"},
    {"one_element_of_a_vector",
     "",
     "st.global.b32 [%out+16], 1;\nst.global.b32 [%out+20], 1;\nst.global.b32 [%out+28], 1;\n"
     "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%out+16]; // HERE\nadd.s32 %r0, %r0, %r2;\n" +
         std::string(kStore),
     "st.global.b32 [%out+16], 1;\nst.global.b32 [%out+20], 1;\nst.global.b32 [%out+28], 1;\n"
     "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%out+16];\nadd.s32 %r0, %r0, %r1;\n" +
         std::string(kStore),  // loaded but not used
     {1},
     {1},
     "ld.global.v4.b32 reads byte 24 of out (256 bytes), which was never written; block 0 thread 0"},
    {"an_atomic_counts_from_something",
     "",
     "red.global.add.u32 [%out+8], 1; // HERE\n",
     "st.global.b32 [%out+8], 0;\nred.global.add.u32 [%out+8], 1;",
     {1},
     {1},
     "red.global.add.u32 accesses byte 8 of out (256 bytes), which was never written; block 0 thread 0"},
    {"shared_word",
     kShared,
     std::string("ld.shared.b32 %r0, [words+8]; // HERE\n") + kStore,
     std::string("st.shared.b32 [words+8], 3;\nld.shared.b32 %r0, [words+8];\n") + kStore,
     {1},
     {1},
     "ld.shared.b32 reads shared byte 8, which was never written; block 0 thread 0"},
    {"shared_byte_beside_a_written_one",
     kShared,
     std::string("st.shared.b8 [words+9], %thread;\nld.shared.u8 %r0, [words+10]; // HERE\n") + kStore,
     std::string("st.shared.b8 [words+9], %thread;\nld.shared.u8 %r0, [words+9];\n") + kStore,
     {1},
     {1},
     "ld.shared.u8 reads shared byte 10, which was never written; block 0 thread 0"},
    {"what_another_block_left_in_shared_memory",
     kShared,
     "setp.ne.u32 %p0, %block, 0;\n@!%p0 st.shared.b32 [words], 1;\n@%p0 ld.shared.b32 %r0, [words]; // HERE\n"
     "@%p0 st.global.b32 [%out], %r0;\n",
     "setp.ne.u32 %p0, %block, 0;\nst.shared.b32 [words], 1;\n@%p0 ld.shared.b32 %r0, [words];\n"
     "@%p0 st.global.b32 [%out], %r0;\n",
     {2},
     {1},
     "ld.shared.b32 reads shared byte 0, which was never written; block 1 thread 0"},
};
SEEDED_FAULTS(UninitialisedMemory, kMemoryRows);

const std::string kOwnWord = "mad.wide.u32 %rd1, %thread, 4, %out;\n";

const std::vector<SeededFault> kRegisterRows = {
    {"stored",
     "",
     "st.global.b32 [%out], %r5; // HERE\n",
     "mov.u32 %r5, 1;\nst.global.b32 [%out], %r5;",
     {1},
     {1},
     "st.global.b32 reads %r5, which was never written; block 0 thread 0"},
    {"used_as_an_address",
     "",
     "st.global.b32 [%rd5], 1; // HERE\n",
     "mov.b64 %rd5, %out;\nst.global.b32 [%rd5], 1;",
     {1},
     {1},
     "st.global.b32 reads %rd5, which was never written; block 0 thread 0"},
    {"decides_a_branch",
     "",
     "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra over; // HERE\nst.global.b32 [%out], 1;\nover:\n",
     "mov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra over;\nst.global.b32 [%out], 1;\nover:\n",
     {1},
     {32},
     "bra reads %p1, computed from %r5, which was never written; block 0 thread 0 and 31 more"},
    {"guards_a_store",
     "",
     "@%p1 st.global.b32 [%out], 1; // HERE\n",
     "setp.eq.u32 %p1, %thread, 0;\n@%p1 st.global.b32 [%out], 1;",
     {1},
     {1},
     "st.global.b32 reads %p1, which was never written; block 0 thread 0"},
    {"through_copies_and_arithmetic",
     "",
     "mov.u32 %r6, %r5;\nmad.lo.u32 %r7, %r6, 3, %thread;\nst.global.b32 [%out], %r7; // HERE\n",
     "mov.u32 %r5, %thread;\nmov.u32 %r6, %r5;\nmad.lo.u32 %r7, %r6, 3, %thread;\nst.global.b32 [%out], %r7;",
     {1},
     {1},
     "st.global.b32 reads %r7, computed from %r5, which was never written; block 0 thread 0"},
    {"of_two_registers",
     "",
     "add.u32 %r7, %r5, %r6;\nst.global.b32 [%out], %r7; // HERE\n",
     "mov.u32 %r5, 1;\nmov.u32 %r6, 2;\nadd.u32 %r7, %r5, %r6;\nst.global.b32 [%out], %r7;",
     {1},
     {1},
     "st.global.b32 reads %r7, computed from %r5 or %r6, which was never written; block 0 thread 0"},
    {"written_by_some_lanes_only",
     "",
     kOwnWord + "setp.lt.u32 %p1, %thread, 20;\n@%p1 mov.u32 %r5, 7;\nst.global.b32 [%rd1], %r5; // HERE\n",
     kOwnWord + "setp.lt.u32 %p1, %thread, 20;\n@%p1 mov.u32 %r5, 7;\n@%p1 st.global.b32 [%rd1], %r5;",
     {1},
     {32},
     "st.global.b32 reads %r5, which was never written; block 0 thread 20 and 11 more"},
    {"written_in_a_branch_only",
     "",
     kOwnWord + "setp.lt.u32 %p1, %thread, 31;\n@!%p1 bra over;\nmov.u32 %r5, 7;\nover:\n"
                "st.global.b32 [%rd1], %r5; // HERE\n",
     kOwnWord + "setp.lt.u32 %p1, %thread, 31;\n@!%p1 bra over;\nmov.u32 %r5, 7;\nst.global.b32 [%rd1], %r5;\nover:\n",
     {1},
     {32},
     "st.global.b32 reads %r5, which was never written; block 0 thread 31"},
    {"chosen_by_a_selection",
     "",
     kOwnWord + "setp.lt.u32 %p1, %thread, 40;\nselp.b32 %r6, 1, %r5, %p1;\nst.global.b32 [%rd1], %r6; // HERE\n",
     kOwnWord + "setp.lt.u32 %p1, %thread, 64;\nselp.b32 %r6, 1, %r5, %p1;\nst.global.b32 [%rd1], %r6;\n",
     {1},
     {64},
     "st.global.b32 reads %r6, computed from %r5, which was never written; block 0 thread 40 and 23 more"},
    {"what_the_block_before_left",
     "",
     "setp.eq.u32 %p1, %block, 0;\n@%p1 mov.u32 %r5, 1;\n@%p1 bra over;\nst.global.b32 [%out], %r5; // HERE\nover:\n",
     "mov.u32 %r5, 1;\nsetp.eq.u32 %p1, %block, 0;\n@%p1 bra over;\nst.global.b32 [%out], %r5;\nover:\n",
     {2},
     {1},
     "st.global.b32 reads %r5, which was never written; block 1 thread 0"},
    {"both_halves_of_a_pair",
     "",
     "mov.b32 %r6, {%h1, %h2};\nst.global.b32 [%out], %r6; // HERE\n",
     "mov.u16 %h1, 3;\nmov.b32 %r6, {%h1, %h2};\nst.global.b32 [%out], %r6;",
     {1},
     {1},
     "st.global.b32 reads %r6, computed from %h1 or %h2, which was never written; block 0 thread 0"},
};
SEEDED_FAULTS(UninitialisedRegister, kRegisterRows);

// Unused values may be undefined, because compilers copy and compute ahead of a branch.
TEST(UninitialisedRegister, UnusedValuesAreNoFault) {
  LaunchOptions options;
  options.checks = Checks::all();
  const char* const bodies[] = {
      "mov.u32 %r6, %r5;\nadd.u32 %r6, %r6, 1;\nst.global.b32 [%out], 1;",
      ".local .align 4 .b32 mine[2];\nst.local.b32 [mine], %r5;\nst.global.b32 [%out], 1;",
      ".local .align 4 .b32 mine[2];\nmov.u64 %rd1, mine;\ncvta.local.u64 %rd1, %rd1;\nst.b32 [%rd1], %r5;",
      "and.b32 %r6, %r5, 0;\nor.b32 %r6, %r6, %thread;\nst.global.b32 [%out], %r6;",
      "shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;\nst.global.b32 [%out], 1;",
  };
  for (const char* body : bodies) EXPECT_EQ(run_text(kernel(body), {1}, {1}, 64, {5}, options).fault, "") << body;
}

}  // namespace
}  // namespace ptx::emulator
