// Every integer and bit instruction against C++, with corner and random values.
#include "tests/emulator/lane_function.h"

namespace ptx::emulator {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
using u128 = unsigned __int128;
using s128 = __int128;

template <class T>
T wrap(s128 x) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(static_cast<u128>(x)));
}

template <class T>
void arithmetic_of(const std::string& type) {
  const auto name = [&](const char* op) { return std::string(op) + "." + type; };
  expect_lanes<T, T, T>(name("add") + " %d, %a, %b;", [](T a, T b) { return wrap<T>(s128(a) + b); });
  expect_lanes<T, T, T>(name("sub") + " %d, %a, %b;", [](T a, T b) { return wrap<T>(s128(a) - b); });
  expect_lanes<T, T, T>(name("mul.lo") + " %d, %a, %b;", [](T a, T b) { return wrap<T>(s128(a) * b); });
  expect_lanes<T, T, T>(name("mul.hi") + " %d, %a, %b;",
                        [](T a, T b) { return wrap<T>(s128(a) * s128(b) >> 8 * sizeof(T)); });
  expect_lanes<T, T, T, T>(name("mad.lo") + " %d, %a, %b, %c;",
                           [](T a, T b, T c) { return wrap<T>(s128(wrap<T>(s128(a) * b)) + c); });
  expect_lanes<T, T, T, T>(name("mad.hi") + " %d, %a, %b, %c;",
                           [](T a, T b, T c) { return wrap<T>((s128(a) * b >> 8 * sizeof(T)) + c); });
  expect_lanes<T, T, T, T>(name("sad") + " %d, %a, %b, %c;",
                           [](T a, T b, T c) { return wrap<T>(s128(c) + (a < b ? s128(b) - a : s128(a) - b)); });
  expect_lanes<T, T, T>(name("min") + " %d, %a, %b;", [](T a, T b) { return std::min(a, b); });
  expect_lanes<T, T, T>(name("max") + " %d, %a, %b;", [](T a, T b) { return std::max(a, b); });
  // a division by zero has no defined result, but the lane continues
  expect_lanes<T, T, T>(name("div") + " %d, %a, %b;",
                        [](T a, T b) { return b == 0 ? wrap<T>(-1) : wrap<T>(s128(a) / b); });
  expect_lanes<T, T, T>(name("rem") + " %d, %a, %b;", [](T a, T b) { return b == 0 ? a : wrap<T>(s128(a) % b); });
}

TEST(Integer, Arithmetic) {
  arithmetic_of<u16>("u16");
  arithmetic_of<s16>("s16");
  arithmetic_of<u32>("u32");
  arithmetic_of<s32>("s32");
  arithmetic_of<s64>("s64");
}

TEST(Integer, ArithmeticOf64UnsignedBits) {
  expect_lanes<u64, u64, u64>("mul.hi.u64 %d, %a, %b;",
                              [](u64 a, u64 b) { return static_cast<u64>(u128(a) * b >> 64); });
  expect_lanes<u64, u64, u64, u64>("mad.hi.u64 %d, %a, %b, %c;",
                                   [](u64 a, u64 b, u64 c) { return static_cast<u64>(u128(a) * b >> 64) + c; });
  expect_lanes<u64, u64, u64>("div.u64 %d, %a, %b;", [](u64 a, u64 b) { return b ? a / b : ~0ull; });
  expect_lanes<u64, u64, u64>("min.u64 %d, %a, %b;", [](u64 a, u64 b) { return std::min(a, b); });
}

TEST(Integer, NegateAndAbsolute) {
  expect_lanes<s16, s16>("neg.s16 %d, %a;", [](s16 a) { return wrap<s16>(-s128(a)); });
  expect_lanes<s32, s32>("neg.s32 %d, %a;", [](s32 a) { return wrap<s32>(-s128(a)); });
  expect_lanes<s64, s64>("neg.s64 %d, %a;", [](s64 a) { return wrap<s64>(-s128(a)); });
  expect_lanes<s32, s32>("abs.s32 %d, %a;", [](s32 a) { return wrap<s32>(a < 0 ? -s128(a) : a); });
  expect_lanes<s64, s64>("abs.s64 %d, %a;", [](s64 a) { return wrap<s64>(a < 0 ? -s128(a) : a); });
}

