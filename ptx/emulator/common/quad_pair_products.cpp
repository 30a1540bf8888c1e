// mma.m8n8k4 of f16: quads q and q + 4 of a warp (lanes 4q..4q+3, and those 16 higher) multiply an 8x4 by a 4x8 matrix;
// four such products run at once. Layouts: PTX ISA, fragments of mma.m8n8k4 with .f16.
#include "ptx/emulator/common/common.h"
#include "ptx/emulator/matrix_shape.h"

namespace ptx::emulator::common {
namespace {

float half_of(uint32_t reg, uint32_t j) { return to_float(f16{static_cast<uint16_t>(reg >> 16 * j)}); }

// Position of element e in a lane's accumulator.
struct Spot {
  uint32_t row, column;
};
Spot spot_of(MatrixType type, uint32_t lane, uint32_t e) {
  const uint32_t low = lane < 16 ? 0 : 4;
  if (type == MatrixType::f16) return {lane % 4 + low, e};
  return {(lane & 1) + (e & 2) + low, (e & 4) + (lane & 2) + (e & 1)};
}

struct Product {
  float a[8][4], b[4][8], c[8][8];
};

void gather(Warp& w, const uint32_t* registers, const MatrixShape& s, uint32_t quad, Product& x) {
  const uint32_t n_d = s.d == MatrixType::f16 ? 4 : 8;
  for (uint32_t lane = 4 * quad; lane < kLanes; lane += lane % 4 == 3 ? 13 : 1) {
    const uint32_t low = lane < 16 ? 0 : 4, own = lane % 4;
    for (uint32_t e = 0; e < 4; ++e) {
      const float a = half_of(column<uint32_t>(w, registers[n_d + e / 2])[lane], e % 2);
      const float b = half_of(column<uint32_t>(w, registers[n_d + 2 + e / 2])[lane], e % 2);
      (s.a_by_column ? x.a[e + low][own] : x.a[own + low][e]) = a;
      (s.b_by_column ? x.b[e][own + low] : x.b[own][e + low]) = b;
    }
    for (uint32_t e = 0; e < 8; ++e) {
      const Spot spot = spot_of(s.c, lane, e);
      const bool is_half = s.c == MatrixType::f16;
      const uint32_t reg = column<uint32_t>(w, registers[n_d + 4 + (is_half ? e / 2 : e)])[lane];
      x.c[spot.row][spot.column] = is_half ? half_of(reg, e % 2) : bits_as<float>(reg);
    }
  }
}

void scatter(Warp& w, const uint32_t* registers, const MatrixShape& s, uint32_t quad, const Product& x) {
  for (uint32_t lane = 4 * quad; lane < kLanes; lane += lane % 4 == 3 ? 13 : 1) {
    for (uint32_t e = 0; e < 8; ++e) {
      const Spot spot = spot_of(s.d, lane, e);
      const float value = x.c[spot.row][spot.column];
      if (s.d == MatrixType::f16) {
        uint32_t& d = column<uint32_t>(w, registers[e / 2])[lane];
        d = (d & 0xffffu << 16 * (1 - e % 2)) | static_cast<uint32_t>(to_f16(value).bits) << 16 * (e % 2);
      } else {
        column<float>(w, registers[e])[lane] = canonical(value);
      }
    }
  }
}

void multiply(Warp& w, const Instruction& i) {
  const MatrixShape s = MatrixShape::unpack(i.immediate);
  const uint32_t* registers = w.operands + i.list;
  for (uint32_t quad = 0; quad < 4; ++quad) {
    Product x;
    gather(w, registers, s, quad, x);
    for (uint32_t row = 0; row < 8; ++row) {
      for (uint32_t step = 0; step < 4; ++step) {
        const uint32_t k = static_cast<uint32_t>((step + w.jitter) % 4);  // a tensor core may sum in any order
        for (uint32_t n = 0; n < 8; ++n) x.c[row][n] += x.a[row][k] * x.b[k][n];
      }
    }
    scatter(w, registers, s, quad, x);
  }
}

}  // namespace

void register_quad_pair_products(Registry& r) {
  static const auto full = [](Warp& w, const Instruction& i) { multiply(w, i); };
  static const auto masked = [](Warp& w, const Instruction& i) {
    if (w.live & ~w.active)
      w.stop = true;  // waits for the whole warp
    else
      multiply(w, i);
  };
  add_handler(r, "mma.quad_pair", "", full, masked, 0);
}

}  // namespace ptx::emulator::common
