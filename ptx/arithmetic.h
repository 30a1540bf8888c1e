// Arithmetic by name. Each line: result, operands, supported types, formula; minimum target if not sm_75. Spellings are
// in instruction_table.cpp.
#pragma once
#include "ptx/value.h"

namespace ptx {

enum class Round : uint8_t { kNearest, kZero, kDown, kUp };  // .rn (ties to even), .rz, .rm, .rp

// Modifiers of float arithmetic; only f32 has all of them.
struct Mode {
  Round round = Round::kNearest;
  bool flush = false;     // .ftz: subnormal inputs and results become 0
  bool saturate = false;  // .sat: the result is clamped to [0, 1], NaN gives 0
};
std::string spell(Mode mode);  // ".rn.ftz"

enum class FloatClass : uint8_t { kFinite, kInfinite, kNumber, kNan, kNormal, kSubnormal };

// The type of twice the width, which holds a product; the same type if there is none.
namespace maps {
template <class T>
T wide(T);
u32 wide(u16);
s32 wide(s16);
u64 wide(u32);
s64 wide(s32);
}  // namespace maps
template <class T>
using Wide = decltype(maps::wide(T{}));
template <class T>
concept Widenable = OneOf<T, u16, u32, s16, s32>;
template <class T>
concept Half = OneOf<T, f16, bf16, f16x2, bf16x2>;
template <class T>
concept Full = OneOf<T, f32, f64>;
template <class T>
concept Word = OneOf<T, u32, s32, b32>;  // 32 plain bits
template <class T>
concept LongWord = OneOf<T, u32, s32, b32, u64, s64, b64>;
template <class T>
concept LongInteger = OneOf<T, u32, s32, u64, s64>;

template <class T>
class ArithmeticOf {
 public:
  // Numbers
  static Reg<T> min(In<T> a, In<T> b) requires Numeric<T>;  // f16 and bf16 sm_80; if one is NaN, the other
  static Reg<T> max(In<T> a, In<T> b) requires Numeric<T>;
  static Reg<T> min_or_nan(In<T> a, In<T> b) requires(Half<T> || OneOf<T, f32>);  // sm_80; NaN if either is NaN
  static Reg<T> max_or_nan(In<T> a, In<T> b) requires(Half<T> || OneOf<T, f32>);
  static Reg<T> abs(In<T> a) requires Negatable<T>;
  static Reg<T> select(In<pred> p, In<T> a, In<T> b) requires NoPredicate<T>;  // p ? a : b

  // Integers; results wrap
  static Reg<T> mul_hi(In<T> a, In<T> b) requires Integer<T>;            // the upper half of a * b
  static Reg<T> mad(In<T> a, In<T> b, In<T> c) requires Integer<T>;      // a * b + c
  static Reg<T> mad_hi(In<T> a, In<T> b, In<T> c) requires Integer<T>;   // mul_hi(a, b) + c
  static Reg<T> sad(In<T> a, In<T> b, In<T> c) requires Integer<T>;      // |a - b| + c
  static Reg<Wide<T>> mul_wide(In<T> a, In<T> b) requires Widenable<T>;  // all of a * b
  static Reg<Wide<T>> mad_wide(In<T> a, In<T> b, In<Wide<T>> c) requires Widenable<T>;
  static Reg<T> add_saturated(In<T> a, In<T> b) requires OneOf<T, s32>;  // clamped to s32's range
  static Reg<T> sub_saturated(In<T> a, In<T> b) requires OneOf<T, s32>;

  // Bits
  static Reg<u32> popc(In<T> a) requires LongWord<T>;      // number of set bits
  static Reg<u32> clz(In<T> a) requires LongWord<T>;       // leading zeros; the width for 0
  static Reg<T> brev(In<T> a) requires LongWord<T>;        // bits in reverse order
  static Reg<u32> bfind(In<T> a) requires LongInteger<T>;  // highest bit that is not the sign; ~0: none
  static Reg<T> bfe(In<T> a, In<u32> first, In<u32> count) requires LongInteger<T>;  // sign-extended if s32
  static Reg<T> bfi(In<T> bits, In<T> into, In<u32> first, In<u32> count) requires LongWord<T>;
  static Reg<T> lop3(In<T> a, In<T> b, In<T> c, int table) requires Word<T>;  // bit (a<<2|b<<1|c) of table, per bit
  static Reg<T> prmt(In<T> a, In<T> b, Raw32 selector) requires Word<T>;      // byte i is byte selector[4i..] of {b,a}
  static Reg<T> funnel_left(In<T> low, In<T> high,
                            In<u32> n) requires Word<T>;  // upper word of {high,low} << min(n, 32)
  static Reg<T> funnel_right(In<T> low, In<T> high,
                             In<u32> n) requires Word<T>;          // lower word of {high,low} >> min(n, 32)
  static Reg<T> rotate_left(In<T> a, In<u32> n) requires Word<T>;  // n modulo 32

