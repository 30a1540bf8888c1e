// mma and wmma.mma: gathers fragments into whole matrices, multiplies them row by row, and scatters the result. Layouts
// follow the PTX ISA's figures: group = lane / 4 and place = lane % 4 locate a register's elements.
#include "ptx/emulator/handlers/lanes.h"
#include "ptx/emulator/matrix_shape.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

constexpr uint32_t kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 256;

// A is [m][k], B is [k][n], C and D are [m][n], all row-major; `T` is the accumulator's type.
template <class T>
struct Operands {
  alignas(64) T a[kMaxRows * kMaxDepth];
  alignas(64) T b[kMaxDepth * kMaxColumns];
  alignas(64) T c[kMaxRows * kMaxColumns];
};

float small_float(uint32_t bits, uint32_t exponent_bits, bool finite_only) {
  const uint32_t mantissa_bits = 7 - exponent_bits, bias = (1u << (exponent_bits - 1)) - 1;
  const uint32_t field = bits >> mantissa_bits & ((1u << exponent_bits) - 1),
                 mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t sign = (bits & 0x80) << 24;
  if (finite_only ? (bits & 0x7f) == 0x7f : field == (1u << exponent_bits) - 1) {
    return bits_as<float>(finite_only || mantissa ? 0x7fffffffu : sign | 0x7f800000u);
  }
  const float unit = bits_as<float>((127 - bias - mantissa_bits + (field ? field : 1)) << 23);
  const float value = static_cast<float>(mantissa + (field ? 1u << mantissa_bits : 0)) * unit;
  return bits_as<float>(bits_as<uint32_t>(value) | sign);
}

// Element `j` of a register, as a number to sum.
template <class T>
T element(uint64_t reg, MatrixType t, uint32_t j) {
  switch (t) {
    case MatrixType::f16:
      return static_cast<T>(to_float(f16{static_cast<uint16_t>(reg >> 16 * j)}));
    case MatrixType::bf16:
      return static_cast<T>(to_float(bf16{static_cast<uint16_t>(reg >> 16 * j)}));
    case MatrixType::tf32:
      return static_cast<T>(bits_as<float>(static_cast<uint32_t>(reg) & 0xffffe000u));
    case MatrixType::f32:
      return static_cast<T>(bits_as<float>(static_cast<uint32_t>(reg)));
    case MatrixType::f64:
      return static_cast<T>(bits_as<double>(reg));
    case MatrixType::s8:
      return static_cast<T>(static_cast<int8_t>(reg >> 8 * j));
    case MatrixType::u8:
      return static_cast<T>(static_cast<uint8_t>(reg >> 8 * j));
    case MatrixType::s4:
      return static_cast<T>(static_cast<int8_t>(static_cast<uint8_t>(reg >> 4 * j) << 4) >> 4);
    case MatrixType::u4:
      return static_cast<T>(reg >> 4 * j & 15);
    case MatrixType::b1:
      return static_cast<T>(reg >> j & 1);
    case MatrixType::e4m3:
      return static_cast<T>(small_float(reg >> 8 * j & 0xff, 4, true));
    case MatrixType::e5m2:
      return static_cast<T>(small_float(reg >> 8 * j & 0xff, 5, false));
    default:
      return static_cast<T>(static_cast<int32_t>(reg));
  }
}

uint64_t read_register(Warp& w, uint32_t where, uint32_t lane, bool is_wide) {
  return is_wide ? column<uint64_t>(w, where)[lane] : column<uint32_t>(w, where)[lane];
}

// Position of element j in register r of a lane: A as [row][k], B as [k][column], C as [row][column].
struct Spot {
  uint32_t row, column;
};

Spot spot_of_a(const MatrixShape& s, uint32_t lane, uint32_t r, uint32_t j, uint32_t per) {
  const uint32_t group = lane / 4, place = lane % 4;
  if (s.m == 8) return {group, place * per + j};
  return {group + 8 * (r & 1), (r >> 1) * 4 * per + place * per + j};
}
Spot spot_of_b(const MatrixShape&, uint32_t lane, uint32_t r, uint32_t j, uint32_t per) {
  return {r * 4 * per + lane % 4 * per + j, lane / 4};
}
Spot spot_of_c(const MatrixShape&, uint32_t lane, uint32_t r, uint32_t j, uint32_t per) {
  const uint32_t e = r * per + j;
  return {lane / 4 + 8 * (e >> 1), lane % 4 * 2 + (e & 1)};
}

enum class Which { kA, kB, kC };