TEST(Integer, WideProducts) {
  expect_lanes<u32, u16, u16>("mul.wide.u16 %d, %a, %b;", [](u16 a, u16 b) { return u32(a) * b; });
  expect_lanes<s32, s16, s16>("mul.wide.s16 %d, %a, %b;", [](s16 a, s16 b) { return s32(a) * b; });
  expect_lanes<u64, u32, u32>("mul.wide.u32 %d, %a, %b;", [](u32 a, u32 b) { return u64(a) * b; });
  expect_lanes<s64, s32, s32>("mul.wide.s32 %d, %a, %b;", [](s32 a, s32 b) { return s64(a) * b; });
  expect_lanes<u64, u32, u32, u64>("mad.wide.u32 %d, %a, %b, %c;", [](u32 a, u32 b, u64 c) { return u64(a) * b + c; });
  expect_lanes<s64, s32, s32, s64>("mad.wide.s32 %d, %a, %b, %c;",
                                   [](s32 a, s32 b, s64 c) { return wrap<s64>(s128(a) * b + c); });
}

TEST(Integer, Saturation) {
  const auto clamp = [](s128 x) {
    return static_cast<s32>(std::clamp<s128>(x, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max()));
  };
  expect_lanes<s32, s32, s32>("add.sat.s32 %d, %a, %b;", [&](s32 a, s32 b) { return clamp(s128(a) + b); });
  expect_lanes<s32, s32, s32>("sub.sat.s32 %d, %a, %b;", [&](s32 a, s32 b) { return clamp(s128(a) - b); });
  expect_lanes<s32, s32, s32, s32>("mad.hi.sat.s32 %d, %a, %b, %c;",
                                   [&](s32 a, s32 b, s32 c) { return clamp((s128(a) * b >> 32) + c); });
}

TEST(Integer, TwentyFourBits) {
  const auto sign = [](s32 x) { return static_cast<s32>(static_cast<u32>(x) << 8) >> 8; };
  expect_lanes<u32, u32, u32>("mul24.lo.u32 %d, %a, %b;",
                              [](u32 a, u32 b) { return static_cast<u32>(u64(a & 0xffffff) * (b & 0xffffff)); });
  expect_lanes<s32, s32, s32>("mul24.lo.s32 %d, %a, %b;",
                              [&](s32 a, s32 b) { return wrap<s32>(s128(sign(a)) * sign(b)); });
  expect_lanes<u32, u32, u32>("mul24.hi.u32 %d, %a, %b;",
                              [](u32 a, u32 b) { return static_cast<u32>(u64(a & 0xffffff) * (b & 0xffffff) >> 16); });
  expect_lanes<s32, s32, s32, s32>("mad24.lo.s32 %d, %a, %b, %c;",
                                   [&](s32 a, s32 b, s32 c) { return wrap<s32>(s128(sign(a)) * sign(b) + c); });
}

TEST(Integer, CarryChains) {  // one carry bit per lane
  expect_lanes<u32, u32, u32, u32>("add.cc.u32 %u, %a, %b;\naddc.u32 %d, %c, 0;",
                                   [](u32 a, u32 b, u32 c) { return c + static_cast<u32>((u64(a) + b) >> 32); });
  expect_lanes<u32, u32, u32, u32>("sub.cc.u32 %u, %a, %b;\nsubc.u32 %d, %c, 5;",
                                   [](u32 a, u32 b, u32 c) { return c - 5 - (a < b); });
  expect_lanes<u32, u32, u32, u32>("mad.lo.cc.u32 %u, %a, %b, %c;\nmadc.hi.u32 %d, %a, %b, 1;",
                                   [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64(a) * b + c) >> 32) + 1; });
  expect_lanes<u64, u64, u64, u64>("add.cc.u64 %l, %a, %b;\naddc.cc.u64 %m, %c, %c;\naddc.u64 %d, 0, 0;",
                                   [](u64 a, u64 b, u64 c) {
                                     const u64 carry = static_cast<u64>((u128(a) + b) >> 64);
                                     return static_cast<u64>((u128(c) + c + carry) >> 64);
                                   });
}

