#include "ptx/number.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace ptx {
namespace {

// Rounds to `fraction_bits` with exponents from `minimum_exponent` on, ties to even; returns sign and magnitude.
uint16_t narrow(double number, int fraction_bits, int minimum_exponent, int maximum_exponent) {
  const int exponent_bits = 15 - fraction_bits;
  const uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (std::isnan(number)) return 0x7fff;  // the GPU's canonical NaN
  const double magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  const int exponent = std::max(std::ilogb(magnitude), minimum_exponent);
  const double steps = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));  // integer, ties to even
  const double carried = std::ldexp(steps, exponent - fraction_bits);
  if (carried >= std::ldexp(1.0, maximum_exponent + 1)) return sign | infinity;
  // Subnormals lack the leading one; a carry propagates into the exponent.
  const int biased = exponent - minimum_exponent;
  return sign | static_cast<uint16_t>((biased << fraction_bits) + static_cast<int>(steps));
}

uint64_t low_bits(uint64_t bits, int bytes) { return bytes >= 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1); }

[[noreturn]] void does_not_fit(const std::string& number, Type type, Where at) {
  throw Error("ptx: (" + spell(at) + "): " + number + " does not fit " + std::string(info(type).name));
}

}  // namespace

uint16_t half_bits(double number) { return narrow(number, 10, -14, 15); }
uint16_t bfloat16_bits(double number) { return narrow(number, 7, -126, 127); }

Operand number_operand(Type type, double number) {
  switch (type) {
    case Type::kF16:
      return immediate_operand(half_bits(number), type);
    case Type::kBf16:
      return immediate_operand(bfloat16_bits(number), type);
    case Type::kF16x2:
      return immediate_operand(half_bits(number) * 0x10001u, type);
    case Type::kBf16x2:
      return immediate_operand(bfloat16_bits(number) * 0x10001u, type);
    case Type::kF32:
      return immediate_operand(std::bit_cast<uint32_t>(static_cast<float>(number)), type);
    default:
      return immediate_operand(std::bit_cast<uint64_t>(number), Type::kF64);
  }
}

Operand number_operand(Type type, int64_t number, Where at) {
  if (number >= 0) return number_operand(type, static_cast<uint64_t>(number), at);
  const TypeInfo& t = info(type);
  const int64_t minimum = t.bytes == 8 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (8 * t.bytes - 1));
  if (t.family == Family::kUnsigned || number < minimum) does_not_fit(std::to_string(number), type, at);
  return immediate_operand(low_bits(static_cast<uint64_t>(number), t.bytes), type);
}

Operand number_operand(Type type, uint64_t number, Where at) {
  const TypeInfo& t = info(type);
  const int bits = type == Type::kPred ? 1 : 8 * t.bytes - (t.family == Family::kSigned ? 1 : 0);
  if (bits < 64 && number >> bits) does_not_fit(std::to_string(number), type, at);
  return immediate_operand(number, type);
}

std::string spell_immediate(const Operand& immediate) {
  const TypeInfo& type = info(immediate.type);
  char text[32];
  if (immediate.type == Type::kF32) {
    std::snprintf(text, sizeof text, "0f%08X", static_cast<unsigned>(immediate.bits));
  } else if (immediate.type == Type::kF64) {
    std::snprintf(text, sizeof text, "0d%016llX", static_cast<unsigned long long>(immediate.bits));
  } else if (type.family == Family::kSigned) {
    const int unused = 64 - 8 * type.bytes;
    return std::to_string(static_cast<int64_t>(immediate.bits << unused) >> unused);
  } else if (type.family == Family::kUnsigned || immediate.bits < 10) {
    return std::to_string(immediate.bits) + (immediate.bits >> 63 ? "U" : "");
  } else {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(immediate.bits));
  }
  return text;
}

}  // namespace ptx
