// The loader refuses what ptxas refuses, with line and column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/emulator/kernel_text.h"
#include "tests/emulator/ptxas_verdict.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Refusal {
  const char *line, *expected;
};

constexpr Refusal kRefusals[] = {
    {"foo.u32 %r1, %r2;", "unknown instruction foo.u32"},
    {"add.u32 %r1, %r2;", "expected 3 operands, found 2"},
    {"add.u32 %r1, %r2, %r3, %r4;", "expected 3 operands, found 4"},
    {"add.f32 %f1, %f2, 1;", "operand 3: expected a .f32 register or number, found the integer 1"},
    {"mov.u32 %r1, 1.0;", "found a floating-point number"},
    {"add.u64 %rd1, %rd2, 0f3F800000;", "found a floating-point number"},
    {"add.s32 %r1, %tid.x, 1;", "found special register %tid.x"},
    {"add.u32 %f1, %r1, %r2;", "expected a .u32 register, found .f32 register %f1"},
    {"mov.u32 %r1, %rd1;", "operand 2"},
    {"mul.u32 %r1, %r2, %r3;", "a modifier or type is missing"},
    {"shl.u32 %r1, %r2, 1;", "modifier .u32 does not fit there"},
    {"shl.b32 %r1, %r2, %rd1;", "operand 3"},
    {"mul.wide.u32 %r1, %r1, %r2;", "expected a .u64 register"},
    {"fma.f32 %f1, %f2, %f3, %f1;", "a modifier or type is missing"},
    {"cvt.f32.s32 %f1, %r1;", "a rounding (.rn, .rz, .rm, .rp) is required"},
    {"cvt.rn.s32.f32 %r1, %f1;", "an integer rounding"},
    {"cvt.rn.f64.f32 %fd1, %f1;", "takes no rounding"},
    {"setp.lt.b32 %p1, %r1, %r2;", "setp.lt.b32"},
    {"selp.f32 %f1, 1.0, 2.0, %r1;", "expected a predicate"},
    {"@%r1 bra here; here:", "a guard must be a predicate register"},
    {"mov.u32 %r1, %nothing;", "undeclared name %nothing"},
    {"mov.u32 %r99, %r1;", "undeclared name %r99"},
    {".reg .b32 %tid2; .reg .b32 %tid2;", "name %tid2 is declared twice"},
    {"a: mov.u32 %r1, 1; a: mov.u32 %r1, 2;", "name a is declared twice"},
    {"bra nowhere;", "undefined label nowhere"},
    {"{ inner: bra inner; } bra inner;", "undefined label inner"},
    {"bar.sync 16;", "barrier 16 is outside 0 to 15"},
    {"bar.sync 0, 33;", "multiple of 32"},
    {"ld.global.u32 %h1, [%in];", "operand 1"},
    {"ld.global.f32 %r1, [%r2];", "a global or generic address has 64 bits"},
    {"ld.global.v3.u32 {%r1, %r2, %r3}, [%in];", "modifier .v3 does not fit there"},
    {"ld.global.v2.u32 {%r1, %r2, %r3}, [%in];", "expected a vector of 2"},
    {"st.param.b32 [p_out], %r1;", "cannot be written"},
    {"ld.relaxed.u32 %r1, [%in];", "a modifier or type is missing"},
    {"atom.global.add.s64 %rd1, [%in], 1;", "atom.global.add.s64"},
    {"add.f16 %h1, %h1, 1.0;", "operand 3"},
    {"shfl.down.b32 %r1, %r2, 1, 31;", "a modifier or type is missing"},
    {"call nothing;", "undeclared name nothing"},
    {"mov.u32 %r1, 5", "expected ';'"},
    {"ld.global.u32 %r1, [%in+%rd2];", "expected a number"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2}, {%r4,%r5}, "
     "{%f0,%f1,%f2,%f3};",
     "expected 4 registers, found 3"},
    {"mov.b64 %rd1, {%r1, %r2, %r3};", "the parts do not fill the register"},
    {"/* never closed", "the comment is never closed"},
    {"mov.u32 %r1, 0x1ffffffffffffffff;", "more than 64 bits"},
    {"mov.u32 %r1, 5; #", "unexpected character '#'"},
    {".reg .bf16 %x;", "nothing can be declared .bf16"},
    {"add.bf16x2 %hx1, %hx1, %hx1;", "expected a .bf16x2 register, found .f16x2 register"},
    {"add.f16x2 %u1, %u1, %u1;", "expected a .f16x2 register"},
    {"mul.f32 %hx1, %f1, %f1;", "expected a .f32 register"},
    {"cvt.f32.bf16 %f1, %r1;", "expected a .bf16 register"},
    {"cvt.rna.tf32.f32 %f1, %f2;", "expected a .tf32 register"},
    {"min.u16x2 %u1, %u1, %u1;", "expected a .u16x2 register"},
    {"ld.global.u32 %r1, [%hx1];", "an address needs"},
    {"ld.global.u32 %r1, [%in], %rd1;", "the last operand and .L2::cache_hint need each other"},
    {"atom.global.exch.b32 %r1, [%in], 0, 0;", "operand"},
    {"setp.lt.f32 !%p1, %f1, %f2;", "operand 1: only a predicate source can be negated"},
    {"wmma.shared.load.a.sync.aligned.row.m8n32k16.bf16 {%r1, %r2}, [%rd1], %r3;", "wmma"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%f0,%f1,%f2,%f3}, {%f0,%f1}, "
     "{%f0,%f1,%f2,%f3};",
     "expected a .tf32 register"},
    {"alloca.u64 %rd1, %r1;", "operand 2"},
    {"st.volatile.local.u32 [%rd1], %r1;", "modifier .local does not fit there"},
    {"match.all.sync.b32 %r1|!%p1, %r2, -1;", "only a predicate source can be negated"},
    {"cp.async.ca.shared.global [%r1], [%rd1], 4, 1.0;", "operand 4: expected a .u32 register"},
    {"alloca.u64 %rd1, %rd2, 3;", "power of two"},
    {"mapa.u64 %rd1, %r1, 0;", "operand 2"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b8 [%r1], %r2, [%r3];", "does not fit there"},
    {"set.gt.u16.f16x2 %h1, %r2, %r3;", "set.gt.u16.f16x2"},
    {"set.gt.f16.b32 %h1, %r2, %r3;", "set.gt.f16.b32"},
    {"set.gt.ftz.f16.f64 %h1, %fd2, %fd3;", "modifier .f64 does not fit there"},
    {"set.gt.f16.u32 %h1, %h2, %h3;", "operand 2: expected a .u32 register"},
    {"cvt.rni.bf16.f16 %h1, %h2;", "f16 and bf16 convert with a rounding"},
    {"cvt.rn.relu.bf16.f16 %h1, %h2;", ".relu and .satfinite need f32"},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3};",
     "expected 8 registers, found 4"},
};

