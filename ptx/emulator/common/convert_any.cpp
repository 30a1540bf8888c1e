// Conversions in full generality: any source as an exact double or integer, rounded once to any real format.
#include <bit>
#include <cmath>

#include "ptx/emulator/common/common.h"
#include "ptx/emulator/conversion.h"

namespace ptx::emulator::common {
namespace {

struct Format {
  int bits, exponent_bits;  // significand with its hidden bit; IEEE layout with infinities unless finite_only
  bool finite_only;         // e4m3: no infinity, one NaN pattern
};
constexpr Format kF16{11, 5, false}, kBf16{8, 8, false}, kF32{24, 8, false}, kTf32{11, 8, false}, kE4m3{4, 4, true},
    kE5m2{3, 5, false};

// An exact value. A double holds every source except 64-bit integers, which are rounded from their significand.
struct Exact {
  bool negative = false, is_nan = false, is_infinite = false;
  uint64_t significand = 0;  // value = significand * 2^exponent
  int exponent = 0;
};

Exact exact(double x) {
  Exact e;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  e.negative = bits >> 63;
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  e.significand = bits & ((1ull << 52) - 1);
  e.is_nan = field == 0x7ff && e.significand;
  e.is_infinite = field == 0x7ff && !e.significand;
  if (field) e.significand |= 1ull << 52;
  e.exponent = (field ? field : 1) - 1075;
  return e;
}

Exact exact(uint64_t magnitude, bool negative) { return {negative, false, false, magnitude, 0}; }

bool rounds_up(Rounding mode, bool negative, bool odd, bool half, bool more) {
  switch (mode) {
    case Rounding::kZero:
      return false;
    case Rounding::kDown:
      return negative && (half || more);
    case Rounding::kUp:
      return !negative && (half || more);
    case Rounding::kNearestAway:
      return half;
    default:
      return half && (more || odd);
  }
}

// The format's bit pattern including sign, right-aligned.
uint32_t round_to(const Exact& e, const Format& f, Rounding mode, bool satfinite) {
  const int width = f.bits + f.exponent_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = e.negative ? 1u << (width - 1) : 0, mantissa_bits = static_cast<uint32_t>(f.bits - 1);
  const uint32_t infinity = ((1u << f.exponent_bits) - 1) << mantissa_bits;
  const uint32_t nan = f.finite_only || f.exponent_bits == 5 || f.bits < 24 ? (1u << (width - 1)) - 1 : 0x7fffffffu;
  const uint32_t largest = f.finite_only ? (1u << (width - 1)) - 2 : infinity - 1;
  if (e.is_nan) return nan;
  if (e.is_infinite) return sign | (satfinite ? largest : f.finite_only ? nan : infinity);
  if (e.significand == 0) return sign;
  const int top = 63 - std::countl_zero(e.significand) + e.exponent;  // exponent of the leading bit
  const int lowest = std::max(top - f.bits + 1, 1 - bias - f.bits + 1);
  const int shift = lowest - e.exponent;  // bits to drop
  uint64_t kept = shift <= 0 ? e.significand << -shift : shift < 64 ? e.significand >> shift : 0;
  const bool half = shift > 0 && shift <= 64 && (e.significand >> (shift - 1) & 1);
  const bool more = shift > 1 && (shift > 64 || (e.significand & ((1ull << (shift - 1)) - 1)));
  if (shift > 0 && rounds_up(mode, e.negative, kept & 1, half, more)) ++kept;
  if (kept == 0) return sign;
  // kept counts units of 2^lowest; a carry into a new bit is correct, as the pattern is monotonic
  const int exponent_field = lowest + f.bits - 1 + bias;  // exponent field of a normal number with that unit
  uint64_t pattern = exponent_field <= 1 && kept < (1ull << mantissa_bits)
                         ? kept
                         : (static_cast<uint64_t>(exponent_field - 1) << mantissa_bits) + kept;
  if (pattern > largest) {
    const bool to_largest = satfinite || mode == Rounding::kZero || (mode == Rounding::kDown && !e.negative) ||
                            (mode == Rounding::kUp && e.negative);
    pattern = to_largest ? largest : f.finite_only ? nan : infinity;
  }
  return sign | static_cast<uint32_t>(pattern);
}

double from_pattern(uint32_t bits, const Format& f) {
  const int width = f.bits + f.exponent_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t mantissa_bits = static_cast<uint32_t>(f.bits - 1),
                 field = bits >> mantissa_bits & ((1u << f.exponent_bits) - 1);
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = bits >> (width - 1) & 1 ? -1 : 1;
  if (f.finite_only ? (bits & ((1u << (width - 1)) - 1)) == (1u << (width - 1)) - 1
                    : field == (1u << f.exponent_bits) - 1) {
    return f.finite_only || mantissa ? std::nan("") : sign * HUGE_VAL;
  }
  const double m = field ? mantissa + static_cast<double>(1u << mantissa_bits) : mantissa;
  return sign * std::ldexp(m, (field ? static_cast<int>(field) : 1) - bias - static_cast<int>(mantissa_bits));
}

const Format* format_of(Type t) {
  switch (t) {
    case Type::f16:
      return &kF16;
    case Type::bf16:
      return &kBf16;
    case Type::f32:
      return &kF32;
    case Type::tf32:
      return &kTf32;
    default:
      return nullptr;
  }
}
bool is_integer(Type t) { return class_of(t) == Class::integer; }

uint64_t raw_lane(const uint8_t* column, uint32_t bytes, uint32_t lane) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, column + lane * bytes, bytes);
  return bits;
}

