// Bit operations: shifts clamp at the width; fields follow PTX's rules for positions and lengths beyond it.
#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

using Words = Types<Bits16, Bits32, Bits64>;

template <class T>
T shift_left(T a, uint32_t n) {
  return n >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << (n & (8 * sizeof(T) - 1)));
}
template <class T>
T shift_right(T a, uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  if constexpr (T(-1) < T(0))
    return static_cast<T>(a >> (n >= kBits ? kBits - 1 : n));
  else
    return n >= kBits ? T(0) : static_cast<T>(a >> (n & (kBits - 1)));
}

template <class T>
uint32_t leading_zeros(T x) {
  if constexpr (sizeof(T) == 8)
    return x ? static_cast<uint32_t>(__builtin_clzll(x)) : 64;
  else
    return x ? static_cast<uint32_t>(__builtin_clz(x)) : 32;
}
template <class T>
T reverse(T x) {
  uint64_t v = x;
  v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
  v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
  v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
  return static_cast<T>(__builtin_bswap64(v) >> (64 - 8 * sizeof(T)));
}

// Position of the highest bit that differs from the sign; 0xffffffff if there is none.
template <class T>
uint32_t find_high(T a) {
  Unsigned<T> x = static_cast<Unsigned<T>>(a);
  if constexpr (T(-1) < T(0)) x = a < 0 ? static_cast<Unsigned<T>>(~x) : x;
  return x == 0 ? 0xffffffffu : static_cast<uint32_t>(8 * sizeof(T) - 1) - leading_zeros(x);
}

// Length 0 gives 0; bits beyond the top are copies of the field's (or a's) sign, zeros if unsigned.
template <class T>
T extract(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  using U = Unsigned<T>;
  if (length == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    const T moved = position >= kBits ? static_cast<T>(a >> (kBits - 1)) : static_cast<T>(a >> position);
    if (length >= kBits || position >= kBits || position + length >= kBits) return moved;
    return static_cast<T>(static_cast<T>(static_cast<U>(moved) << (kBits - length)) >> (kBits - length));
  } else {
    const U moved = position >= kBits ? U(0) : static_cast<U>(a >> position);
    return length >= kBits ? moved : static_cast<T>(moved & ((U(1) << length) - 1));
  }
}

template <class T>
T insert(T field, T base, uint32_t position, uint32_t length) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  if (length == 0 || position >= kBits) return base;
  const T ones = length >= kBits ? ~T(0) : static_cast<T>((T(1) << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((base & ~mask) | ((field << position) & mask));
}

template <class T>
void fields(Registry& r) {
  op<T, T, uint32_t, uint32_t>(r, "bfe", Name<T>::value, [](T a, uint32_t p, uint32_t n) { return extract(a, p, n); });
  op<uint32_t, T>(r, "bfind", Name<T>::value, [](T a) { return find_high(a); });
  op<uint32_t, T>(r, "bfind.shiftamt", Name<T>::value, [](T a) {
    const uint32_t high = find_high(a);
    return high == 0xffffffffu ? high : static_cast<uint32_t>(8 * sizeof(T) - 1) - high;
  });
}

template <class T, bool wraps>
T extend(T a, uint32_t n) {  // keeps n bits, fills with their sign or with zeros
  if (wraps) n &= 31;
  if (n >= 32) return a;
  if (n == 0) return 0;
  return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (32 - n)) >> (32 - n));
}
template <bool wraps>
uint32_t mask_of(uint32_t position, uint32_t length) {
  if (wraps) {
    position &= 31;
    length &= 31;
  }
  if (position >= 32 || length == 0) return 0;
  const uint32_t ones = length >= 32 ? ~0u : (1u << length) - 1;
  return ones << position;
}

inline uint32_t permute(uint64_t bytes, uint32_t selector) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> 4 * i & 0xf;
    uint32_t byte = static_cast<uint32_t>(bytes >> 8 * (pick & 7)) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