TEST(Integer, ShiftsClampAtTheWidth) {
  expect_lanes<u32, u32, u32>("shl.b32 %d, %a, %b;", [](u32 a, u32 n) { return n > 31 ? 0 : a << n; });
  expect_lanes<u64, u64, u32>("shl.b64 %d, %a, %b;", [](u64 a, u32 n) { return n > 63 ? 0 : a << n; });
  expect_lanes<u16, u16, u32>("shl.b16 %d, %a, %b;", [](u16 a, u32 n) { return n > 15 ? 0 : a << n; });
  expect_lanes<u32, u32, u32>("shr.u32 %d, %a, %b;", [](u32 a, u32 n) { return n > 31 ? 0 : a >> n; });
  expect_lanes<s32, s32, u32>("shr.s32 %d, %a, %b;", [](s32 a, u32 n) { return a >> std::min(n, 31u); });
  expect_lanes<s64, s64, u32>("shr.s64 %d, %a, %b;", [](s64 a, u32 n) { return a >> std::min(n, 63u); });
  expect_lanes<s16, s16, u32>("shr.s16 %d, %a, %b;", [](s16 a, u32 n) { return a >> std::min(n, 15u); });
  expect_lanes<u64, u64, u32>("shr.b64 %d, %a, %b;", [](u64 a, u32 n) { return n > 63 ? 0 : a >> n; });
}

TEST(Integer, FunnelShifts) {
  const auto left = [](u32 a, u32 b, u32 n) { return static_cast<u32>((u64(b) << 32 | a) << n >> 32); };
  const auto right = [](u32 a, u32 b, u32 n) { return static_cast<u32>((u64(b) << 32 | a) >> n); };
  expect_lanes<u32, u32, u32, u32>("shf.l.wrap.b32 %d, %a, %b, %c;",
                                   [&](u32 a, u32 b, u32 n) { return left(a, b, n & 31); });
  expect_lanes<u32, u32, u32, u32>("shf.r.wrap.b32 %d, %a, %b, %c;",
                                   [&](u32 a, u32 b, u32 n) { return right(a, b, n & 31); });
  expect_lanes<u32, u32, u32, u32>("shf.l.clamp.b32 %d, %a, %b, %c;",
                                   [&](u32 a, u32 b, u32 n) { return left(a, b, std::min(n, 32u)); });
  expect_lanes<u32, u32, u32, u32>("shf.r.clamp.b32 %d, %a, %b, %c;",
                                   [&](u32 a, u32 b, u32 n) { return right(a, b, std::min(n, 32u)); });
}

TEST(Integer, Counting) {
  expect_lanes<u32, u32>("popc.b32 %d, %a;", [](u32 a) { return std::popcount(a); });
  expect_lanes<u32, u64>("popc.b64 %d, %a;", [](u64 a) { return std::popcount(a); });
  expect_lanes<u32, u32>("clz.b32 %d, %a;", [](u32 a) { return std::countl_zero(a); });
  expect_lanes<u32, u64>("clz.b64 %d, %a;", [](u64 a) { return std::countl_zero(a); });
  const auto high = [](u64 a) { return a ? 63u - static_cast<u32>(std::countl_zero(a)) : ~0u; };
  expect_lanes<u32, u32>("bfind.u32 %d, %a;", [&](u32 a) { return high(a); });
  expect_lanes<u32, s32>("bfind.s32 %d, %a;", [&](s32 a) { return high(static_cast<u32>(a < 0 ? ~a : a)); });
  expect_lanes<u32, s64>("bfind.s64 %d, %a;", [&](s64 a) { return high(static_cast<u64>(a < 0 ? ~a : a)); });
  expect_lanes<u32, u32>("bfind.shiftamt.u32 %d, %a;", [&](u32 a) { return a ? 31 - high(a) : ~0u; });
  expect_lanes<u32, u32, u32, s32>("and.b32 %u, %b, 31;\nfns.b32 %d, %a, %u, %c;", [](u32 mask, u32 base, s32 n) {
    base &= 31;
    if (n == 0) return mask >> base & 1 ? base : ~0u;
    s64 left = n > 0 ? n : -s64(n);
    for (s64 at = base; at >= 0 && at<32; at += n> 0 ? 1 : -1) {
      if ((mask >> at & 1) && --left == 0) return static_cast<u32>(at);
    }
    return ~0u;
  });
}

