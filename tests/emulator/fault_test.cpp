// Faults that end a launch with every check off, as they would on a device.
#include <gmock/gmock.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

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
      {"one side of a short branch",
       "and.b32 %r1, %thread, 1;\nsetp.eq.u32 %p0, %r1, 0;\nmov.b64 %rd1, 0;\n@%p0 bra even;\n"
       "st.global.b32 [%rd1], 1;\neven:",
       "thread 1 and 15 more"},
      {"deadlock", "setp.lt.u32 %p0, %thread, 32;\n@%p0 bar.sync 1, 64;", "waits for threads that never come"},
  };
  for (const auto& row : rows)
    EXPECT_THAT(run_text(kernel(row.body), {1}, {32}, 64).fault, HasSubstr(row.expected)) << row.name;
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