// Selectors of the prmt modes, by the low two bits of c.
template <uint16_t s0, uint16_t s1, uint16_t s2, uint16_t s3>
uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c) {
  constexpr uint16_t kSelectors[4] = {s0, s1, s2, s3};
  return permute(a | static_cast<uint64_t>(b) << 32, kSelectors[c & 3]);
}
#define PERMUTE_MODE(name, ...)               \
  op<uint32_t, uint32_t, uint32_t, uint32_t>( \
      r, "prmt.b32", name, [](uint32_t a, uint32_t b, uint32_t c) { return permute_mode<__VA_ARGS__>(a, b, c); })

void register_permutations(Registry& r) {
  op<uint32_t, uint32_t, uint32_t, uint32_t>(r, "prmt", ".b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return permute(a | static_cast<uint64_t>(b) << 32, c);
  });
  PERMUTE_MODE(".f4e", 0x3210, 0x4321, 0x5432, 0x6543);
  PERMUTE_MODE(".b4e", 0x5670, 0x6701, 0x7012, 0x0123);
  PERMUTE_MODE(".rc8", 0x0000, 0x1111, 0x2222, 0x3333);
  PERMUTE_MODE(".ecl", 0x3210, 0x3211, 0x3222, 0x3333);
  PERMUTE_MODE(".ecr", 0x0000, 0x1110, 0x2210, 0x3210);
  PERMUTE_MODE(".rc16", 0x1010, 0x3232, 0x1010, 0x3232);
}

// Any function of three bits: the truth table is the immediate; each of its eight minterms is tested once per
// instruction.
struct Lop3 {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    uint32_t* d = column<uint32_t>(w, i.d);
    const uint32_t *a = column<uint32_t>(w, i.a), *b = column<uint32_t>(w, i.b), *c = column<uint32_t>(w, i.c);
    uint32_t t[8];
    for (uint32_t k = 0; k < 8; ++k) t[k] = i.immediate >> k & 1 ? ~0u : 0u;
    EMULATOR_LANES {
      const uint32_t x = a[l], y = b[l], z = c[l];
      const uint32_t r = (t[0] & ~x & ~y & ~z) | (t[1] & ~x & ~y & z) | (t[2] & ~x & y & ~z) | (t[3] & ~x & y & z) |
                         (t[4] & x & ~y & ~z) | (t[5] & x & ~y & z) | (t[6] & x & y & ~z) | (t[7] & x & y & z);
      d[l] = lanes >> l & 1 ? r : d[l];
    }
  }
};

// The n-th set bit of the mask at or after (n > 0), at or before (n < 0) the base; 0xffffffff if there is none.
uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t n) {
  if (n == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
  const int32_t step = n > 0 ? 1 : -1;
  int64_t left = n > 0 ? n : -int64_t{n};
  for (int32_t at = static_cast<int32_t>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) && --left == 0) return static_cast<uint32_t>(at);
  }
  return 0xffffffffu;
}

// a is the low word, b the high one.
inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n) {
  return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << n) >> 32);
}
inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> n);
}

