// A general conversion that involves a real number, as encoded in the instruction.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/emulator/types.h"

namespace ptx::emulator {

enum class Rounding : uint8_t {
  kNone,
  kNearest,
  kZero,
  kDown,
  kUp,
  kNearestAway
};  // rn rz rm rp rna, with or without i

inline Rounding rounding_named(std::string_view name) {
  if (name == "rna") return Rounding::kNearestAway;
  if (name.starts_with("rn")) return Rounding::kNearest;
  if (name.starts_with("rz")) return Rounding::kZero;
  if (name.starts_with("rm")) return Rounding::kDown;
  if (name.starts_with("rp")) return Rounding::kUp;
  return Rounding::kNone;
}

struct ConversionRequest {
  Type to = Type::none, from = Type::none;
  Rounding rounding = Rounding::kNone;
  bool flushes = false, saturates = false, relu = false, satfinite = false;

  uint32_t pack() const {
    return static_cast<uint32_t>(to) | static_cast<uint32_t>(from) << 5 | static_cast<uint32_t>(rounding) << 10 |
           uint32_t{flushes} << 14 | uint32_t{saturates} << 15 | uint32_t{relu} << 16 | uint32_t{satfinite} << 17;
  }
  static ConversionRequest unpack(uint32_t flags) {
    ConversionRequest r;
    r.to = static_cast<Type>(flags & 31);
    r.from = static_cast<Type>(flags >> 5 & 31);
    r.rounding = static_cast<Rounding>(flags >> 10 & 15);
    r.flushes = flags >> 14 & 1;
    r.saturates = flags >> 15 & 1;
    r.relu = flags >> 16 & 1;
    r.satfinite = flags >> 17 & 1;
    return r;
  }
};

}  // namespace ptx::emulator
