// A matrix product's shape and types, packed into Instruction::immediate.
#pragma once

#include <cstdint>

namespace ptx::emulator {

enum class MatrixType : uint8_t { f16, bf16, tf32, f32, f64, s8, u8, s4, u4, b1, s32, e4m3, e5m2 };

inline uint32_t bits_of(MatrixType t) {
  constexpr uint32_t kBits[] = {16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 32, 8, 8};
  return kBits[static_cast<uint32_t>(t)];
}

struct MatrixShape {
  uint32_t m = 0, n = 0, k = 0;
  MatrixType d{}, a{}, b{}, c{};
  bool is_wmma = false, saturates = false, uses_and = false;  // uses_and: single-bit operands use and instead of xor
  bool a_by_column = false, b_by_column = true;

  int64_t pack() const {
    return static_cast<int64_t>(m | n << 8 | static_cast<uint64_t>(k) << 16 | static_cast<uint64_t>(d) << 28 |
                                static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b) << 36 |
                                static_cast<uint64_t>(c) << 40 | uint64_t{is_wmma} << 44 | uint64_t{saturates} << 45 |
                                uint64_t{uses_and} << 46 | uint64_t{a_by_column} << 47 | uint64_t{b_by_column} << 48);
  }
  static MatrixShape unpack(int64_t immediate) {
    const uint64_t bits = static_cast<uint64_t>(immediate);
    MatrixShape s;
    s.m = bits & 0xff;
    s.n = bits >> 8 & 0xff;
    s.k = bits >> 16 & 0xfff;
    s.d = static_cast<MatrixType>(bits >> 28 & 15);
    s.a = static_cast<MatrixType>(bits >> 32 & 15);
    s.b = static_cast<MatrixType>(bits >> 36 & 15);
    s.c = static_cast<MatrixType>(bits >> 40 & 15);
    s.is_wmma = bits >> 44 & 1;
    s.saturates = bits >> 45 & 1;
    s.uses_and = bits >> 46 & 1;
    s.a_by_column = bits >> 47 & 1;
    s.b_by_column = bits >> 48 & 1;
    return s;
  }
};

// Registers per lane of a fragment with `elements` elements. A wmma fragment of f16 always has eight, so an element may
// be stored more than once; other fragments hold each element once.
inline uint32_t fragment_registers(const MatrixShape& s, MatrixType t, uint32_t elements, bool is_accumulator) {
  if (s.is_wmma && t == MatrixType::f16 && !is_accumulator) return 8;
  const uint32_t bits = bits_of(t), width = bits == 64 ? 64 : 32;
  return elements * bits / (width * 32) ? elements * bits / (width * 32) : 1;
}

}  // namespace ptx::emulator