// Correct neighbours of lines above, which may look wrong.
constexpr const char* kAccepted[] = {
    "cvt.rn.f16.f32 %r1, %f1;",  // a real in a wider untyped register
    "cvt.rn.f32.u32 %rd1, %r1;",
    "add.u32 %hx1, %hx1, 1;",  // a pair of f16 may be used as an integer
    "add.f16x2 %r1, %hx1, %r2;",
    "shl.b32 %r1, %r2, %r3;",
    "setp.eq.b32 %p1, %f1, %f2;",
    "mov.b32 %f1, %hx1;",
    "ld.global.L2::cache_hint.u32 %r1, [%in], %rd2;",
    "alloca.u64 %rd1, %rd2, 16;",
    "mapa.shared::cluster.u32 %r1, %r2, 0;",
    "mov.b32 %r1, {%h1, %h2};",
    "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;",
    "@!%p1 bra here; here:",
    "set.num.u32.f16x2 %hx1, %hx2, %r3;",
    "set.gt.ftz.f16.f32 %h1, %f2, 0f3f800000;",
    "set.gt.bf16.f16 %h1, %h2, %h3;",
    "cvt.bf16.f16 %h1, %h2;",
    "cvt.rp.f16.bf16 %h1, %h2;",
};

TEST(Refusal, LinesThatPtxasRefuses) {
  for (const Refusal& row : kRefusals) {
    EXPECT_THAT(run_text(kernel(row.line), {1}, {1}, 1).fault, HasSubstr(row.expected)) << row.line;
  }
}

// NVIDIA's assembler refuses the same lines, except those that it reads differently.
TEST(Refusal, AsNvidiasAssembler) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or /usr/local/cuda/bin";
  const std::set<std::string> tolerated = {
      "mov.u32 %r1, 0x1ffffffffffffffff;",  // cut to 64 bits silently
  };
  for (const Refusal& row : kRefusals)
    EXPECT_EQ(ptxas_accepts(kernel(row.line), "sm_90"), tolerated.contains(row.line)) << row.line;
  EXPECT_TRUE(ptxas_accepts(kernel("add.u32 %r1, %r2, %r3;"), "sm_90"));
  for (const char* line : kAccepted) {
    EXPECT_TRUE(ptxas_accepts(kernel(line), "sm_90")) << line;
    EXPECT_THAT(run_text(kernel(line + std::string("\nret;")), {1}, {1}, 1).fault, Not(HasSubstr("line "))) << line;
  }
}

