// IEEE binary16 in software: same bits as F16C on every machine, independent of flush-to-zero modes.
#include "models/half.h"

namespace warpchat {
namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kBiasDifference = 112;  // float's exponent bias 127 minus binary16's 15

}  // namespace

float to_float(f16 value) {
  const uint32_t sign = uint32_t{value.bits & 0x8000u} << 16;
  const uint32_t magnitude = uint32_t{value.bits & 0x7fffu} << 13;  // exponent and mantissa in float's position
  const uint32_t exponent = value.bits & 0x7c00u;
  if (exponent == 0x7c00) return std::bit_cast<float>(sign | kFloatInfinity | magnitude);
  if (exponent != 0) return std::bit_cast<float>(sign | (magnitude + (kBiasDifference << 23)));
  // Subnormal: set the exponent of 2^-14 with its implicit one, then subtract that one.
  constexpr uint32_t kSmallestNormal = (kBiasDifference + 1) << 23;
  const float widened = std::bit_cast<float>(magnitude + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(widened));
}

f16 to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const auto half = [sign](uint32_t rest) { return f16{static_cast<uint16_t>(sign | rest)}; };
  if (magnitude > kFloatInfinity) return half(0x7e00 | ((magnitude >> 13) & 0x3ff));  // quiet, payload's top bits
  if (magnitude >= 0x477ff000) return half(0x7c00);  // 65520 and above are nearer to 2^16 than to 65504
  if (magnitude < (kBiasDifference + 1) << 23) {
    // Subnormal: the unit in the last place of 0.5 is 2^-24, so the addition rounds to the subnormal grid.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return half(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);  // nearest, ties to even
  return half((rounded >> 13) - (kBiasDifference << 10));
}

bf16 to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > kFloatInfinity) return bf16{static_cast<uint16_t>((bits >> 16) | 0x40)};
  return bf16{static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace warpchat