// Calls f(matrix index, register column, lane, j) for every element of a fragment.
template <Which which, class F>
void for_each_element(const Warp& w, const Instruction& i, const MatrixShape& s, MatrixType t, uint32_t first,
                      uint32_t rows, uint32_t columns, F f) {
  const uint32_t registers = fragment_registers(s, t, rows * columns, which == Which::kC);
  const uint32_t per = t == MatrixType::f64 ? 1 : 32 / bits_of(t);
  for (uint32_t r = 0; r < registers; ++r) {
    const uint32_t where = w.operands[i.list + first + r];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      for (uint32_t j = 0; j < per; ++j) {
        uint32_t index;
        if (s.is_wmma) {
          index = (lane * registers * per + r * per + j) % (rows * columns);
        } else {
          const Spot spot = which == Which::kA   ? spot_of_a(s, lane, r, j, per)
                            : which == Which::kB ? spot_of_b(s, lane, r, j, per)
                                                 : spot_of_c(s, lane, r, j, per);
          index = spot.row * columns + spot.column;
        }
        f(index, where, lane, j);
      }
    }
  }
}

template <class T>
void gather(Warp& w, const Instruction& i, const MatrixShape& s, uint32_t firsts[4], Operands<T>& x) {
  for_each_element<Which::kA>(w, i, s, s.a, firsts[1], s.m, s.k,
                              [&](uint32_t at, uint32_t where, uint32_t lane, uint32_t j) {
                                x.a[at] = element<T>(read_register(w, where, lane, s.a == MatrixType::f64), s.a, j);
                              });
  for_each_element<Which::kB>(w, i, s, s.b, firsts[2], s.k, s.n,
                              [&](uint32_t at, uint32_t where, uint32_t lane, uint32_t j) {
                                x.b[at] = element<T>(read_register(w, where, lane, s.b == MatrixType::f64), s.b, j);
                              });
  for_each_element<Which::kC>(w, i, s, s.c, firsts[3], s.m, s.n,
                              [&](uint32_t at, uint32_t where, uint32_t lane, uint32_t j) {
                                x.c[at] = element<T>(read_register(w, where, lane, s.c == MatrixType::f64), s.c, j);
                              });
}

// c += a * b. `turn` rotates the summation order: a tensor core may use any.
template <class T>
void multiply(const MatrixShape& s, Operands<T>& x, uint32_t turn) {
  for (uint32_t row = 0; row < s.m; ++row) {
    T* c = x.c + row * s.n;
    for (uint32_t step = 0; step < s.k; ++step) {
      const uint32_t k = (step + turn) % s.k;
      const T a = x.a[row * s.k + k];
      const T* b = x.b + k * s.n;
      _Pragma("GCC ivdep") for (uint32_t n = 0; n < s.n; ++n) c[n] += a * b[n];
    }
  }
}

void multiply_bits(const MatrixShape& s, Operands<int64_t>& x) {
  for (uint32_t row = 0; row < s.m; ++row) {
    for (uint32_t n = 0; n < s.n; ++n) {
      for (uint32_t k = 0; k < s.k; ++k) {
        const int64_t a = x.a[row * s.k + k], b = x.b[k * s.n + n];
        x.c[row * s.n + n] += s.uses_and ? a & b : a ^ b;
      }
    }
  }
}

inline int32_t narrow(const MatrixShape& s, int64_t sum) {
  if (!s.saturates) return static_cast<int32_t>(static_cast<uint32_t>(sum));
  return static_cast<int32_t>(sum > 0x7fffffffll ? 0x7fffffffll : sum < -0x80000000ll ? -0x80000000ll : sum);
}

template <class T>
void scatter(Warp& w, const Instruction& i, const MatrixShape& s, uint32_t lanes, const Operands<T>& x) {
  for_each_element<Which::kC>(w, i, s, s.d, 0, s.m, s.n, [&](uint32_t at, uint32_t where, uint32_t lane, uint32_t j) {
    if (!(lanes >> lane & 1)) return;
    const T value = x.c[at];
    switch (s.d) {
      case MatrixType::f64:
        column<double>(w, where)[lane] = static_cast<double>(value);
        break;
      case MatrixType::f32:
        column<float>(w, where)[lane] = canonical(static_cast<float>(value));
        break;
      case MatrixType::s32:
        column<int32_t>(w, where)[lane] = narrow(s, static_cast<int64_t>(value));
        break;
      default: {
        float half = static_cast<float>(value);
        f16 rounded = to_f16(half);
        if (s.saturates && (rounded.bits & 0x7fff) == 0x7c00)
          rounded.bits = static_cast<uint16_t>((rounded.bits & 0x8000) | 0x7bff);
        if (s.saturates && is_nan(rounded)) rounded.bits = 0;
        uint32_t& d = column<uint32_t>(w, where)[lane];
        d = (d & ~(0xffffu << 16 * j)) | static_cast<uint32_t>(rounded.bits) << 16 * j;
      }
    }
  });
}

