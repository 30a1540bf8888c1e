#include "ptx/arithmetic.h"

namespace ptx {
namespace {

constexpr std::string_view kRounds[] = {".rn", ".rz", ".rm", ".rp"};
constexpr std::string_view kClasses[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

template <class T>
std::string name() {
  return "." + std::string(info(T::kType).name);
}

// Untyped form of an integer type: .b32 for u32, s32 and b32.
template <class T>
std::string bits() {
  return bytes_of(T::kType) == 2 ? ".b16" : bytes_of(T::kType) == 4 ? ".b32" : ".b64";
}

// The type used by selp, mov and memory accesses.
template <class T>
std::string plain() {
  return "." + std::string(info(T::kType).plain);
}

std::string ftz(bool flush) { return flush ? ".ftz" : ""; }

// Emits `spelling` with any operands and a Result.
template <class Result, class... Ins>
Reg<Result> op(const std::string& spelling, const Ins&... ins) {
  Body& body = body_of({&ins...});
  const Where at = (*std::initializer_list<const AnyIn*>{&ins...}.begin())->at;
  return Reg<Result>(body, emit(body, spelling, Result::kType, {ins.operand...}, at));
}

}  // namespace

std::string spell(Mode mode) {
  return std::string(kRounds[static_cast<int>(mode.round)]) + (mode.flush ? ".ftz" : "") +
         (mode.saturate ? ".sat" : "");
}

template <class T>
Reg<T> ArithmeticOf<T>::min(In<T> a, In<T> b) requires Numeric<T> {
  return op<T>("min" + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::max(In<T> a, In<T> b) requires Numeric<T> {
  return op<T>("max" + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::min_or_nan(In<T> a, In<T> b) requires(Half<T> || OneOf<T, f32>) {
  return op<T>("min.NaN" + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::max_or_nan(In<T> a, In<T> b) requires(Half<T> || OneOf<T, f32>) {
  return op<T>("max.NaN" + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::abs(In<T> a) requires Negatable<T> {
  return op<T>("abs" + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::select(In<pred> p, In<T> a, In<T> b) requires NoPredicate<T> {
  return op<T>("selp" + plain<T>(), a, b, p);
}
template <class T>
Reg<T> ArithmeticOf<T>::mul_hi(In<T> a, In<T> b) requires Integer<T> {
  return op<T>("mul.hi" + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::mad(In<T> a, In<T> b, In<T> c) requires Integer<T> {
  return op<T>("mad.lo" + name<T>(), a, b, c);
}
template <class T>
Reg<T> ArithmeticOf<T>::mad_hi(In<T> a, In<T> b, In<T> c) requires Integer<T> {
  return op<T>("mad.hi" + name<T>(), a, b, c);
}
template <class T>
Reg<T> ArithmeticOf<T>::sad(In<T> a, In<T> b, In<T> c) requires Integer<T> {
  return op<T>("sad" + name<T>(), a, b, c);
}
template <class T>
Reg<Wide<T>> ArithmeticOf<T>::mul_wide(In<T> a, In<T> b) requires Widenable<T> {
  return op<Wide<T>>("mul.wide" + name<T>(), a, b);
}
template <class T>
Reg<Wide<T>> ArithmeticOf<T>::mad_wide(In<T> a, In<T> b, In<Wide<T>> c) requires Widenable<T> {
  return op<Wide<T>>("mad.wide" + name<T>(), a, b, c);
}
template <class T>
Reg<T> ArithmeticOf<T>::add_saturated(In<T> a, In<T> b) requires OneOf<T, s32> {
  return op<T>("add.sat.s32", a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::sub_saturated(In<T> a, In<T> b) requires OneOf<T, s32> {
  return op<T>("sub.sat.s32", a, b);
}
template <class T>
Reg<u32> ArithmeticOf<T>::popc(In<T> a) requires LongWord<T> {
  return op<u32>("popc" + bits<T>(), a);
}
template <class T>
Reg<u32> ArithmeticOf<T>::clz(In<T> a) requires LongWord<T> {
  return op<u32>("clz" + bits<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::brev(In<T> a) requires LongWord<T> {
  return op<T>("brev" + bits<T>(), a);
}
template <class T>
Reg<u32> ArithmeticOf<T>::bfind(In<T> a) requires LongInteger<T> {
  return op<u32>("bfind" + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::bfe(In<T> a, In<u32> first, In<u32> count) requires LongInteger<T> {
  return op<T>("bfe" + name<T>(), a, first, count);
}
template <class T>
Reg<T> ArithmeticOf<T>::bfi(In<T> bits_in, In<T> into, In<u32> first, In<u32> count) requires LongWord<T> {
  return op<T>("bfi" + bits<T>(), bits_in, into, first, count);
}
template <class T>
Reg<T> ArithmeticOf<T>::lop3(In<T> a, In<T> b, In<T> c, int table) requires Word<T> {
  return op<T>("lop3.b32", a, b, c, In<b32>(table));
}
template <class T>
Reg<T> ArithmeticOf<T>::prmt(In<T> a, In<T> b, Raw32 selector) requires Word<T> {
  return op<T>("prmt.b32", a, b, selector);
}
template <class T>
Reg<T> ArithmeticOf<T>::funnel_left(In<T> low, In<T> high, In<u32> n) requires Word<T> {
  return op<T>("shf.l.clamp.b32", low, high, n);
}
template <class T>
Reg<T> ArithmeticOf<T>::funnel_right(In<T> low, In<T> high, In<u32> n) requires Word<T> {
  return op<T>("shf.r.clamp.b32", low, high, n);
}
template <class T>
Reg<T> ArithmeticOf<T>::rotate_left(In<T> a, In<u32> n) requires Word<T> {
  return op<T>("shf.l.wrap.b32", a, a, n);
}
template <class T>
Reg<T> ArithmeticOf<T>::add(In<T> a, In<T> b, Mode mode) requires Float<T> {
  return op<T>("add" + spell(mode) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::sub(In<T> a, In<T> b, Mode mode) requires Float<T> {
  return op<T>("sub" + spell(mode) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::mul(In<T> a, In<T> b, Mode mode) requires Float<T> {
  return op<T>("mul" + spell(mode) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::fma(In<T> a, In<T> b, In<T> c, Mode mode) requires Float<T> {
  return op<T>("fma" + spell(mode) + name<T>(), a, b, c);
}
template <class T>
Reg<T> ArithmeticOf<T>::fma_relu(In<T> a, In<T> b, In<T> c) requires Half<T> {
  return op<T>("fma.rn.relu" + name<T>(), a, b, c);
}
template <class T>
Reg<T> ArithmeticOf<T>::div(In<T> a, In<T> b, Mode mode) requires Full<T> {
  return op<T>("div" + spell(mode) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::rcp(In<T> a, Mode mode) requires Full<T> {
  return op<T>("rcp" + spell(mode) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::sqrt(In<T> a, Mode mode) requires Full<T> {
  return op<T>("sqrt" + spell(mode) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::copysign(In<T> sign, In<T> magnitude) requires Full<T> {
  return op<T>("copysign" + name<T>(), sign, magnitude);
}
template <class T>
Reg<pred> ArithmeticOf<T>::is(FloatClass what, In<T> a) requires Full<T> {
  return op<pred>("testp." + std::string(kClasses[static_cast<int>(what)]) + name<T>(), a);
}
template <class T>
Reg<pred> ArithmeticOf<T>::compare(Compare how, In<T> a, In<T> b) requires Numeric<T> {
  return {body_of({&a, &b}), ptx::compare(how, T::kType, a, b)};
}
template <class T>
Reg<T> ArithmeticOf<T>::div_approx(In<T> a, In<T> b, bool flush) requires OneOf<T, f32> {
  return op<T>("div.approx" + ftz(flush) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::div_full(In<T> a, In<T> b, bool flush) requires OneOf<T, f32> {
  return op<T>("div.full" + ftz(flush) + name<T>(), a, b);
}
template <class T>
Reg<T> ArithmeticOf<T>::rcp_approx(In<T> a, bool flush) requires OneOf<T, f32> {
  return op<T>("rcp.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::sqrt_approx(In<T> a, bool flush) requires OneOf<T, f32> {
  return op<T>("sqrt.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::rsqrt(In<T> a, bool flush) requires Full<T> {
  return op<T>("rsqrt.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::sin(In<T> a, bool flush) requires OneOf<T, f32> {
  return op<T>("sin.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::cos(In<T> a, bool flush) requires OneOf<T, f32> {
  return op<T>("cos.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::lg2(In<T> a, bool flush) requires OneOf<T, f32> {
  return op<T>("lg2.approx" + ftz(flush) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::ex2(In<T> a, bool flush) requires(Half<T> || OneOf<T, f32>) {
  return op<T>("ex2.approx" + ftz(flush || OneOf<T, bf16, bf16x2>) + name<T>(), a);
}
template <class T>
Reg<T> ArithmeticOf<T>::tanh(In<T> a) requires(Half<T> || OneOf<T, f32>) {
  return op<T>("tanh.approx" + name<T>(), a);
}

Reg<u32> Arithmetic::dp4a(In<u8x4> a, In<u8x4> b, In<u32> c) { return op<u32>("dp4a.u32.u32", a, b, c); }
Reg<s32> Arithmetic::dp4a(In<s8x4> a, In<s8x4> b, In<s32> c) { return op<s32>("dp4a.s32.s32", a, b, c); }
Reg<s32> Arithmetic::dp4a(In<u8x4> a, In<s8x4> b, In<s32> c) { return op<s32>("dp4a.u32.s32", a, b, c); }
Reg<s32> Arithmetic::dp4a(In<s8x4> a, In<u8x4> b, In<s32> c) { return op<s32>("dp4a.s32.u32", a, b, c); }
Reg<f32> Arithmetic::saturate(In<f32> a) { return op<f32>("cvt.sat.f32.f32", a); }

template class ArithmeticOf<u16>;
template class ArithmeticOf<u32>;
template class ArithmeticOf<u64>;
template class ArithmeticOf<s16>;
template class ArithmeticOf<s32>;
template class ArithmeticOf<s64>;
template class ArithmeticOf<b16>;
template class ArithmeticOf<b32>;
template class ArithmeticOf<b64>;
template class ArithmeticOf<u8x4>;
template class ArithmeticOf<s8x4>;
template class ArithmeticOf<f16>;
template class ArithmeticOf<bf16>;
template class ArithmeticOf<f16x2>;
template class ArithmeticOf<bf16x2>;
template class ArithmeticOf<f32>;
template class ArithmeticOf<f64>;

}  // namespace ptx