double real_source(const ConversionRequest& q, uint64_t raw) {
  if (q.from == Type::f64) return std::bit_cast<double>(raw);
  const double x = from_pattern(static_cast<uint32_t>(raw), *format_of(q.from));
  return q.flushes && q.from == Type::f32 && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

double rounded_whole(double x, Rounding mode) {
  switch (mode) {
    case Rounding::kZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
    case Rounding::kNone:
      return x;
    default:
      return std::nearbyint(x);
  }
}

uint64_t to_integer(const ConversionRequest& q, double x) {
  const uint32_t width = 8 * size_of(q.to);
  if (x != x) return q.from == Type::f64 || width == 64 ? 1ull << (width - 1) : 0;
  x = rounded_whole(x, q.rounding);
  const bool sign = is_signed(q.to);
  const double top = std::ldexp(1.0, static_cast<int>(width) - (sign ? 1 : 0)), bottom = sign ? -top : 0.0;
  if (x >= top) return sign ? (1ull << (width - 1)) - 1 : ~0ull >> (64 - width);
  if (x <= bottom) return sign ? ~0ull << (width - 1) : 0;
  return sign ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
}

uint64_t round_to_double(const Exact& e, Rounding mode) {  // from an integer
  if (e.significand == 0) return 0;
  const int top = 63 - std::countl_zero(e.significand), shift = top - 52;
  uint64_t kept = shift > 0 ? e.significand >> shift : e.significand << -shift;
  if (shift > 0) {
    const bool half = e.significand >> (shift - 1) & 1, more = (e.significand & ((1ull << (shift - 1)) - 1)) != 0;
    kept += rounds_up(mode, e.negative, kept & 1, half, more);
  }
  return (uint64_t{e.negative} << 63) | ((static_cast<uint64_t>(top + 1023 - 1) << 52) + kept);
}

uint64_t finish(const ConversionRequest& q, uint64_t bits) {
  if (q.to == Type::f64) {
    if (q.saturates) bits = std::bit_cast<uint64_t>(saturate(std::bit_cast<double>(bits)));
    return bits;
  }
  const Format& f = *format_of(q.to);
  const double x = from_pattern(static_cast<uint32_t>(bits), f);
  if (q.flushes && q.to == Type::f32 && std::fabs(x) < 0x1p-126) bits &= 0x80000000u;
  if (q.saturates) bits = round_to(exact(saturate(x)), f, Rounding::kNearest, false);
  if (q.relu && x < 0) bits = 0;
  if (q.relu && x == 0) bits = 0;
  return bits;
}

uint64_t to_real(const ConversionRequest& q, const Exact& e, double x) {
  if (q.to == Type::f64)
    return finish(q,
                  e.exponent == 0 && is_integer(q.from) ? round_to_double(e, q.rounding) : std::bit_cast<uint64_t>(x));
  uint32_t bits = round_to(e, *format_of(q.to), q.rounding, q.satfinite);
  if (q.to == Type::tf32) bits = e.is_nan ? 0x7fffffffu : (bits & 0x3ffffu) << 13 | (e.negative ? 0x80000000u : 0);
  if (q.to == Type::tf32) return q.relu && e.negative && !e.is_nan ? 0 : bits;
  return finish(q, bits);
}

uint64_t convert(const ConversionRequest& q, uint64_t raw) {
  if (is_integer(q.from)) {
    const uint32_t width = 8 * size_of(q.from);
    raw = width == 64 ? raw : raw & ((1ull << width) - 1);
    const bool negative = is_signed(q.from) && (raw >> (width - 1) & 1);
    const uint64_t magnitude = !negative ? raw : width == 64 ? 0 - raw : (1ull << width) - raw;
    return to_real(q, exact(magnitude, negative), 0);
  }
  double x = real_source(q, raw);
  if (is_integer(q.to)) return to_integer(q, x);
  if (q.to == q.from) x = rounded_whole(x, q.rounding);
  return to_real(q, exact(x), x);
}

void convert_lanes(Warp& w, const Instruction& i, uint32_t lanes) {
  const ConversionRequest q = ConversionRequest::unpack(i.flags);
  const uint32_t from_bytes = i.immediate & 0xff, to_bytes = i.immediate >> 8 & 0xff;
  uint8_t* d = w.registers + i.d;
  uint8_t results[kLanes * 8];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint64_t value = convert(q, raw_lane(w.registers + i.a, from_bytes, l));
    __builtin_memcpy(results + 8 * l, &value, 8);
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) __builtin_memcpy(d + l * to_bytes, results + 8 * l, to_bytes);
  }
}

