// Arithmetic on f16, bf16 and their pairs: computed in float and rounded once.
#include <cmath>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

template <class H>
inline H flush_half(H x) {
  if constexpr (sizeof(H) == 2 && __is_same(H, f16))
    return (x.bits & 0x7c00) ? x : H{static_cast<uint16_t>(x.bits & 0x8000)};
  else
    return x;
}
template <class H>
inline H saturate_half(H x) {
  return from_float<H>(saturate(EMULATOR_ISA::to_float(x)));
}
template <class H>
inline H relu_half(H x) {
  const bool negative = (x.bits & 0x8000) && !is_nan(x);
  return negative ? H{0} : x;
}

// Flags of a 16-bit float operation, in PTX's spelling order.
enum HalfFlags : uint32_t { kFlush = 1, kSaturate = 2, kRelu = 4, kNaN = 8, kXorSign = 16 };

template <class H, uint32_t flags>
inline H in(H x) {
  return flags & kFlush ? flush_half(x) : x;
}
template <class H, uint32_t flags>
inline H out(H x) {
  if constexpr ((flags & kFlush) != 0) x = flush_half(x);
  if constexpr ((flags & kSaturate) != 0) x = saturate_half(x);
  if constexpr ((flags & kRelu) != 0) x = relu_half(x);
  return x;
}

// Registers F for a 16-bit float type and its pair; F maps scalars to a scalar.
template <class H, class P, uint32_t flags, class F>
void two(Registry& r, const char* name, F) {
  op<H, H, H>(r, name, Name<H>::value, [](H a, H b) { return out<H, flags>(F{}(in<H, flags>(a), in<H, flags>(b))); });
  op<P, P, P>(r, name, Name<P>::value, [](P a, P b) {
    return pack<P>(out<H, flags>(F{}(in<H, flags>(low(a)), in<H, flags>(low(b)))),
                   out<H, flags>(F{}(in<H, flags>(high(a)), in<H, flags>(high(b)))));
  });
}
template <class H, class P, uint32_t flags, class F>
void three(Registry& r, const char* name, F) {
  op<H, H, H, H>(r, name, Name<H>::value,
                 [](H a, H b, H c) { return out<H, flags>(F{}(in<H, flags>(a), in<H, flags>(b), in<H, flags>(c))); });
  op<P, P, P, P>(r, name, Name<P>::value, [](P a, P b, P c) {
    return pack<P>(out<H, flags>(F{}(in<H, flags>(low(a)), in<H, flags>(low(b)), in<H, flags>(low(c)))),
                   out<H, flags>(F{}(in<H, flags>(high(a)), in<H, flags>(high(b)), in<H, flags>(high(c)))));
  });
}
template <class H, class P, uint32_t flags, class F>
void one(Registry& r, const char* name, F) {
  op<H, H>(r, name, Name<H>::value, [](H a) { return out<H, flags>(F{}(in<H, flags>(a))); });
  op<P, P>(r, name, Name<P>::value, [](P a) {
    return pack<P>(out<H, flags>(F{}(in<H, flags>(low(a)))), out<H, flags>(F{}(in<H, flags>(high(a)))));
  });
}

constexpr auto kAdd = [](auto a, auto b) { return from_float<decltype(a)>(to_float(a) + to_float(b)); };
constexpr auto kSub = [](auto a, auto b) { return from_float<decltype(a)>(to_float(a) - to_float(b)); };
constexpr auto kMul = [](auto a, auto b) { return from_float<decltype(a)>(to_float(a) * to_float(b)); };
constexpr auto kFma = [](auto a, auto b, auto c) {
  return from_float<decltype(a)>(fma_odd(to_float(a), to_float(b), to_float(c)));
};
constexpr auto kNeg = [](auto a) { return decltype(a){static_cast<uint16_t>(a.bits ^ 0x8000)}; };
constexpr auto kAbs = [](auto a) { return decltype(a){static_cast<uint16_t>(a.bits & 0x7fff)}; };

