// Conversions between types: cvt with every rounding mode, and packing and unpacking of f16, words and pairs.
#pragma once
#include <optional>

#include "ptx/arithmetic.h"

namespace ptx {

// Converts `value` to `to`, optionally saturated. Without `round`, a conversion that needs rounding uses the default of
// Conversions::convert. Shared by the templates below.
Operand convert(Body& body, Type to, Type from, const Operand& value, std::optional<Round> round, bool saturate,
                Where at);
Operand join(Body& body, Type to, const Operand& low, const Operand& high, Where at);
std::vector<Operand> split(Body& body, Type half, const Operand& value, Where at);

template <class V, class To>
concept HalfOf = Value<V> && 2 * bytes_of(ElementOf<V>::kType) == bytes_of(To::kType);
template <class V, class To>
concept TwiceOf = Value<V> && bytes_of(ElementOf<V>::kType)
== 2 * bytes_of(To::kType);

class Conversions {
 public:
  // x as another type. Integers keep their low bits. Conversions to floats, and to narrower floats, round to nearest
  // even. Floats to integers truncate and clamp to the range (NaN: 0). convert<s8>(x) is a Reg<s32>. bf16: f32
  // conversions sm_80, integer conversions sm_90.
  template <class To, Value V>
  static Reg<Loaded<To>> convert(const V& x, std::optional<Round> round = {}, Where at = Where::current()) {
    return {x.body(), ptx::convert(x.body(), To::kType, ElementOf<V>::kType, x.operand(), round, false, at)};
  }
  // The same with saturation: integers clamp to the range of To, floats to [0, 1], NaN gives 0.
  template <class To, Value V>
  static Reg<Loaded<To>> convert_saturated(const V& x, std::optional<Round> round = {}, Where at = Where::current()) {
    return {x.body(), ptx::convert(x.body(), To::kType, ElementOf<V>::kType, x.operand(), round, true, at)};
  }

  static Reg<f16> round(In<f16> x, Round to);  // to an integer: nearest, towards zero, down or up
  static Reg<f32> round(In<f32> x, Round to);
  static Reg<f64> round(In<f64> x, Round to);

  // Two f32 in one register, `low` in the low half. f16x2: one instruction from sm_80, three before; bf16x2: sm_80.
  template <OneOf<f16x2, bf16x2> To>
  static Reg<To> convert_pair(In<f32> low, In<f32> high, Round round = Round::kNearest);
  static Reg<b16> to_e4m3x2(In<f32> low, In<f32> high);  // 8-bit floats; sm_89; clamped to the largest
  static Reg<b16> to_e5m2x2(In<f32> low, In<f32> high);
  static Reg<f16x2> from_e4m3x2(In<b16> pair);  // sm_89, exact
  static Reg<f16x2> from_e5m2x2(In<b16> pair);
  static Vec<f32, 2> widen(In<f16x2> pair);   // both halves, exact
  static Vec<f32, 2> widen(In<bf16x2> pair);  // sm_80

  // Packs two values into one of twice the size, `low` in the low bits, and unpacks them.
  template <class To, HalfOf<To> V>
  static Reg<To> join(const V& low, const V& high, Where at = Where::current()) {
    return {low.body(), ptx::join(low.body(), To::kType, low.operand(), high.operand(), at)};
  }
  template <class To, TwiceOf<To> V>
  static Vec<To, 2> split(const V& x, Where at = Where::current()) {
    return {x.body(), ptx::split(x.body(), To::kType, x.operand(), at)};
  }
};

Reg<u64> wide(In<u32> x);  // for sizes and offsets, whose products need 64 bits
Reg<s64> wide(In<s32> x);

}  // namespace ptx
