// Accesses outside of buffers, to freed memory, and to addresses that are not multiples of their size.
#include <gmock/gmock.h>

#include "tests/emulator/seeded_fault.h"

namespace ptx::emulator {
namespace {

const std::string kOwnWord = "mad.wide.u32 %rd1, %thread, 4, %out;\n";

const std::vector<SeededFault> kRows = {
    {"last_thread_stores_behind_the_buffer",
     "",
     kOwnWord + "st.global.b32 [%rd1+4], %thread; // HERE\n",
     kOwnWord + "st.global.b32 [%rd1], %thread;",
     {1},
     {64},
     "st.global.b32 writes byte 256 of out (256 bytes); block 0 thread 63"},
    {"a_whole_warp_is_counted",
     "",
     kOwnWord + "st.global.b32 [%rd1], %thread; // HERE\n",
     kOwnWord + "and.b32 %r0, %thread, 63;\nmad.wide.u32 %rd1, %r0, 4, %out;\nsetp.lt.u32 %p0, %thread, 64;\n"
                "@%p0 st.global.b32 [%rd1], %thread;",
     {1},
     {96},
     "st.global.b32 writes byte 256 of out (256 bytes); block 0 thread 64 and 31 more"},
    {"load_before_the_buffer",
     "",
     "ld.global.b32 %r0, [%in+-4]; // HERE\nst.global.b32 [%out], %r0;",
     "ld.global.b32 %r0, [%in];\nst.global.b32 [%out], %r0;",
     {1},
     {1},
     "ld.global.b32 reads byte 508 of out (256 bytes); block 0 thread 0"},
    {"a_vector_crosses_the_end",
     "",
     "st.global.v2.b32 [%out+248], {%thread, %thread}; // HERE\n",
     "st.global.v2.b32 [%out+240], {%thread, %thread};",
     {1},
     {1},
     "st.global.v2.b32 writes byte 248 of out (252 bytes); block 0 thread 0",
     false,
     63},
    {"a_generic_address",
     "",
     "st.b32 [%out+256], %thread; // HERE\n",
     "st.b32 [%out+252], %thread;",
     {1},
     {1},
     "st.b32 writes byte 256 of out (256 bytes); block 0 thread 0"},
    {"an_atomic",
     "",
     "red.global.add.u32 [%in+8], 1; // HERE\n",
     "red.global.add.u32 [%in+4], 1;",
     {1},
     {1},
     "red.global.add.u32 accesses byte 8 of allocation 1 (8 bytes); block 0 thread 0"},
    {"places_in_two_dimensions",
     "",
     "mov.u32 %r0, %tid.y;\nmov.u32 %r1, %ctaid.y;\nmad.lo.u32 %r0, %r1, 8, %r0;\nmad.lo.u32 %r0, %r0, 4, %thread;\n"
     "mad.wide.u32 %rd1, %r0, 4, %out;\nst.global.b32 [%rd1+4], %r0; // HERE\n",
     "mov.u32 %r0, %tid.y;\nmov.u32 %r1, %ctaid.y;\nmad.lo.u32 %r0, %r1, 8, %r0;\nmad.lo.u32 %r0, %r0, 4, %thread;\n"
     "mad.wide.u32 %rd1, %r0, 4, %out;\nst.global.b32 [%rd1], %r0;\n",
     {1, 2},
     {4, 8},
     "st.global.b32 writes byte 256 of out (256 bytes); block 0,1,0 thread 3,7,0"},
    {"misaligned_word",
     "",
     "ld.global.b32 %r0, [%in+2]; // HERE\nst.global.b32 [%out], %r0;",
     "ld.global.b32 %r0, [%in+4];\nst.global.b32 [%out], %r0;",
     {1},
     {1},
     "ld.global.b32 reads 4 bytes at byte 2 of allocation 1 (8 bytes), which is not a multiple of 4; block 0 thread 0"},
    {"misaligned_vector",
     "",
     "st.global.v4.b32 [%out+8], {%thread, %thread, %thread, %thread}; // HERE\n",
     "st.global.v4.b32 [%out+16], {%thread, %thread, %thread, %thread};",
     {1},
     {1},
     "st.global.v4.b32 writes 16 bytes at byte 8 of out (256 bytes), which is not a multiple of 16; block 0 thread 0"},
    {"misaligned_shared_word",
     ".shared .align 4 .b32 words[4];\n",
     "mov.u32 %r1, words;\nst.shared.b32 [%r1+6], %thread; // HERE\n",
     "mov.u32 %r1, words;\nst.shared.b32 [%r1+4], %thread;",
     {1},
     {1},
     "st.shared.b32 writes 4 bytes at shared byte 6, which is not a multiple of 4; block 0 thread 0"},
    {"behind_shared_memory",
     ".shared .align 4 .b32 words[4];\n",
     "mov.u32 %r1, words;\nmad.lo.u32 %r1, %thread, 4, %r1;\nst.shared.b32 [%r1], %thread; // HERE\n",
     "mov.u32 %r1, words;\nmad.lo.u32 %r1, %thread, 4, %r1;\nsetp.lt.u32 %p0, %thread, 4;\n"
     "@%p0 st.shared.b32 [%r1], %thread;",
     {1},
     {5},
     "st.shared.b32 writes shared byte 16, the block has 16; block 0 thread 4"},
    {"behind_local_memory",
     "",
     ".local .align 4 .b32 mine[2];\nmov.u32 %r1, mine;\nst.local.b32 [%r1+16], %thread; // HERE\n",
     ".local .align 4 .b32 mine[2];\nmov.u32 %r1, mine;\nst.local.b32 [%r1+4], %thread;",
     {1},
     {1},
     "st.local.b32 writes local byte 16, the thread has 16; block 0 thread 0"},
};
SEEDED_FAULTS(BoundsFault, kRows);

// `free` first or not: the twin of a use after free is the same use before it.
std::string load_from_buffer(bool free, const Checks& checks) {
  Device device;
  const Module module(kernel("ld.global.b32 %r0, [%in+4]; // HERE\nst.global.b32 [%out], %r0;"), device.profile,
                      device.memory);
  uint32_t* out = device.zeros<uint32_t>(1);
  uint32_t* in = device.upload(std::vector<uint32_t>(64, 7));
  if (free) device.memory.free(reinterpret_cast<uint64_t>(in));
  LaunchOptions options;
  options.checks = checks;
  return run(device, module, "k", {1}, {32}, pack_parameters(out, in), 0, options);
}

TEST(FreedMemory, IsReportedAndItsTwinRunsClean) {
  EXPECT_EQ(
      load_from_buffer(true, Checks::all()),
      "emulator: k line 11: ld.global.b32 reads byte 4 of freed allocation 1 (256 bytes); block 0 thread 0 and 31 "
      "more");
  Checks without_races = Checks::all();  // every thread of the twin stores the same word
  without_races.global_races = false;
  EXPECT_EQ(load_from_buffer(false, without_races), "");
}

TEST(BoundsCheck, NamesTheRegion) {
  LaunchOptions options;
  options.checks.bounds = true;
  EXPECT_EQ(run_text(kernel("// tag: epilogue\nst.global.b32 [%out+256], %thread;\n// end tag: epilogue\n"), {1}, {1},
                     64, {5}, options)
                .fault,
            "emulator: k line 12 [epilogue]: st.global.b32 writes byte 256 of out (256 bytes); block 0 thread 0");
}

// Memory that was freed and allocated again belongs to its new owner.
TEST(BoundsCheck, NamesTheLiveAllocation) {
  Device device;
  const Module module(kernel("ld.global.b32 %r0, [%in];\nst.global.b32 [%out], %r0;"), device.profile, device.memory);
  const uint64_t before = device.memory.allocate(100000, "before");
  device.memory.free(before);
  const uint64_t now = device.memory.allocate(100, "now");
  ASSERT_EQ(now, before);
  LaunchOptions options;
  options.checks = Checks::all();
  const uint32_t* out = device.zeros<uint32_t>(1);
  const auto fault = [&](uint64_t address) {
    return run(device, module, "k", {1}, {1}, pack_parameters(out, address), 0, options);
  };
  EXPECT_THAT(fault(now + 120), ::testing::HasSubstr("reads byte 120 of now (100 bytes)"));
  EXPECT_THAT(fault(now + 8), ::testing::HasSubstr("reads byte 8 of now (100 bytes), which was never written"));
}

}  // namespace
}  // namespace ptx::emulator