TEST(Refusal, NewerThanTheTarget) {
  const struct {
    const char* line;
    uint32_t target;
    const char* expected;
  } rows[] = {
      {"cp.async.commit_group;", 75, "cp.async.commit_group needs sm_80, the target is sm_75"},
      {"redux.sync.add.u32 %r1, %r2, -1;", 75, "needs sm_80"},
      {"griddepcontrol.wait;", 80, "needs sm_90"},
      {"min.f32 %f1, %f2, %f3, %f4;", 90, "min.f32"},
      {"cvt.rn.bf16.f32 %h1, %f1;", 75, "needs sm_80"},
  };
  for (const auto& row : rows)
    EXPECT_THAT(run_text(kernel(row.line, "", row.target), {1}, {1}, 1).fault, HasSubstr(row.expected)) << row.line;
}

std::string load(const std::string& text) {
  Device device;
  try {
    const Module module(text, device.profile, device.memory);
    return "";
  } catch (const LoadError& error) {
    return error.what();
  }
}

TEST(Refusal, Modules) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  EXPECT_EQ(load(head), "");
  EXPECT_THAT(load(".target sm_80\n"), HasSubstr("line 1, column 1: expected .version"));
  EXPECT_THAT(load(".version 8.0\n.entry k() {}\n"), HasSubstr("line 2, column 1: expected .target"));
  EXPECT_THAT(load(".version 99.0\n.target sm_80\n"), HasSubstr("newer than 9.9"));
  EXPECT_THAT(load(".version 8.0\n.target sm_79\n"), HasSubstr("unknown target sm_79"));
  EXPECT_THAT(load(head + ".entry k() { ret; }\n.entry k() { ret; }\n"), HasSubstr("defined twice"));
  EXPECT_THAT(load(head + ".global .b32 x;\n.global .b32 x;\n"), HasSubstr("name x is declared twice"));
  EXPECT_THAT(load(head + ".global .b32 x[2] = {1, 2, 3};\n"), HasSubstr("more initial values"));
  EXPECT_THAT(load(head + ".global .b64 x = y;\n"), HasSubstr("undeclared name y"));
  EXPECT_THAT(load(head + ".shared .b8 x[50000];\n.entry k() { .reg .b32 %r; mov.u32 %r, x; ret; }\n"),
              HasSubstr("bytes of static shared memory"));
  EXPECT_THAT(load(".version 9.0\n.target sm_120\n.entry k() { ret; }\n"),
              HasSubstr("the text is for sm_120, the device is sm_90"));
  EXPECT_THAT(load(head + ".nonsense\n"), HasSubstr("unknown directive .nonsense"));
}

TEST(Refusal, WhatIsNotEmulatedIsNamed) {
  const struct {
    const char *line, *expected;
  } rows[] = {
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
       "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, {%h1,%h2}, %r8, {%h1,%h2};",
       "the emulator has no block-scaled matrix products"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
       "{%r5,%r6}, {%f1,%f2,%f3,%f4};",
       "the emulator has no matrix products of 8-, 6- and 4-bit reals of two kinds"},
      {"tcgen05.wait::st.sync.aligned;", "the emulator has no tensor memory"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;",
       "the emulator has no matrix products of warp groups"},
  };
  for (const auto& row : rows) {
    const std::string fault = run_text(kernel(row.line, "", 100), {1}, {1}, 1).fault;
    EXPECT_THAT(fault, HasSubstr(row.expected));
    EXPECT_EQ(std::ranges::count(fault, '\n'), 0) << fault;  // one line only
  }
}

TEST(Refusal, EveryProblemIsListedWithItsPlace) {
  try {
    Device device;
    const Module module(kernel("  foo.u32 %r1;\nadd.u32 %r1, %r2;"), device.profile, device.memory);
    FAIL() << "loaded";
  } catch (const LoadError& error) {
    ASSERT_EQ(error.problems.size(), 2u);
    EXPECT_EQ(error.problems[0].at.line, 11u);
    EXPECT_EQ(error.problems[0].at.column, 3u);
    EXPECT_EQ(error.problems[0].text, "foo.u32 %r1;");
    EXPECT_EQ(error.problems[1].at.line, 12u);
  }
}

}  // namespace
}  // namespace ptx::emulator
