// C++ numbers as immediates: bits, ranges, spelling.
#include "ptx/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ptx {
namespace {

// Value by definition of a 16-bit float with `fraction` bits of fraction.
double decode(uint16_t bits, int fraction) {
  const int bias = (1 << (14 - fraction)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(rest, 1 - bias - fraction)
                                         : std::ldexp(rest + (1 << fraction), exponent - bias - fraction);
  return bits & 0x8000 ? -magnitude : magnitude;
}

struct HalfCase {
  const char* name;
  uint16_t (*encode)(double);
  int fraction;
  uint16_t infinity;
};
class HalfTest : public ::testing::TestWithParam<HalfCase> {};

// Each value, the midpoint to the next one (ties to even), and both sides of the midpoint.
TEST_P(HalfTest, RoundsToNearestEven) {
  const HalfCase& half = GetParam();
  for (uint16_t low = 0; low + 1 < half.infinity; ++low) {
    const double a = decode(low, half.fraction), b = decode(low + 1, half.fraction), middle = (a + b) / 2;
    ASSERT_EQ(half.encode(a), low);
    ASSERT_EQ(half.encode(middle), low + (low & 1)) << low;
    ASSERT_EQ(half.encode(std::nextafter(middle, 0)), low) << low;
    ASSERT_EQ(half.encode(std::nextafter(middle, b)), low + 1) << low;
    ASSERT_EQ(half.encode(-b), (low + 1) | 0x8000);
  }
}

TEST_P(HalfTest, OverflowsToInfinityAndKeepsNan) {
  const HalfCase& half = GetParam();
  const double largest = decode(half.infinity - 1, half.fraction), below = decode(half.infinity - 2, half.fraction);
  const double limit = largest + (largest - below) / 2;  // midpoint to the next value that does not exist
  EXPECT_EQ(half.encode(limit), half.infinity);
  EXPECT_EQ(half.encode(std::nextafter(limit, 0)), half.infinity - 1);
  EXPECT_EQ(half.encode(-std::numeric_limits<double>::infinity()), half.infinity | 0x8000);
  EXPECT_EQ(half.encode(std::numeric_limits<double>::quiet_NaN()), 0x7fff);
  EXPECT_EQ(half.encode(-0.0), 0x8000);
}

INSTANTIATE_TEST_SUITE_P(Formats, HalfTest,
                         ::testing::Values(HalfCase{"f16", half_bits, 10, 0x7c00},
                                           HalfCase{"bf16", bfloat16_bits, 7, 0x7f80}),
                         [](const auto& row) { return row.param.name; });

std::string integer(Type type, int64_t number) {
  try {
    return spell_immediate(number_operand(type, number, Where::current()));
  } catch (const Error& error) {
    return std::string(error.what()).substr(std::string(error.what()).rfind(": ") + 2);
  }
}

TEST(NumberTest, IntegersFitOrAreRefused) {
  struct Case {
    Type type;
    int64_t number;
    const char* text;
  };
  const Case kCases[] = {
      {Type::kU16, 65535, "65535"},
      {Type::kU16, 65536, "65536 does not fit u16"},
      {Type::kU32, -1, "-1 does not fit u32"},
      {Type::kU32, 4294967295, "4294967295"},
      {Type::kS16, -32768, "-32768"},
      {Type::kS16, 32768, "32768 does not fit s16"},
      {Type::kS32, -2147483648, "-2147483648"},
      {Type::kS32, 2147483648, "2147483648 does not fit s32"},
      {Type::kS64, std::numeric_limits<int64_t>::min(), "-9223372036854775808"},
      {Type::kB32, 5, "5"},                    // small masks read as numbers
      {Type::kB32, 0xff00ff00, "0xff00ff00"},  // large ones are bits
      {Type::kB32, -2, "0xfffffffe"},          // raw bits have no sign
      {Type::kB16, -40000, "-40000 does not fit b16"},
  };
  for (const Case& c : kCases) EXPECT_EQ(integer(c.type, c.number), c.text);
}

TEST(NumberTest, FloatsKeepEveryBit) {
  EXPECT_EQ(spell_immediate(number_operand(Type::kF32, 1.0)), "0f3F800000");
  EXPECT_EQ(spell_immediate(number_operand(Type::kF32, 0.1)), "0f3DCCCCCD");
  EXPECT_EQ(spell_immediate(number_operand(Type::kF64, 0.1)), "0d3FB999999999999A");
  EXPECT_EQ(spell_immediate(number_operand(Type::kF32, -std::numeric_limits<float>::infinity())), "0fFF800000");
  EXPECT_EQ(spell_immediate(number_operand(Type::kU64, std::numeric_limits<uint64_t>::max(), Where::current())),
            "18446744073709551615U");
  EXPECT_EQ(number_operand(Type::kF16x2, 1.0).bits, 0x3c003c00u);
  EXPECT_EQ(number_operand(Type::kBf16x2, -2.0).bits, 0xc000c000u);
}

}  // namespace
}  // namespace ptx
