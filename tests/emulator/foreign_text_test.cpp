// Texts of compilers other than nvcc: braces around one element, elements of arrays, externs with a later definition,
// hints about unused bytes, newer versions and older targets. ptxas also checks them if it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"
#include "tests/emulator/ptxas_verdict.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kArrays =
    ".global .align 8 .b32 a[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n"
    ".global .align 8 .b32 m[2][4] = {{20, 21, 22, 23}, {24, 25, 26, 27}};\n"
    ".const .align 4 .b32 c[4] = {30, 31, 32, 33};\n.global .b32 one = 5;\n.shared .align 8 .b32 s[4];\n";

struct Accepted {
  const char *line, *before;
  uint32_t result;  // %r0 of thread 0
};
constexpr Accepted kAccepted[] = {
    {"ld.global.b32 { %r0 }, [ %in + 0 ];", "", 7},
    {"ld.global.b32 {%r1}, [%in+4]; st.global.b32 [%out], {%r1}; ld.global.b32 %r0, [%out];", "", 8},
    {"ld.global.u8 {%r0}, [%in];", "", 7},
    {"st.global.b32 [%out], {9}; ld.global.b32 %r0, [%out];", "", 9},
    {"mov.b32 {%r1}, 4; mov.b32 %r0, {%r1};", "", 4},
    // PTX ISA 6.4.2, arrays as operands: the number counts elements of the scalar type
    {"ld.global.u32 %r0, a[2];", kArrays, 12},
    {"ld.global.u32 %r0, a[1+2];", kArrays, 13},
    {"ld.global.u32 %r0, m[5];", kArrays, 25},
    {"ld.const.u32 %r0, c[3];", kArrays, 33},
    {"mov.u32 %r1, 3; ld.global.u32 %r0, a[%r1];", kArrays, 13},
    {"mov.u64 %rd1, 3; ld.global.u32 %r0, a[%rd1+2];", kArrays, 15},
    {"mov.u16 %h1, 2; ld.const.u32 %r0, c[%h1];", kArrays, 32},
    {"mov.u32 %r1, 0x3fffffff; ld.global.u32 %r0, a[%r1+3];", kArrays, 12},  // the product wraps at 32 bits
    {"mov.u32 %r1, 1; st.shared.u32 s[%r1], 6; st.shared.u32 s[0], 5; ld.shared.v2.u32 {%r2, %r3}, s[0]; "
     "mad.lo.u32 %r0, %r3, 10, %r2;",
     kArrays, 65},
    {".local .align 8 .b32 l[4]; mov.u32 %r1, 2; st.local.u32 l[%r1+1], 9; ld.local.u32 %r0, l[3];", "", 9},
    {"mov.u64 %rd1, a[4]; ld.global.u32 %r0, [%rd1];", kArrays, 14},
    {"mov.u32 %r1, 6; mov.u64 %rd1, a[%r1]; ld.global.u32 %r0, [%rd1];", kArrays, 16},
    {"mov.u32 %r1, 6; cvta.global.u64 %rd1, a[%r1]; ld.u32 %r0, [%rd1];", kArrays, 16},
    {"mov.u32 %r1, 2; st.shared.u32 [s+8], 7; cvta.shared.u64 %rd1, s[%r1]; ld.u32 %r0, [%rd1];", kArrays, 7},
    {"ld.global.cg.L2::128B.b32 %r0, [%in];", "", 7},
};

TEST(ForeignText, Runs) {
  for (const Accepted& row : kAccepted) {
    const Result r = run_text(kernel(row.line + std::string("\nst.global.b32 [%out], %r0;"), row.before), {1}, {1}, 1,
                              {7, 8}, {.checks = Checks::all()});
    EXPECT_EQ(r.fault, "") << row.line;
    EXPECT_EQ(r.words, std::vector<uint32_t>{row.result}) << row.line;
  }
}

struct Refused {
  const char *line, *before, *expected;
};
constexpr Refused kRefused[] = {
    {"add.u32 {%r1}, %r2, %r3;", "", "expected one register, found a vector of 1"},
    {"atom.global.add.u32 %r1, [%in], {%r2};", "", "expected one register, found a vector of 1"},
    {"mov.u32 %r1, {%r2};", "", "only .b types pack a vector"},
    {"ld.global.u32 %r0, a;", kArrays, "expected an address, found variable a"},
    {"ld.global.u32 %r0, one[0];", kArrays, "variable one is no array"},
    {"ld.global.u32 %r0, a[2]+4;", kArrays, "expected ';'"},
    {"atom.global.add.u32 %r1, a[1], 2;", kArrays, "expected an address, found variable a"},
    {"ld.global.u32 %r0, a[%f1];", kArrays, "an element's number is an integer register"},
    {"ld.global.cg.L1::evict_first.b32 %r1, [%in];", "", ".cg and .L1::evict_first exclude each other"},
    {"st.global.wb.L1::no_allocate.b32 [%in], %r1;", "", ".wb and .L1::no_allocate exclude each other"},
    {".pragma \"used_bytes_mask x\";", "", "needs a mask of 32 bits"},
};