void register_shifts(Registry& r) {
  op<uint16_t, uint16_t, uint32_t>(r, "shl", ".b16", [](uint16_t a, uint32_t n) { return shift_left(a, n); });
  op<uint32_t, uint32_t, uint32_t>(r, "shl", ".b32", [](uint32_t a, uint32_t n) { return shift_left(a, n); });
  op<uint64_t, uint64_t, uint32_t>(r, "shl", ".b64", [](uint64_t a, uint32_t n) { return shift_left(a, n); });
#define SHIFT_RIGHT(T, suffix) op<T, T, uint32_t>(r, "shr", suffix, [](T a, uint32_t n) { return shift_right(a, n); })
  SHIFT_RIGHT(uint16_t, ".b16");
  SHIFT_RIGHT(uint32_t, ".b32");
  SHIFT_RIGHT(uint64_t, ".b64");
  SHIFT_RIGHT(uint16_t, ".u16");
  SHIFT_RIGHT(uint32_t, ".u32");
  SHIFT_RIGHT(uint64_t, ".u64");
  SHIFT_RIGHT(int16_t, ".s16");
  SHIFT_RIGHT(int32_t, ".s32");
  SHIFT_RIGHT(int64_t, ".s64");
  using U = uint32_t;
  op<U, U, U, U>(r, "shf.l.wrap", ".b32", [](U a, U b, U c) { return funnel_left(a, b, c & 31); });
  op<U, U, U, U>(r, "shf.l.clamp", ".b32", [](U a, U b, U c) { return funnel_left(a, b, c < 32 ? c : 32); });
  op<U, U, U, U>(r, "shf.r.wrap", ".b32", [](U a, U b, U c) { return funnel_right(a, b, c & 31); });
  op<U, U, U, U>(r, "shf.r.clamp", ".b32", [](U a, U b, U c) { return funnel_right(a, b, c < 32 ? c : 32); });
}

}  // namespace

void register_bits(Registry& r) {
  binary(r, "and", Words{}, [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
  binary(r, "or", Words{}, [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
  binary(r, "xor", Words{}, [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
  unary(r, "not", Words{}, [](auto a) { return static_cast<decltype(a)>(~a); });
  unary(r, "cnot", Words{}, [](auto a) { return static_cast<decltype(a)>(a == 0); });
  unary(r, "mov", Words{}, [](auto a) { return a; });
  unary(r, "brev", Types<Bits32, Bits64>{}, [](auto a) { return reverse(a); });
  op<uint32_t, uint32_t>(r, "popc", ".b32", [](uint32_t a) { return static_cast<uint32_t>(__builtin_popcount(a)); });
  op<uint32_t, uint64_t>(r, "popc", ".b64", [](uint64_t a) { return static_cast<uint32_t>(__builtin_popcountll(a)); });
  op<uint32_t, uint32_t>(r, "clz", ".b32", [](uint32_t a) { return leading_zeros(a); });
  op<uint32_t, uint64_t>(r, "clz", ".b64", [](uint64_t a) { return leading_zeros(a); });
  register_shifts(r);
  register_permutations(r);
  fields<uint32_t>(r);
  fields<int32_t>(r);
  fields<uint64_t>(r);
  fields<int64_t>(r);
  using U = uint32_t;
  op<U, U, U, U, U>(r, "bfi", ".b32", [](U a, U b, U p, U n) { return insert(a, b, p, n); });
  op<uint64_t, uint64_t, uint64_t, U, U>(r, "bfi", ".b64",
                                         [](uint64_t a, uint64_t b, U p, U n) { return insert(a, b, p, n); });
  op<U, U, U>(r, "szext.wrap", ".u32", [](U a, U n) { return extend<U, true>(a, n); });
  op<U, U, U>(r, "szext.clamp", ".u32", [](U a, U n) { return extend<U, false>(a, n); });
  op<int32_t, int32_t, U>(r, "szext.wrap", ".s32", [](int32_t a, U n) { return extend<int32_t, true>(a, n); });
  op<int32_t, int32_t, U>(r, "szext.clamp", ".s32", [](int32_t a, U n) { return extend<int32_t, false>(a, n); });
  op<U, U, U>(r, "bmsk.wrap", ".b32", [](U a, U b) { return mask_of<true>(a, b); });
  op<U, U, U>(r, "bmsk.clamp", ".b32", [](U a, U b) { return mask_of<false>(a, b); });
  op<U, U, U, int32_t>(r, "fns", ".b32", [](U mask, U base, int32_t n) { return find_nth_set(mask, base, n); });
  add_handler(r, "lop3", ".b32", &Lop3::full, &Lop3::masked, 0);
}

}  // namespace ptx::emulator::EMULATOR_ISA