// Fast path for the GEMM shapes m16n8k8 and m16n8k16 of f16 with fp32 sums: a register of all lanes is an 8 x 8 block,
// row-major in A, column-major in B.
bool is_half_product(const MatrixShape& s) {
  return !s.is_wmma && s.m == 16 && s.n == 8 && (s.k == 8 || s.k == 16) && s.a == s.b && s.c == MatrixType::f32 &&
         s.d == MatrixType::f32 && (s.a == MatrixType::f16 || s.a == MatrixType::bf16);
}

template <class Half>
void read_block(Warp& w, const Instruction& i, uint32_t operand, float (&block)[64]) {
  const uint32_t* registers = column<uint32_t>(w, w.operands[i.list + operand]);
  uint32_t words[kLanes];
  __builtin_memcpy(words, registers, sizeof words);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    block[2 * lane] = to_float(Half{static_cast<uint16_t>(words[lane])});
    block[2 * lane + 1] = to_float(Half{static_cast<uint16_t>(words[lane] >> 16)});
  }
}

template <class Half>
void run_halves(Warp& w, const Instruction& i, const MatrixShape& s, uint32_t lanes) {
  constexpr uint32_t kRegistersOfD = 4;
  alignas(64) float a[16][16], b[16][8], c[16][8];
  const uint32_t n_blocks = s.k / 8, first_b = kRegistersOfD + 2 * n_blocks, first_c = first_b + n_blocks;
  float block[64];
  for (uint32_t r = 0; r < 2 * n_blocks; ++r) {
    read_block<Half>(w, i, kRegistersOfD + r, block);
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t k = 0; k < 8; ++k) a[row + 8 * (r & 1)][k + 8 * (r >> 1)] = block[row * 8 + k];
  }
  for (uint32_t r = 0; r < n_blocks; ++r) {
    read_block<Half>(w, i, first_b + r, block);
    for (uint32_t k = 0; k < 8; ++k)
      for (uint32_t n = 0; n < 8; ++n) b[k + 8 * r][n] = block[n * 8 + k];
  }
  for (uint32_t e = 0; e < 4; ++e) {
    const float* from = column<float>(w, w.operands[i.list + first_c + e]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) c[lane / 4 + 8 * (e >> 1)][lane % 4 * 2 + (e & 1)] = from[lane];
  }
  const uint32_t turn = static_cast<uint32_t>(w.jitter % 97);
  for (uint32_t step = 0; step < s.k; ++step) {
    const uint32_t k = (step + turn) % s.k;
    for (uint32_t row = 0; row < 16; ++row) {
      const float factor = a[row][k];
      for (uint32_t n = 0; n < 8; ++n) c[row][n] += factor * b[k][n];
    }
  }
  for (uint32_t e = 0; e < 4; ++e) {
    float* to = column<float>(w, w.operands[i.list + e]);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if (lanes >> lane & 1) to[lane] = canonical(c[lane / 4 + 8 * (e >> 1)][lane % 4 * 2 + (e & 1)]);
  }
}

template <class T>
void run_as(Warp& w, const Instruction& i, const MatrixShape& s, uint32_t lanes) {
  Operands<T> x;  // up to 136 KiB; memory per thread of a loaded library cannot be refused without ending the program
  uint32_t firsts[4] = {0, fragment_registers(s, s.d, s.m * s.n, true), 0, 0};
  firsts[2] = firsts[1] + fragment_registers(s, s.a, s.m * s.k, false);
  firsts[3] = firsts[2] + fragment_registers(s, s.b, s.k * s.n, false);
  gather(w, i, s, firsts, x);
  if constexpr (__is_same(T, int64_t)) {
    if (s.a == MatrixType::b1)
      multiply_bits(s, x);
    else
      multiply(s, x, 0);
  } else {
    multiply(s, x, static_cast<uint32_t>(w.jitter % 97));
  }
  scatter(w, i, s, lanes, x);
}

void run(Warp& w, const Instruction& i, uint32_t lanes) {
  const MatrixShape s = MatrixShape::unpack(i.immediate);
  if (is_half_product(s))
    s.a == MatrixType::f16 ? run_halves<f16>(w, i, s, lanes) : run_halves<bf16>(w, i, s, lanes);
  else if (s.d == MatrixType::s32)
    run_as<int64_t>(w, i, s, lanes);
  else if (s.d == MatrixType::f64)
    run_as<double>(w, i, s, lanes);
  else
    run_as<float>(w, i, s, lanes);
}

void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
void masked(Warp& w, const Instruction& i) {
  if (w.live & ~w.active) {
    w.stop = true;
    return;
  }
  run(w, i, w.active);
}

}  // namespace

void register_matrix(Registry& r) { add_handler(r, "mma", "", &full, &masked, 0); }

}  // namespace ptx::emulator::EMULATOR_ISA