// Two results: a in the upper half, b in the lower.
uint32_t narrow(float x, const Format& f, const ConversionRequest& q) {
  uint32_t bits = round_to(exact(static_cast<double>(x)), f, q.rounding, q.satfinite);
  const int width = f.bits + f.exponent_bits;
  if (q.relu && (bits >> (width - 1) & 1) && x == x) bits = 0;
  return bits;
}

template <const Format& f>
void pair_of_floats(Warp& w, const Instruction& i, uint32_t lanes) {
  const ConversionRequest q = ConversionRequest::unpack(i.flags);
  const float *a = column<float>(w, i.a), *b = column<float>(w, i.b);
  constexpr int kWidth = f.bits + f.exponent_bits;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint32_t both = narrow(a[l], f, q) << kWidth | narrow(b[l], f, q);
    if constexpr (kWidth == 16)
      column<uint32_t>(w, i.d)[l] = both;
    else
      column<uint16_t>(w, i.d)[l] = static_cast<uint16_t>(both);
  }
}

template <const Format& f>
void pair_of_halves(Warp& w, const Instruction& i, uint32_t lanes) {
  const ConversionRequest q = ConversionRequest::unpack(i.flags);
  const uint32_t* a = column<uint32_t>(w, i.a);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const float low = to_float(f16{static_cast<uint16_t>(a[l])}),
                high = to_float(f16{static_cast<uint16_t>(a[l] >> 16)});
    column<uint16_t>(w, i.d)[l] = static_cast<uint16_t>(narrow(high, f, q) << 8 | narrow(low, f, q));
  }
}

template <const Format& f>
void halves_of_pair(Warp& w, const Instruction& i, uint32_t lanes) {
  const ConversionRequest q = ConversionRequest::unpack(i.flags);
  const uint16_t* a = column<uint16_t>(w, i.a);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t both = 0;
    for (uint32_t h = 0; h < 2; ++h) {
      const double x = from_pattern(a[l] >> 8 * h & 0xff, f);
      const uint32_t bits = round_to(exact(x), kF16, Rounding::kNearest, false);
      both |= (q.relu && x < 0 ? 0 : bits) << 16 * h;
    }
    column<uint32_t>(w, i.d)[l] = both;
  }
}

template <class T>
T clamp_to(int32_t x) {
  const int32_t low = T(-1) < T(0) ? -(1 << (8 * sizeof(T) - 1)) : 0,
                high = T(-1) < T(0) ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << 8 * sizeof(T)) - 1;
  return static_cast<T>(x < low ? low : x > high ? high : x);
}

template <class T>
void pack_saturated(Warp& w, const Instruction& i, uint32_t lanes) {
  const int32_t *a = column<int32_t>(w, i.a), *b = column<int32_t>(w, i.b);
  const uint32_t* c = i.c == kNoColumn ? nullptr : column<uint32_t>(w, i.c);
  constexpr uint32_t kBits = 8 * sizeof(T), kMask = (1u << kBits) - 1;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint32_t both = (static_cast<uint32_t>(clamp_to<T>(a[l])) & kMask) << kBits |
                          (static_cast<uint32_t>(clamp_to<T>(b[l])) & kMask);
    column<uint32_t>(w, i.d)[l] = static_cast<uint32_t>(c ? uint64_t{c[l]} << 2 * kBits | both : both);
  }
}

#define EMULATOR_PAIR(name, function) \
  add(r, name, "", [](Warp& w, const Instruction& i, uint32_t lanes) { function(w, i, lanes); })

}  // namespace

void register_convert_any(Registry& r) {
  EMULATOR_PAIR("cvt.any", convert_lanes);
  EMULATOR_PAIR("cvt.pair.f16x2.f32", pair_of_floats<kF16>);
  EMULATOR_PAIR("cvt.pair.bf16x2.f32", pair_of_floats<kBf16>);
  EMULATOR_PAIR("cvt.pair.e4m3x2.f32", pair_of_floats<kE4m3>);
  EMULATOR_PAIR("cvt.pair.e5m2x2.f32", pair_of_floats<kE5m2>);
  EMULATOR_PAIR("cvt.pair.e4m3x2.f16x2", pair_of_halves<kE4m3>);
  EMULATOR_PAIR("cvt.pair.e5m2x2.f16x2", pair_of_halves<kE5m2>);
  EMULATOR_PAIR("cvt.pair.f16x2.e4m3x2", halves_of_pair<kE4m3>);
  EMULATOR_PAIR("cvt.pair.f16x2.e5m2x2", halves_of_pair<kE5m2>);
  EMULATOR_PAIR("cvt.pack.u16", pack_saturated<uint16_t>);
  EMULATOR_PAIR("cvt.pack.s16", pack_saturated<int16_t>);
  EMULATOR_PAIR("cvt.pack.u8", pack_saturated<uint8_t>);
  EMULATOR_PAIR("cvt.pack.s8", pack_saturated<int8_t>);
}

}  // namespace ptx::emulator::common