template <class T>
T field(T a, u32 position, u32 length) {  // bit by bit, as the ISA defines it
  constexpr u32 kTop = 8 * sizeof(T) - 1;
  position &= 255;
  length &= 255;
  const bool is_signed = std::is_signed_v<T>;
  const auto bit = [&](u32 i) { return static_cast<u64>(a) >> i & 1; };
  const u64 sign = !is_signed || length == 0 ? 0 : bit(std::min(position + length - 1, kTop));
  u64 d = 0;
  for (u32 i = 0; i <= kTop; ++i) d |= (i < length && position + i <= kTop ? bit(position + i) : sign) << i;
  return static_cast<T>(d);
}
template <class T>
T inserted(T a, T b, u32 position, u32 length) {
  for (u32 i = 0; i < (length & 255) && (position & 255) + i < 8 * sizeof(T); ++i) {
    const u32 to = (position & 255) + i;
    b = static_cast<T>((b & ~(T(1) << to)) | (a >> i & 1) << to);
  }
  return b;
}

TEST(Integer, BitFields) {
  expect_lanes<u32, u32, u32, u32>("bfe.u32 %d, %a, %b, %c;", field<u32>);
  expect_lanes<s32, s32, u32, u32>("bfe.s32 %d, %a, %b, %c;", field<s32>);
  expect_lanes<u64, u64, u32, u32>("bfe.u64 %d, %a, %b, %c;", field<u64>);
  expect_lanes<s64, s64, u32, u32>("bfe.s64 %d, %a, %b, %c;", field<s64>);
  expect_lanes<u32, u32, u32, u32, u32>("bfi.b32 %d, %a, %b, %c, %e;", inserted<u32>);
  expect_lanes<u64, u64, u64, u32, u32>("bfi.b64 %d, %a, %b, %c, %e;", inserted<u64>);
  expect_lanes<u32, u32, u32>("bmsk.clamp.b32 %d, %a, %b;", [](u32 p, u32 n) {
    return p > 31 ? 0 : static_cast<u32>((n > 31 ? ~0ull >> 32 : (1ull << n) - 1) << p);
  });
  expect_lanes<u32, u32, u32>("bmsk.wrap.b32 %d, %a, %b;",
                              [](u32 p, u32 n) { return static_cast<u32>(((1ull << (n & 31)) - 1) << (p & 31)); });
  expect_lanes<u32, u32, u32>("szext.clamp.u32 %d, %a, %b;",
                              [](u32 a, u32 n) { return n > 31 ? a : a & ((1u << n) - 1); });
}

