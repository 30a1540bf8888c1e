// binary16 and bfloat16 against the definition (sign, exponent, mantissa with ldexp) for every 16-bit pattern.
// Narrowing at and near the midpoint of every two neighbours.
#include "models/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpchat {
namespace {

double definition(f16 value) {
  const int exponent = value.bits >> 10 & 31, mantissa = value.bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return value.bits & 0x8000 ? -magnitude : magnitude;
}

f16 half(int bits) { return f16{static_cast<uint16_t>(bits)}; }

TEST(Half, WidensEveryPatternExactly) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float widened = to_float(half(bits));
    const int magnitude = bits & 0x7fff;
    EXPECT_EQ(std::signbit(widened), bits >= 0x8000) << bits;
    if (magnitude > 0x7c00) {
      EXPECT_TRUE(std::isnan(widened)) << bits;
    } else if (magnitude == 0x7c00) {
      EXPECT_TRUE(std::isinf(widened)) << bits;
    } else {
      EXPECT_EQ(double{widened}, definition(half(bits))) << bits;
    }
  }
}

TEST(Half, NarrowingUndoesWidening) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int quiet = (bits & 0x7fff) > 0x7c00 ? 0x200 : 0;  // a signalling NaN becomes quiet
    EXPECT_EQ(to_f16(to_float(half(bits))).bits, bits | quiet) << bits;
  }
}

TEST(Half, NarrowsToTheNearestTiesToEven) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const int above = bits + 1;  // 0x7c00 stands for 65536 here: values from the midpoint 65520 on become infinity
    const double upper = above == 0x7c00 ? 65536.0 : definition(half(above));
    const auto middle = static_cast<float>((definition(half(bits)) + upper) / 2);
    const int even = bits % 2 == 0 ? bits : above;
    EXPECT_EQ(to_f16(middle).bits, even) << bits;
    EXPECT_EQ(to_f16(-middle).bits, even | 0x8000) << bits;
    EXPECT_EQ(to_f16(std::nextafter(middle, 0.0f)).bits, bits) << bits;
    EXPECT_EQ(to_f16(std::nextafter(middle, 1e9f)).bits, above) << bits;
  }
}

struct NarrowingCase {
  const char* name;
  float value;
  int f16_bits, bf16_bits;
};

const NarrowingCase kNarrowingCases[] = {
    {"largest_float_overflows", 3.4028235e38f, 0x7c00, 0x7f80},
    {"float_subnormal", 1e-45f, 0x0000, 0x0000},
    {"negative_zero", -0.0f, 0x8000, 0x8000},
    {"infinity", -INFINITY, 0xfc00, 0xff80},
    {"tie_to_even_down", 1.00390625f, 0x3c04, 0x3f80},  // 1 + 2^-8: midway between bfloat16's 1 and 1 + 2^-7
    {"tie_to_even_up", 1.01171875f, 0x3c0c, 0x3f82},    // 1 + 3 * 2^-8
    {"mantissa_carries_into_exponent", 1.9999999f, 0x4000, 0x4000},
};

TEST(Half, NarrowsSpecialValues) {
  for (const NarrowingCase& c : kNarrowingCases) {
    EXPECT_EQ(to_f16(c.value).bits, c.f16_bits) << c.name;
    EXPECT_EQ(to_bf16(c.value).bits, c.bf16_bits) << c.name;
  }
  const auto payload = std::bit_cast<float>(0x7f800001u);  // a NaN; its upper 16 bits alone would be infinity
  EXPECT_TRUE(std::isnan(to_float(to_f16(payload))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(payload))));
}

TEST(BFloat16, NarrowingUndoesWidening) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int quiet = (bits & 0x7fff) > 0x7f80 ? 0x40 : 0;
    EXPECT_EQ(to_bf16(to_float(bf16{static_cast<uint16_t>(bits)})).bits, bits | quiet) << bits;
  }
}

}  // namespace
}  // namespace warpchat
