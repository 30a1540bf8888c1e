// Functions with parameters in registers, and memory that a function allocates on its stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

TEST(Stack, ParametersInRegisters) {
  const std::string functions =
      ".func (.reg .u32 sum, .reg .u64 wide) both(.reg .u32 a, .param .u32 b)\n{\n"
      ".reg .u32 %x; .reg .pred %p;\nld.param.u32 %x, [b];\nadd.u32 sum, a, %x;\nmul.wide.u32 wide, a, %x;\n"
      "setp.gt.u32 %p, a, 10;\n@%p ret;\nadd.u32 sum, sum, 1000;\nret;\n}\n"
      ".func (.reg .u32 r) factorial(.reg .u32 n)\n{\n.reg .u32 %m; .reg .pred %p;\nmov.u32 r, 1;\n"
      "setp.eq.u32 %p, n, 0;\n@%p ret;\nsub.u32 %m, n, 1;\ncall.uni (%m), factorial, (%m);\nmul.lo.u32 r, n, "
      "%m;\nret;\n}\n";
  const std::string body =
      "add.u32 %r1, %thread, 8;\ncall (%r2, %rd1), both, (%r1, 5);\ncvt.u32.u64 %r3, %rd1;\n"
      "call (%r4), factorial, (%thread);\n"
      "mad.wide.u32 %rd2, %thread, 12, %out;\nst.global.u32 [%rd2], %r2;\nst.global.u32 [%rd2+4], %r3;\n"
      "st.global.u32 [%rd2+8], %r4;\n";
  LaunchOptions all;
  all.checks = Checks::all();
  const Result result = run_text(kernel(body, functions), {1}, {8}, 24, {0}, all);
  ASSERT_EQ(result.fault, "");
  uint32_t factorial = 1;
  for (uint32_t t = 0; t < 8; ++t) {
    if (t > 0) factorial *= t;
    const uint32_t a = t + 8;
    EXPECT_EQ(result.words[3 * t], a + 5 + (a > 10 ? 0 : 1000)) << t;
    EXPECT_EQ(result.words[3 * t + 1], a * 5) << t;
    EXPECT_EQ(result.words[3 * t + 2], factorial) << t;
  }
}

// Every lane allocates t + 1 words, fills and sums them. A second allocation must not touch the first.
TEST(Stack, AllocaByLane) {
  for (const char* width : {"u32", "u64"}) {
    const bool wide = width[1] == '6';
    const std::string a = wide ? "%rd" : "%r", size = wide ? "%rd1" : "%r10";
    const std::string body =
        "add.u32 %r1, %thread, 1;\nshl.b32 %r10, %r1, 2;\ncvt.u64.u32 %rd1, %r10;\n"
        "alloca." +
        std::string(width) + " " + a + "2, " + size +
        ", 16;\n"
        "alloca." +
        width + " " + a + "3, " + size +
        ";\n"
        "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\n" +
        (wide ? "mov.b64 %rd4, %rd2;\nmov.b64 %rd5, %rd3;\n" : "cvt.u64.u32 %rd4, %r2;\ncvt.u64.u32 %rd5, %r3;\n") +
        "and.b64 %rd6, %rd4, 15;\ncvt.u32.u64 %r6, %rd6;\n"
        "fill:\nst.local.u32 [%rd4], %r4;\nst.local.u32 [%rd5], 77;\nadd.u64 %rd4, %rd4, 4;\nadd.u64 %rd5, %rd5, 4;\n"
        "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra fill;\n"
        "sum:\nsub.u64 %rd4, %rd4, 4;\nld.local.u32 %r7, [%rd4];\nadd.u32 %r5, %r5, %r7;\nsub.u32 %r4, %r4, 1;\n"
        "setp.gt.u32 %p1, %r4, 0;\n@%p1 bra sum;\nmad.lo.u32 %r0, %r6, 1000000, %r5;\n" +
        kStoreResult;
    LaunchOptions all;
    all.checks = Checks::all();
    const Result result = run_text(kernel(body), {1}, {32}, 32, {0}, all);
    ASSERT_EQ(result.fault, "") << width;
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result.words[t], t * (t + 1) / 2) << width;
  }
}

TEST(Stack, RestoredInALoop) {
  const std::string body =
      "mov.u32 %r1, 0;\nmov.u32 %r0, 0;\n"
      "again:\nstacksave.u64 %rd1;\nalloca.u64 %rd2, 1000;\ncvt.u32.u64 %r2, %rd2;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, %r2;\nsub.u32 %r4, %r2, %r3;\nadd.u32 %r0, %r0, %r4;\n"
      "stackrestore.u64 %rd1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100;\n@%p1 bra again;\n" +
      std::string(kStoreResult);
  const Result result = run_text(kernel(body), {1}, {4}, 4);
  ASSERT_EQ(result.fault, "");
  EXPECT_EQ(result.words, (std::vector<uint32_t>{0, 0, 0, 0}));  // always the same place
}

TEST(Stack, Exhausted) {
  const std::string body =
      "mov.u32 %r1, 0;\nagain:\nalloca.u64 %rd2, 1000;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100;\n"
      "@%p1 bra again;\n";
  const std::string fault = run_text(kernel(body), {1}, {1}, 1).fault;
  EXPECT_THAT(fault, HasSubstr("alloca.u64 asks for 1000 bytes of the stack"));
}

}  // namespace
}  // namespace ptx::emulator