TEST(ForeignText, IsRefusedWithItsReason) {
  for (const Refused& row : kRefused)
    EXPECT_THAT(run_text(kernel(row.line, row.before), {1}, {1}, 1).fault, HasSubstr(row.expected)) << row.line;
}

struct Externs {
  const char *before, *after;
  bool is_good;
};
constexpr Externs kExterns[] = {
    {".extern .global .align 4 .b32 t[3];\n", ".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n", true},
    {".extern .global .align 4 .b32 t[];\n", ".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n", true},
    {".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n.extern .global .align 4 .b32 t[3];\n", "", true},
    {".extern .global .align 4 .b32 t[3];\n",
     ".extern .global .align 4 .b32 t[3];\n.weak .global .align 4 .b32 t[3] "
     "= {1, 2, 3};\n",
     true},
    {".extern .global .align 4 .b32 t[2];\n", ".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n", false},
    {".extern .global .align 4 .u32 t[3];\n", ".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n", false},
    {".visible .global .align 4 .b32 t[3];\n", ".visible .global .align 4 .b32 t[3] = {1, 2, 3};\n", false},
};
std::string extern_text(const Externs& row) {
  return kernel("ld.global.u32 %r0, [t+8];\nst.global.b32 [%out], %r0;", row.before) + row.after;
}

TEST(ForeignText, ExternVariablesAreDefinedLater) {
  for (const Externs& row : kExterns) {
    const Result r = run_text(extern_text(row), {1}, {1}, 1);
    EXPECT_EQ(r.fault == "", row.is_good) << row.before << row.after << r.fault;
    if (row.is_good) {
      EXPECT_EQ(r.words, std::vector<uint32_t>{3}) << row.before << row.after;
    }
  }
}

TEST(ForeignText, AsNvidiasAssembler) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or /usr/local/cuda/bin";
  for (const Accepted& row : kAccepted) EXPECT_TRUE(ptxas_accepts(kernel(row.line, row.before), "sm_90")) << row.line;
  for (const Refused& row : kRefused) EXPECT_FALSE(ptxas_accepts(kernel(row.line, row.before), "sm_90")) << row.line;
  for (const Externs& row : kExterns)
    EXPECT_EQ(ptxas_accepts(extern_text(row), "sm_90"), row.is_good) << row.before << row.after;
}

// PTX ISA, .pragma "used_bytes_mask": 12 bytes of a vector of 16 at the very end of a block's shared memory.
TEST(ForeignText, UnusedBytesNeedNotBeThere) {
  const std::string load = "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r9];\n";
  const std::string rest = "add.u32 %r0, %r1, %r2;\nadd.u32 %r0, %r0, %r3;\nst.global.b32 [%out], %r0;\n";
  const std::string fill = "mov.u32 %r9, s;\nst.shared.v2.b32 [%r9], {3, 4};\nst.shared.b32 [%r9+8], 5;\n";
  const char* shared = ".extern .shared .align 16 .b8 s[];\n";
  for (const Checks& checks : {Checks{}, Checks::all()}) {
    const auto run = [&](const std::string& pragma, uint32_t bytes) {
      return run_text(kernel(fill + pragma + load + rest, shared), {1}, {1}, 1, {0}, {.checks = checks}, bytes);
    };
    const Result r = run(".pragma \"used_bytes_mask 0xfff\";\n", 12);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(r.words, std::vector<uint32_t>{12});
    EXPECT_THAT(run(".pragma \"used_bytes_mask 4095\";\n", 8).fault, HasSubstr("shared byte 8, the block has 8"));
    EXPECT_THAT(run("", 12).fault, HasSubstr("the block has 12"));
    EXPECT_THAT(run(".pragma \"used_bytes_mask 0xfff\";\nmov.u32 %r7, 1;\n", 12).fault, HasSubstr("the block has 12"));
  }
}

TEST(ForeignText, VersionsAndTargets) {
  const auto fault = [](const std::string& version, const std::string& target) {
    const std::string text = kernel("mov.u32 %r0, 3;\nst.global.b32 [%out], %r0;");
    return run_text(".version " + version + "\n.target " + target + text.substr(text.find("\n.address_size")), {1}, {1},
                    1)
        .fault;
  };
  for (const char* version : {"3.2", "6.5", "9.0", "9.1", "9.5"}) EXPECT_EQ(fault(version, "sm_30"), "") << version;
  for (const char* target : {"sm_20", "sm_35", "sm_52", "sm_75", "sm_120a"}) EXPECT_EQ(fault("9.0", target), "");
  EXPECT_THAT(fault("10.0", "sm_30"), HasSubstr("PTX version 10.0 is newer than 9.9"));
  EXPECT_THAT(fault("9.0", "sm_79"), HasSubstr("unknown target sm_79"));
}

}  // namespace
}  // namespace ptx::emulator