// 16-bit floats order like their sign-magnitude bits: -0 below +0.
inline int32_t rank(uint16_t bits) { return bits & 0x8000 ? -1 - static_cast<int32_t>(bits & 0x7fff) : bits; }
template <class H, uint32_t flags, bool min>
struct Pick {
  H operator()(H a, H b) const {
    const uint16_t sign = (a.bits ^ b.bits) & 0x8000;
    H x = a, y = b;
    if constexpr ((flags & kXorSign) != 0) {
      x.bits &= 0x7fff;
      y.bits &= 0x7fff;
    }
    const bool first = min ? rank(x.bits) < rank(y.bits) : rank(x.bits) > rank(y.bits);
    H r = first ? x : y;
    r = is_nan(a) ? y : r;
    r = is_nan(b) ? x : r;
    const bool any = (flags & kNaN) != 0 ? is_nan(a) || is_nan(b) : is_nan(a) && is_nan(b);
    if constexpr ((flags & kXorSign) != 0) r.bits = static_cast<uint16_t>((r.bits & 0x7fff) | sign);
    return any ? H{0x7fff} : r;
  }
};

template <class H, class P, uint32_t flags>
void order(Registry& r, const char* min, const char* greatest) {
  two<H, P, flags>(r, min, Pick<H, flags, true>{});
  two<H, P, flags>(r, greatest, Pick<H, flags, false>{});
}

template <class H, class P>
void common(Registry& r) {
  two<H, P, 0>(r, "add.rn", kAdd);
  two<H, P, 0>(r, "sub.rn", kSub);
  two<H, P, 0>(r, "mul.rn", kMul);
  three<H, P, 0>(r, "fma.rn", kFma);
  three<H, P, kRelu>(r, "fma.rn.relu", kFma);
  one<H, P, 0>(r, "neg", kNeg);
  one<H, P, 0>(r, "abs", kAbs);
  order<H, P, 0>(r, "min", "max");
  order<H, P, kNaN>(r, "min.NaN", "max.NaN");
  order<H, P, kXorSign>(r, "min.xorsign.abs", "max.xorsign.abs");
  order<H, P, kNaN | kXorSign>(r, "min.NaN.xorsign.abs", "max.NaN.xorsign.abs");
}

void flushed(Registry& r) {
  using H = f16;
  using P = f16x2;
  two<H, P, kFlush>(r, "add.rn.ftz", kAdd);
  two<H, P, kFlush>(r, "sub.rn.ftz", kSub);
  two<H, P, kFlush>(r, "mul.rn.ftz", kMul);
  two<H, P, kSaturate>(r, "add.rn.sat", kAdd);
  two<H, P, kSaturate>(r, "sub.rn.sat", kSub);
  two<H, P, kSaturate>(r, "mul.rn.sat", kMul);
  two<H, P, kFlush | kSaturate>(r, "add.rn.ftz.sat", kAdd);
  two<H, P, kFlush | kSaturate>(r, "sub.rn.ftz.sat", kSub);
  two<H, P, kFlush | kSaturate>(r, "mul.rn.ftz.sat", kMul);
  three<H, P, kFlush>(r, "fma.rn.ftz", kFma);
  three<H, P, kSaturate>(r, "fma.rn.sat", kFma);
  three<H, P, kFlush | kSaturate>(r, "fma.rn.ftz.sat", kFma);
  three<H, P, kFlush | kRelu>(r, "fma.rn.ftz.relu", kFma);
  one<H, P, kFlush>(r, "neg.ftz", kNeg);
  one<H, P, kFlush>(r, "abs.ftz", kAbs);
  order<H, P, kFlush>(r, "min.ftz", "max.ftz");
  order<H, P, kFlush | kNaN>(r, "min.ftz.NaN", "max.ftz.NaN");
}

constexpr auto kExp2 = [](auto a) {
  return from_float<decltype(a)>(static_cast<float>(std::exp2(static_cast<double>(to_float(a)))));
};
constexpr auto kTanh = [](auto a) {
  return from_float<decltype(a)>(static_cast<float>(std::tanh(static_cast<double>(to_float(a)))));
};

}  // namespace

void register_halves(Registry& r) {
  common<f16, f16x2>(r);
  common<bf16, bf16x2>(r);
  flushed(r);
  one<f16, f16x2, 0>(r, "ex2.approx", kExp2);
  one<f16, f16x2, 0>(r, "tanh.approx", kTanh);
  one<bf16, bf16x2, 0>(r, "ex2.approx.ftz", kExp2);
  one<bf16, bf16x2, 0>(r, "tanh.approx", kTanh);
}

}  // namespace ptx::emulator::EMULATOR_ISA