TEST(Integer, Logic) {
  expect_lanes<u32, u32, u32>("and.b32 %d, %a, %b;", [](u32 a, u32 b) { return a & b; });
  expect_lanes<u64, u64, u64>("or.b64 %d, %a, %b;", [](u64 a, u64 b) { return a | b; });
  expect_lanes<u16, u16, u16>("xor.b16 %d, %a, %b;", [](u16 a, u16 b) { return a ^ b; });
  expect_lanes<u32, u32>("not.b32 %d, %a;", [](u32 a) { return ~a; });
  expect_lanes<u32, u32>("cnot.b32 %d, %a;", [](u32 a) { return a == 0; });
  expect_lanes<u64, u64>("brev.b64 %d, %a;", [](u64 a) {
    u64 d = 0;
    for (int i = 0; i < 64; ++i) d |= (a >> i & 1) << (63 - i);
    return d;
  });
  for (int table : {0x00, 0x80, 0xfe, 0x96, 0xca, 0x1b, 0xff}) {
    expect_lanes<u32, u32, u32, u32>(
        "lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", [&](u32 a, u32 b, u32 c) {
          u32 d = 0;
          for (int i = 0; i < 32; ++i)
            d |= (static_cast<u32>(table) >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
          return d;
        });
  }
}

u32 permuted(u32 a, u32 b, u32 selector) {
  u32 d = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 nibble = selector >> 4 * i & 15;
    u32 byte = static_cast<u32>((u64(b) << 32 | a) >> 8 * (nibble & 7)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    d |= byte << 8 * i;
  }
  return d;
}

TEST(Integer, Permutations) {
  expect_lanes<u32, u32, u32, u32>("prmt.b32 %d, %a, %b, %c;", permuted);
  const auto mode = [](const char* name, std::array<u32, 4> selectors) {
    expect_lanes<u32, u32, u32, u32>(std::string("prmt.b32.") + name + " %d, %a, %b, %c;",
                                     [=](u32 a, u32 b, u32 c) { return permuted(a, b, selectors[c & 3]); });
  };
  mode("f4e", {0x3210, 0x4321, 0x5432, 0x6543});
  mode("b4e", {0x5670, 0x6701, 0x7012, 0x0123});
  mode("rc8", {0x0000, 0x1111, 0x2222, 0x3333});
  mode("ecl", {0x3210, 0x3211, 0x3222, 0x3333});
  mode("ecr", {0x0000, 0x1110, 0x2210, 0x3210});
  mode("rc16", {0x1010, 0x3232, 0x1010, 0x3232});
}

template <class A, class B>
s32 dot4(u32 a, u32 b, s32 c) {  // each operand has its own sign, the sum wraps
  s64 sum = c;
  for (int i = 0; i < 4; ++i) sum += s64(static_cast<A>(a >> 8 * i)) * static_cast<B>(b >> 8 * i);
  return wrap<s32>(sum);
}
template <class A, class B>
s32 dot2(u32 a, u32 b, s32 c, int first) {
  s64 sum = c;
  for (int i = 0; i < 2; ++i) sum += s64(static_cast<A>(a >> 16 * i)) * static_cast<B>(b >> 8 * (first + i));
  return wrap<s32>(sum);
}

TEST(Integer, DotProducts) {
  expect_lanes<s32, u32, u32, s32>("dp4a.s32.s32 %d, %a, %b, %c;", dot4<int8_t, int8_t>);
  expect_lanes<s32, u32, u32, s32>("dp4a.u32.s32 %d, %a, %b, %c;", dot4<uint8_t, int8_t>);
  expect_lanes<s32, u32, u32, s32>("dp4a.s32.u32 %d, %a, %b, %c;", dot4<int8_t, uint8_t>);
  expect_lanes<s32, u32, u32, s32>("dp4a.u32.u32 %d, %a, %b, %c;", dot4<uint8_t, uint8_t>);
  expect_lanes<s32, u32, u32, s32>("dp2a.lo.s32.s32 %d, %a, %b, %c;",
                                   [](u32 a, u32 b, s32 c) { return dot2<s16, int8_t>(a, b, c, 0); });
  expect_lanes<s32, u32, u32, s32>("dp2a.hi.u32.s32 %d, %a, %b, %c;",
                                   [](u32 a, u32 b, s32 c) { return dot2<u16, int8_t>(a, b, c, 2); });
}

TEST(Integer, PairsOfHalves) {
  const auto each = [](u32 a, u32 b, auto f) {
    return (u32(u16(f(a & 0xffff, b & 0xffff)))) | u32(u16(f(a >> 16, b >> 16))) << 16;
  };
  expect_lanes<u32, u32, u32>("add.u16x2 %d, %a, %b;",
                              [&](u32 a, u32 b) { return each(a, b, [](u32 x, u32 y) { return x + y; }); });
  expect_lanes<u32, u32, u32>("min.s16x2 %d, %a, %b;", [&](u32 a, u32 b) {
    return each(a, b, [](u32 x, u32 y) { return std::min(s16(x), s16(y)); });
  });
  expect_lanes<u32, u32, u32>("max.relu.s16x2 %d, %a, %b;", [&](u32 a, u32 b) {
    return each(a, b, [](u32 x, u32 y) { return std::max({s16(x), s16(y), s16(0)}); });
  });
  expect_lanes<s32, s32, s32>("min.relu.s32 %d, %a, %b;", [](s32 a, s32 b) { return std::max(std::min(a, b), 0); });
}

TEST(Integer, Video) {
  expect_lanes<s32, s32, s32>("vadd.s32.s32.s32.sat %d, %a, %b;", [](s32 a, s32 b) {
    return static_cast<s32>(std::clamp<s64>(s64(a) + b, INT32_MIN, INT32_MAX));
  });
  expect_lanes<u32, u32, u32, u32>("vsub.u32.u32.u32.add %d, %a.b1, %b.h1, %c;",
                                   [](u32 a, u32 b, u32 c) { return (a >> 8 & 255) - (b >> 16) + c; });
  expect_lanes<u32, u32, u32>("vabsdiff.u32.s32.s32 %d, %a.h0, %b.b3;",
                              [](u32 a, u32 b) { return static_cast<u32>(std::abs(s16(a) - int8_t(b >> 24))); });
  expect_lanes<u32, u32, u32, u32>("vmax.u32.u32.u32 %d.b2, %a, %b, %c;",
                                   [](u32 a, u32 b, u32 c) { return (c & ~0xff0000u) | (std::max(a, b) & 255) << 16; });
  expect_lanes<u32, u32, u32>("vshl.u32.u32.u32.clamp %d, %a, %b;", [](u32 a, u32 b) { return b > 31 ? 0 : a << b; });
  expect_lanes<s32, s32, s32, s32>("vmad.s32.s32.s32.shr7 %d, %a.b0, %b.b1, %c;", [](s32 a, s32 b, s32 c) {
    return static_cast<s32>((s64(int8_t(a)) * int8_t(b >> 8) + c) >> 7);
  });
  expect_lanes<u32, u32, u32>("vset.u32.s32.lt %d, %a, %b;", [](u32 a, u32 b) { return s64(a) < s64(s32(b)); });
  const auto bytes = [](u32 a, u32 b, u32 c, auto f) {
    for (int i = 0; i < 4; ++i)
      c = (c & ~(255u << 8 * i)) | (static_cast<u32>(f(a >> 8 * i & 255, b >> 8 * i & 255)) & 255) << 8 * i;
    return c;
  };
  expect_lanes<u32, u32, u32, u32>("vadd4.u32.u32.u32.sat %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    return bytes(a, b, c, [](u32 x, u32 y) { return std::min(x + y, 255u); });
  });
  expect_lanes<u32, u32, u32, u32>("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    for (int i = 0; i < 4; ++i) c += static_cast<u32>(std::abs(int(a >> 8 * i & 255) - int(b >> 8 * i & 255)));
    return c;
  });
  expect_lanes<u32, u32, u32, u32>("vmax2.s32.s32.s32 %d.h1, %a.h02, %b.h31, %c;", [](u32 a, u32 b, u32 c) {
    // the upper half, which is written, takes half 0 of a and half 3, the upper one of b
    return (c & 0xffff) | static_cast<u32>(static_cast<u16>(std::max(s16(a), s16(b >> 16)))) << 16;
  });
  expect_lanes<u32, u32, u32, u32>("vavrg4.u32.u32.u32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    return bytes(a, b, c, [](u32 x, u32 y) { return (x + y + 1) / 2; });
  });
}

}  // namespace
}  // namespace ptx::emulator
