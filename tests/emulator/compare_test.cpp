// setp, set, selp, slct and predicate logic.
#include "tests/emulator/lane_function.h"

namespace ptx::emulator {
namespace {

using u32 = uint32_t;
using s32 = int32_t;
using f32 = float;

template <class T>
void integer_tests(const std::string& type) {
  const auto test = [&](const char* name, auto f) {
    expect_lanes<bool, T, T>("setp." + std::string(name) + "." + type + " %d, %a, %b;", f);
  };
  test("eq", [](T a, T b) { return a == b; });
  test("ne", [](T a, T b) { return a != b; });
  test("lt", [](T a, T b) { return a < b; });
  test("le", [](T a, T b) { return a <= b; });
  test("gt", [](T a, T b) { return a > b; });
  test("ge", [](T a, T b) { return a >= b; });
}

TEST(Compare, Integers) {
  integer_tests<uint16_t>("u16");
  integer_tests<int16_t>("s16");
  integer_tests<uint32_t>("u32");
  integer_tests<int32_t>("s32");
  integer_tests<uint64_t>("u64");
  integer_tests<int64_t>("s64");
  expect_lanes<bool, u32, u32>("setp.lo.u32 %d, %a, %b;", [](u32 a, u32 b) { return a < b; });
  expect_lanes<bool, u32, u32>("setp.hs.u32 %d, %a, %b;", [](u32 a, u32 b) { return a >= b; });
  expect_lanes<bool, u32, u32>("setp.eq.b32 %d, %a, %b;", [](u32 a, u32 b) { return a == b; });
}

template <class T>
void real_tests(const std::string& type) {
  const auto test = [&](const char* name, auto f) {
    expect_lanes<bool, T, T>("setp." + std::string(name) + "." + type + " %d, %a, %b;", f);
  };
  const auto unordered = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
  test("eq", [](T a, T b) { return a == b; });
  test("ne", [&](T a, T b) { return !unordered(a, b) && a != b; });  // C++'s != is PTX's neu
  test("lt", [](T a, T b) { return a < b; });
  test("le", [](T a, T b) { return a <= b; });
  test("gt", [](T a, T b) { return a > b; });
  test("ge", [](T a, T b) { return a >= b; });
  test("equ", [&](T a, T b) { return unordered(a, b) || a == b; });
  test("neu", [](T a, T b) { return a != b; });
  test("ltu", [&](T a, T b) { return unordered(a, b) || a < b; });
  test("leu", [&](T a, T b) { return unordered(a, b) || a <= b; });
  test("gtu", [&](T a, T b) { return unordered(a, b) || a > b; });
  test("geu", [&](T a, T b) { return unordered(a, b) || a >= b; });
  test("num", [&](T a, T b) { return !unordered(a, b); });
  test("nan", unordered);
}

TEST(Compare, Reals) {
  real_tests<float>("f32");
  real_tests<double>("f64");
  expect_lanes<bool, f32>("setp.gt.ftz.f32 %d, %a, 0f00000000;",
                          [](f32 a) { return a > 0 && std::fpclassify(a) != FP_SUBNORMAL; });
}

TEST(Compare, CombinedWithAPredicate) {
  const std::string odd = "and.b32 %u, %c, 1;\nsetp.eq.u32 %p, %u, 1;\n";
  expect_lanes<bool, s32, s32, u32>(odd + "setp.lt.and.s32 %d, %a, %b, %p;",
                                    [](s32 a, s32 b, u32 c) { return a < b && (c & 1); });
  expect_lanes<bool, s32, s32, u32>(odd + "setp.lt.or.s32 %d, %a, %b, !%p;",
                                    [](s32 a, s32 b, u32 c) { return a < b || !(c & 1); });
  expect_lanes<bool, s32, s32, u32>(odd + "setp.lt.xor.s32 %d, %a, %b, %p;",
                                    [](s32 a, s32 b, u32 c) { return (a < b) != (c & 1); });
  expect_lanes<bool, s32, s32, u32>(odd + "setp.lt.and.s32 %q|%d, %a, %b, %p;",
                                    [](s32 a, s32 b, u32 c) { return !(a < b) && (c & 1); });
}

TEST(Compare, Set) {
  expect_lanes<u32, s32, s32>("set.lt.u32.s32 %d, %a, %b;", [](s32 a, s32 b) { return a < b ? ~0u : 0; });
  expect_lanes<f32, s32, s32>("set.ge.f32.s32 %d, %a, %b;", [](s32 a, s32 b) { return a >= b ? 1.0f : 0.0f; });
  expect_lanes<u32, f32, f32>("set.neu.u32.f32 %d, %a, %b;", [](f32 a, f32 b) { return a != b ? ~0u : 0; });
}

TEST(Compare, Selection) {
  const std::string odd = "and.b32 %u, %c, 1;\nsetp.eq.u32 %p, %u, 1;\n";
  expect_lanes<u32, u32, u32, u32>(odd + "selp.b32 %d, %a, %b, %p;", [](u32 a, u32 b, u32 c) { return c & 1 ? a : b; });
  expect_lanes<uint64_t, uint64_t, uint64_t, u32>(odd + "selp.u64 %d, %a, %b, !%p;",
                                                  [](uint64_t a, uint64_t b, u32 c) { return c & 1 ? b : a; });
  expect_lanes<uint16_t, uint16_t, uint16_t, u32>(odd + "selp.b16 %d, %a, %b, %p;",
                                                  [](uint16_t a, uint16_t b, u32 c) { return c & 1 ? a : b; });
  expect_lanes<u32, u32, u32, s32>("slct.u32.s32 %d, %a, %b, %c;", [](u32 a, u32 b, s32 c) { return c >= 0 ? a : b; });
  expect_lanes<u32, u32, u32, f32>("slct.u32.f32 %d, %a, %b, %c;", [](u32 a, u32 b, f32 c) { return c >= 0 ? a : b; });
}

TEST(Compare, PredicateLogic) {
  const std::string two = "setp.lt.s32 %p, %a, 0;\nsetp.lt.s32 %q, %b, 0;\n";
  expect_lanes<bool, s32, s32>(two + "and.pred %d, %p, %q;", [](s32 a, s32 b) { return a < 0 && b < 0; });
  expect_lanes<bool, s32, s32>(two + "or.pred %d, %p, !%q;", [](s32 a, s32 b) { return a < 0 || b >= 0; });
  expect_lanes<bool, s32, s32>(two + "xor.pred %d, %p, %q;", [](s32 a, s32 b) { return (a < 0) != (b < 0); });
  expect_lanes<bool, s32, s32>(two + "not.pred %d, %p;", [](s32 a, s32) { return a >= 0; });
}

TEST(Compare, Guards) {  // lanes without the guard keep the old value
  expect_lanes<u32, u32, s32>("setp.lt.s32 %p, %b, 0;\nmov.b32 %d, %a;\n@%p add.u32 %d, %d, 1;\n@!%p mov.b32 %d, 7;",
                              [](u32 a, s32 b) { return b < 0 ? a + 1 : 7; });
}

TEST(Compare, Lop3WithAPredicate) {
  expect_lanes<bool, u32, u32, u32>("setp.ne.u32 %p, %c, 0;\nlop3.and.b32 %u|%d, %a, %b, %c, 0xc0, %p;",
                                    [](u32 a, u32 b, u32 c) { return (a & b) != 0 && c != 0; });
}

}  // namespace
}  // namespace ptx::emulator
