// Reg, Var, Vec: what is read when, what becomes an instruction, what is refused.
#include <gtest/gtest.h>

#include "operations.h"

namespace ptx::testing {
namespace {

// The lines that `build` adds to a kernel.
template <class F>
std::string lines_of(F&& build) {
  return added_lines(kernel_of({"values", sm_80, [&](Builder& b, const Inputs& t) { build(b, t); }, ""}, sm_80).text);
}

int line = 0;  // of the failing call

// `build` fails with "ptx: <kernel> (<this file>:<line>): <what>".
template <class F>
void expect_error(F&& build, const std::string& kernel, const std::string& what) {
  try {
    lines_of(build);
    ADD_FAILURE() << "no error: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "ptx: " + kernel + "(tests/ptx/value_test.cpp:" + std::to_string(line) + "): " + what);
  }
}

// The old maximum is copied, because the variable changes before the copy's last use. In one register, attention would
// correct its sum by exp(new maximum - new maximum). (x has no other use, so its register became the variable.)
TEST(ValueTest, TheOldValueSurvivesAnAssignment) {
  EXPECT_EQ(lines_of([](Builder& b, const Inputs& t) {
              Var<f32> highest = b.var("highest", t.x);
              Reg<f32> old = highest;
              highest = b.max(highest, t.y);
              b.ex2(old - highest);
            }),
            "mov.f32 %highest_2, %highest;\n"
            "max.f32 %highest, %highest, %y;\n"
            "sub.rn.f32 %sub, %highest_2, %highest;\n"
            "ex2.approx.f32 %ex2, %sub;");
}

// A copy that cannot be observed costs nothing.
TEST(ValueTest, ACopyReadBeforeTheAssignmentIsFolded) {
  EXPECT_EQ(lines_of([](Builder& b, const Inputs& t) {
              Var<f32> sum = b.var("sum", t.x);
              Reg<f32> now = sum;
              sum = b.fma(now, t.y, now);
            }),
            "fma.rn.f32 %sum, %sum, %y, %sum;");
}

TEST(ValueTest, ACopyIsKeptAcrossALoopThatAssigns) {
  const std::string lines = lines_of([](Builder& b, const Inputs& t) {
    Var<u32> n = b.var("count", t.a);
    Reg<u32> before = n;
    b.for_("step", 0, t.b, 1, [&](Reg<u32> i) { n += i ^ before; });  // later rounds use the first value
  });
  EXPECT_NE(lines.find("mov.u32 %count_2, %count;"), lines.npos) << lines;
  EXPECT_NE(lines.find("xor.b32 %xor, %step, %count_2;"), lines.npos) << lines;
}

TEST(ValueTest, ACopyIsFoldedIntoBranchesThatDoNotAssign) {
  const std::string lines = lines_of([](Builder& b, const Inputs& t) {
    Var<u32> n = b.var("count", t.a);
    Reg<u32> now = n;
    b.if_else(
        t.p, [&] { b.popc(now); }, [&] { b.clz(now); });
    n = 0;
  });
  EXPECT_EQ(lines.find("%count_2"), lines.npos) << lines;
}

TEST(ValueTest, ACopyIsKeptWhereOneBranchAssigns) {
  const std::string lines = lines_of([](Builder& b, const Inputs& t) {
    Var<u32> n = b.var("count", t.a);
    Reg<u32> now = n;
    b.if_(t.p, [&] { n = 7; });
    b.popc(now);
  });
  EXPECT_NE(lines.find("popc.b32 %popc, %count_2;"), lines.npos) << lines;
}

TEST(ValueTest, AnAssignmentThatOthersReadTooStaysACopy) {
  EXPECT_EQ(lines_of([](Builder& b, const Inputs& t) {
              Var<u32> n = b.var<u32>("count");
              Reg<u32> product = t.a * t.b;
              n = product;
              n += product;
            }),
            "mul.lo.u32 %mul, %a, %b;\n"
            "mov.u32 %count, %mul;\n"
            "add.u32 %count, %count, %mul;");
}

TEST(ValueTest, SwappingTwoVariablesKeepsBothValues) {
  EXPECT_EQ(lines_of([](Builder& b, const Inputs& t) {
              Var<u32> l = b.var("left", t.a), r = b.var("right", t.b);
              Reg<u32> old = l;
              l = r;
              r = old;
            }),
            "mov.u32 %left, %a;\n"
            "mov.u32 %right, %b;\n"
            "mov.u32 %left_2, %left;\n"
            "mov.u32 %left, %right;\n"
            "mov.u32 %right, %left_2;");
}

TEST(ValueTest, EveryLaneOfAVecFeedsItsVariable) {
  EXPECT_EQ(lines_of([](Builder& b, const Inputs& t) {
              auto from = b.pointer<f32>(t.l, 16);
              VarVec<f32, 2> v = b.vars<f32, 2>("pair", 0.0f);
              v = from.load<2>();
              v[1] *= 2.0f;
            }),
            "mov.u64 %l_2, %l;\n"
            "mov.f32 %pair, 0f00000000;\n"
            "mov.f32 %pair_2, 0f00000000;\n"
            "ld.global.v2.f32 {%pair, %pair_2}, [%l_2];\n"
            "mul.rn.f32 %pair_2, %pair_2, 0f40000000;");
}

TEST(ValueTest, RegistersAreNamedByRole) {
  EXPECT_EQ(lines_of([](Builder&, const Inputs& t) {
              ((t.a + t.b).named("row") * 2).named("tid");  // %tid is taken
              (t.a ^ 1).named("last row");
            }),
            "add.u32 %row, %a, %b;\n"
            "mul.lo.u32 %tid_2, %row, 2;\n"
            "xor.b32 %last_row, %a, 1;");
}

TEST(ValueTest, ErrorsNameKernelPlaceAndNumber) {
  expect_error([](Builder&, const Inputs& t) { line = __LINE__, t.u16_a + 70000; }, "", "70000 does not fit u16");
  expect_error([](Builder& b, const Inputs&) { line = __LINE__, b.saturate(1.0f); }, "",
               "numbers alone need no instruction; one operand must be a register");
  expect_error([](Builder& b, const Inputs& t) { line = __LINE__, b.fma(t.f16_a, t.f16_b, 1, {Round::kUp}); },
               "test_values ", "there is no instruction fma.rp.f16");
  expect_error(
      [](Builder& b, const Inputs& t) {
        Builder other("other", sm_80);
        line = __LINE__, b.max(t.a, other.param<u32>("n"));
      },
      "test_values ", "an operand belongs to kernel other");
  expect_error([](Builder& b, const Inputs& t) { line = __LINE__, b.shuffle(t.a, 0, kFullWarp, 12); }, "test_values ",
               "a shuffle in segments of 12 lanes; expected a power of two up to 32");
  expect_error([](Builder& b, const Inputs&) { line = __LINE__, b.barrier(16, 32); }, "test_values ",
               "barrier 16; a block has 1 to 15, and 0 for all of it");
  expect_error(
      [](Builder& b, const Inputs& t) {
        Vec<f16x2, 2> a(t.f16x2_a, t.f16x2_b);
        line = __LINE__, b.mma(a, a.slice<1>(0), {t.x, t.y});
      },
      "", "2 values given for a vector of 4");
}

}  // namespace
}  // namespace ptx::testing