  // Floats, rounded once
  static Reg<T> add(In<T> a, In<T> b, Mode mode = {}) requires Float<T>;           // bf16 sm_90
  static Reg<T> sub(In<T> a, In<T> b, Mode mode = {}) requires Float<T>;           // bf16 sm_90
  static Reg<T> mul(In<T> a, In<T> b, Mode mode = {}) requires Float<T>;           // bf16 sm_90
  static Reg<T> fma(In<T> a, In<T> b, In<T> c, Mode mode = {}) requires Float<T>;  // a * b + c; bf16 sm_80
  static Reg<T> fma_relu(In<T> a, In<T> b, In<T> c) requires Half<T>;              // max(a * b + c, 0); sm_80
  static Reg<T> div(In<T> a, In<T> b, Mode mode = {}) requires Full<T>;
  static Reg<T> rcp(In<T> a, Mode mode = {}) requires Full<T>;  // 1 / a
  static Reg<T> sqrt(In<T> a, Mode mode = {}) requires Full<T>;
  static Reg<T> copysign(In<T> sign, In<T> magnitude) requires Full<T>;
  static Pred is(FloatClass what, In<T> a) requires Full<T>;
  static Pred compare(Compare how, In<T> a, In<T> b) requires Numeric<T>;  // kLtu: less or unordered, ...

  // Approximations: relative error about 2^-22 for f32 (PTX ISA, "Floating Point Instructions"). `flush`: .ftz
  static Reg<T> div_approx(In<T> a, In<T> b, bool flush = false) requires OneOf<T, f32>;  // 0 for |b| > 2^126
  static Reg<T> div_full(In<T> a, In<T> b, bool flush = false) requires OneOf<T, f32>;    // within 2 ulp everywhere
  static Reg<T> rcp_approx(In<T> a, bool flush = false) requires OneOf<T, f32>;
  static Reg<T> sqrt_approx(In<T> a, bool flush = false) requires OneOf<T, f32>;
  static Reg<T> rsqrt(In<T> a, bool flush = false) requires Full<T>;      // 1 / sqrt(a)
  static Reg<T> sin(In<T> a, bool flush = false) requires OneOf<T, f32>;  // absolute error 2^-20.5 in [-pi, pi]
  static Reg<T> cos(In<T> a, bool flush = false) requires OneOf<T, f32>;
  static Reg<T> lg2(In<T> a, bool flush = false) requires OneOf<T, f32>;              // logarithm to base 2
  static Reg<T> ex2(In<T> a, bool flush = false) requires(Half<T> || OneOf<T, f32>);  // 2^a; bf16 sm_90, always flushes
  static Reg<T> tanh(In<T> a) requires(Half<T> || OneOf<T, f32>);  // relative error 2^-11; bf16 sm_90
};

// The functions of all types under one name.
template <class... T>
class ArithmeticOn : public ArithmeticOf<T>... {
 public:
  using ArithmeticOf<T>::min..., ArithmeticOf<T>::max..., ArithmeticOf<T>::min_or_nan...,
      ArithmeticOf<T>::max_or_nan...;
  using ArithmeticOf<T>::abs..., ArithmeticOf<T>::select..., ArithmeticOf<T>::mul_hi..., ArithmeticOf<T>::mad...;
  using ArithmeticOf<T>::mad_hi..., ArithmeticOf<T>::sad..., ArithmeticOf<T>::mul_wide..., ArithmeticOf<T>::mad_wide...;
  using ArithmeticOf<T>::add_saturated..., ArithmeticOf<T>::sub_saturated..., ArithmeticOf<T>::popc...;
  using ArithmeticOf<T>::clz..., ArithmeticOf<T>::brev..., ArithmeticOf<T>::bfind..., ArithmeticOf<T>::bfe...;
  using ArithmeticOf<T>::bfi..., ArithmeticOf<T>::lop3..., ArithmeticOf<T>::prmt..., ArithmeticOf<T>::funnel_left...;
  using ArithmeticOf<T>::funnel_right..., ArithmeticOf<T>::rotate_left..., ArithmeticOf<T>::add...,
      ArithmeticOf<T>::sub...;
  using ArithmeticOf<T>::mul..., ArithmeticOf<T>::fma..., ArithmeticOf<T>::fma_relu..., ArithmeticOf<T>::div...;
  using ArithmeticOf<T>::rcp..., ArithmeticOf<T>::sqrt..., ArithmeticOf<T>::copysign..., ArithmeticOf<T>::is...;
  using ArithmeticOf<T>::compare..., ArithmeticOf<T>::div_approx..., ArithmeticOf<T>::div_full...;
  using ArithmeticOf<T>::rcp_approx..., ArithmeticOf<T>::sqrt_approx..., ArithmeticOf<T>::rsqrt...,
      ArithmeticOf<T>::sin...;
  using ArithmeticOf<T>::cos..., ArithmeticOf<T>::lg2..., ArithmeticOf<T>::ex2..., ArithmeticOf<T>::tanh...;
};

class Arithmetic
    : public ArithmeticOn<u16, u32, u64, s16, s32, s64, b16, b32, b64, u8x4, s8x4, f16, bf16, f16x2, bf16x2, f32, f64> {
 public:
  // c + sum of a[i] * b[i], i < 4; wraps at 32 bits
  static Reg<u32> dp4a(In<u8x4> a, In<u8x4> b, In<u32> c);
  static Reg<s32> dp4a(In<s8x4> a, In<s8x4> b, In<s32> c);
  static Reg<s32> dp4a(In<u8x4> a, In<s8x4> b, In<s32> c);
  static Reg<s32> dp4a(In<s8x4> a, In<u8x4> b, In<s32> c);
  static Reg<f32> saturate(In<f32> a);  // clamped to [0, 1], NaN gives 0
};

}  // namespace ptx
