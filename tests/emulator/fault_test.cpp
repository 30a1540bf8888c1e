// Faults that end a launch even with every check off, as on a device.
#include <gmock/gmock.h>
#include <locale.h>
#include <stdlib.h>

#include <bit>
#include <cstdio>
#include <filesystem>

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

const char* const kTexts =
    ".global .align 1 .b8 what[6] = {120, 32, 62, 32, 48, 0};\n.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 function[3] = {102, 40, 0};\n"
    ".global .align 1 .b8 format[18] = {37, 100, 32, 37, 115, 32, 37, 46, 50, 102, 32, 37, 108, 108, 120, 33, 10, 0};\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 l);\n";

TEST(Fault, AssertionsAreToldWithoutChecks) {
  const std::string text = kernel(
      "setp.lt.u32 %p0, %thread, 38;\n@%p0 bra good;\n{\n"
      ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
      "cvta.global.u64 %rd1, what;\nst.param.b64 [a], %rd1;\ncvta.global.u64 %rd1, file;\nst.param.b64 [b], %rd1;\n"
      "st.param.b32 [c], 12;\ncvta.global.u64 %rd1, function;\nst.param.b64 [d], %rd1;\nst.param.b64 [e], 1;\n"
      "call __assertfail, (a, b, c, d, e);\n}\ngood:\n",
      kTexts);
  testing::internal::CaptureStderr();
  const Result r = run_text(text, {1}, {10, 4}, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // 38 threads of the first row's 10: no launch fails
  EXPECT_EQ(r.fault, "");
  testing::internal::CaptureStderr();
  const std::string fault = run_text(text, {1}, {40}, 1).fault;
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cu:12: f(: block: [0,0,0], thread: [38,0,0] Assertion `x > 0` failed.\n"
            "a.cu:12: f(: block: [0,0,0], thread: [39,0,0] Assertion `x > 0` failed.\n");
  EXPECT_NE(fault.find("fails the assertion `x > 0` at a.cu:12"), std::string::npos) << fault;
}

TEST(Fault, KernelsPrint) {
  const std::string text = kernel(
      ".local .align 8 .b8 list[32];\n{\n.param .b64 f; .param .b64 l; .param .b32 r;\n"
      "st.local.b32 [list], %thread;\ncvta.global.u64 %rd1, file;\nst.local.b64 [list+8], %rd1;\n"
      "st.local.f64 [list+16], 0d3FF8000000000000;\nst.local.b64 [list+24], 0xabcdef0123;\n"
      "cvta.global.u64 %rd1, format;\nst.param.b64 [f], %rd1;\ncvta.local.u64 %rd2, list;\nst.param.b64 [l], %rd2;\n"
      "call (r), vprintf, (f, l);\n}\n",
      kTexts);
  testing::internal::CaptureStdout();
  const std::string fault = run_text(text, {1}, {2}, 1).fault;
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "0 a.cu 1.50 abcdef0123!\n1 a.cu 1.50 abcdef0123!\n");
  EXPECT_EQ(fault, "");
}

// A program may have set a locale with a decimal comma for itself.
TEST(Locale, NumbersHaveADecimalPointWhateverTheProgramsLocale) {
  std::string folder = testing::TempDir() + "locales_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string make = "localedef -i de_DE -f UTF-8 '" + folder + "/de_DE.UTF-8' 2> /dev/null";
  [[maybe_unused]] const int warned = std::system(make.c_str());
  setenv("LOCPATH", folder.c_str(), 1);
  const char* set = setlocale(LC_ALL, "de_DE.UTF-8");
  std::string fault, printed;
  Result constants;
  if (set != nullptr) {
    EXPECT_STREQ(localeconv()->decimal_point, ",");
    constants = run_text(kernel("mov.f32 %f1, 1.5e-3;\nmov.b32 %r0, %f1;\n" + std::string(kStoreResult)), {1}, {1}, 1);
    testing::internal::CaptureStdout();
    fault = run_text(kernel(".local .align 8 .b8 list[32];\n{\n.param .b64 f; .param .b64 l; .param .b32 r;\n"
                            "st.local.b32 [list], %thread;\ncvta.global.u64 %rd1, file;\nst.local.b64 [list+8], %rd1;\n"
                            "st.local.f64 [list+16], 1.5;\nst.local.b64 [list+24], 7;\n"
                            "cvta.global.u64 %rd1, format;\nst.param.b64 [f], %rd1;\ncvta.local.u64 %rd2, list;\n"
                            "st.param.b64 [l], %rd2;\ncall (r), vprintf, (f, l);\n}\n",
                            kTexts),
                     {1}, {1}, 1)
                .fault;
    std::fflush(stdout);
    printed = testing::internal::GetCapturedStdout();
  }
  setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  std::filesystem::remove_all(folder);
  if (set == nullptr) GTEST_SKIP() << "localedef made no locale de_DE.UTF-8";
  EXPECT_EQ(constants.fault, "");
  EXPECT_EQ(constants.words.at(0), std::bit_cast<uint32_t>(1.5e-3f));
  EXPECT_EQ(fault, "");
  EXPECT_EQ(printed, "0 a.cu 1.50 7!\n");
}

}  // namespace
}  // namespace ptx::emulator
