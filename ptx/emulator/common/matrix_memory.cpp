// ldmatrix, stmatrix, movmatrix, and wmma loads and stores of whole matrices.
#include <bit>

#include "ptx/emulator/common/common.h"
#include "ptx/emulator/matrix_shape.h"

namespace ptx::emulator::common {
namespace {

uint32_t space_of(const Instruction& i) { return i.flags >> 10 & 7; }

bool whole_warp_is_here(Warp& w) {
  if (!(w.live & ~w.active)) return true;
  w.stop = true;
  return false;
}

template <class F>
void collective(Registry& r, const char* name, F) {
  static const auto full = [](Warp& w, const Instruction& i) { F{}(w, i, kAllLanes); };
  static const auto masked = [](Warp& w, const Instruction& i) {
    if (whole_warp_is_here(w)) F{}(w, i, w.active);
  };
  add_handler(r, name, "", full, masked, 0);
}

// Rows of 16 bytes: lanes 8m..8m+7 have the addresses of matrix m.
bool row_pointers(Warp& w, const Instruction& i, AccessKind kind, bool observed, uint8_t** pointers) {
  alignas(64) uint64_t addresses[kLanes];
  read_addresses(w, i, addresses);
  const uint32_t rows = i.count == 4 ? kAllLanes : (1u << 8 * i.count) - 1;
  uint32_t lanes = rows;
  if (observed) lanes = observe(w, i, kind, space_of(i), rows, 16, addresses);
  resolve(w, i, space_of(i), lanes, 16, addresses, pointers);
  return !w.faulted;
}

// The j-th of the two elements of a matrix that a lane holds, low half first.
uint8_t* half_at(uint8_t* const* rows, uint32_t matrix, uint32_t lane, uint32_t j, bool transposed) {
  const uint32_t row = transposed ? lane % 4 * 2 + j : lane / 4, column_at = transposed ? lane / 4 : lane % 4 * 2 + j;
  return rows[matrix * 8 + row] + 2 * column_at;
}

template <bool observed>
void load_matrices(Warp& w, const Instruction& i, uint32_t lanes) {
  alignas(64) uint8_t* rows[kLanes];
  if (!row_pointers(w, i, AccessKind::kLoad, observed, rows)) return;
  for (uint32_t m = 0; m < i.count; ++m) {
    uint32_t* d = column<uint32_t>(w, w.operands[i.list + m]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      uint16_t half[2];
      for (uint32_t j = 0; j < 2; ++j) __builtin_memcpy(&half[j], half_at(rows, m, l, j, (i.flags >> 16 & 1) != 0), 2);
      if (lanes >> l & 1) d[l] = half[0] | static_cast<uint32_t>(half[1]) << 16;
    }
  }
}

template <bool observed>
void store_matrices(Warp& w, const Instruction& i, uint32_t) {
  alignas(64) uint8_t* rows[kLanes];
  if (!row_pointers(w, i, AccessKind::kStore, observed, rows)) return;
  for (uint32_t m = 0; m < i.count; ++m) {
    const uint32_t* s = column<uint32_t>(w, w.operands[i.list + m]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t j = 0; j < 2; ++j) {
        const uint16_t half = static_cast<uint16_t>(s[l] >> 16 * j);
        __builtin_memcpy(half_at(rows, m, l, j, (i.flags >> 16 & 1) != 0), &half, 2);
      }
    }
  }
}

void move_matrix(Warp& w, const Instruction& i, uint32_t lanes) {
  const uint32_t* a = column<uint32_t>(w, i.a);
  uint16_t matrix[8][8];
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t j = 0; j < 2; ++j) matrix[l / 4][l % 4 * 2 + j] = static_cast<uint16_t>(a[l] >> 16 * j);
  }
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = matrix[l % 4 * 2][l / 4] | static_cast<uint32_t>(matrix[l % 4 * 2 + 1][l / 4]) << 16;
  write(w, i.d, result, lanes);
}

// A wmma fragment: element e of the matrix is in slot e of all lanes' registers, concatenated; surplus slots repeat
// elements. In memory, rows or columns are `stride` elements apart.
struct Fragment {
  uint32_t rows, columns, registers, bits;
  bool by_column;
};

Fragment fragment_of(const Instruction& i) {
  const uint64_t p = static_cast<uint64_t>(i.immediate) >> 32;
  return {static_cast<uint32_t>(p & 0xff), static_cast<uint32_t>(p >> 8 & 0xff), i.count,
          static_cast<uint32_t>(p >> 16 & 0x7f), (p >> 23 & 1) != 0};
}

uint64_t element_index(const Fragment& f, uint32_t element, uint32_t stride) {
  const uint32_t row = element / f.columns, column_at = element % f.columns;
  return f.by_column ? uint64_t{column_at} * stride + row : uint64_t{row} * stride + column_at;
}

// Calls touch(pointer to an element's byte, bit in it, register, lane, place in the register).
template <class F>
void for_each_slot(Warp& w, const Instruction& i, AccessKind kind, bool observed, F touch) {
  const Fragment f = fragment_of(i);
  alignas(64) uint64_t base[kLanes];
  Instruction address = i;
  address.immediate = static_cast<int32_t>(i.immediate);
  read_addresses(w, address, base);
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(w.active ? w.active : 1u));
  const uint32_t stride = i.b == kNoColumn ? (f.by_column ? f.rows : f.columns) : column<uint32_t>(w, i.b)[first];
  const uint32_t width = f.bits == 64 ? 64 : 32, per = width / f.bits, elements = f.rows * f.columns;
  const uint32_t bytes = f.bits < 8 ? 4 : f.bits / 8;
  for (uint32_t r = 0; r < f.registers; ++r) {
    for (uint32_t j = 0; j < per; ++j) {
      alignas(64) uint64_t addresses[kLanes];
      alignas(64) uint8_t* pointers[kLanes];
      uint32_t shift[kLanes];
      for (uint32_t l = 0; l < kLanes; ++l) {
        const uint64_t bit = element_index(f, (l * f.registers * per + r * per + j) % elements, stride) * f.bits;
        addresses[l] = base[first] + bit / (8 * bytes) * bytes;
        shift[l] = static_cast<uint32_t>(bit % (8 * bytes));
      }
      uint32_t lanes = w.active;
      if (observed) lanes = observe(w, i, kind, space_of(i), lanes, bytes, addresses);
      resolve(w, i, space_of(i), lanes, bytes, addresses, pointers);
      if (observed) redirect(w, i, kind, lanes, bytes, addresses, pointers);
      if (w.faulted) return;
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (lanes >> l & 1) touch(pointers[l], shift[l], w.operands[i.list + r], l, j, f);
      }
    }
  }
}

template <bool observed>
void wmma_load(Warp& w, const Instruction& i, uint32_t) {
  for_each_slot(w, i, AccessKind::kLoad, observed,
                [&](const uint8_t* p, uint32_t shift, uint32_t where, uint32_t lane, uint32_t j, const Fragment& f) {
                  uint64_t bits = 0;
                  __builtin_memcpy(&bits, p, f.bits < 8 ? 4 : f.bits / 8);
                  if (f.bits == 64) {
                    column<uint64_t>(w, where)[lane] = bits;
                    return;
                  }
                  const uint64_t mask = (1ull << f.bits) - 1;
                  uint32_t& d = column<uint32_t>(w, where)[lane];
                  d = static_cast<uint32_t>((d & ~(mask << f.bits * j)) | (bits >> shift & mask) << f.bits * j);
                });
}

template <bool observed>
void wmma_store(Warp& w, const Instruction& i, uint32_t) {
  for_each_slot(w, i, AccessKind::kStore, observed,
                [&](uint8_t* p, uint32_t, uint32_t where, uint32_t lane, uint32_t j, const Fragment& f) {
                  const uint64_t bits =
                      f.bits == 64 ? column<uint64_t>(w, where)[lane] : column<uint32_t>(w, where)[lane] >> f.bits * j;
                  __builtin_memcpy(p, &bits, f.bits / 8);
                });
}

#define EMULATOR_COLLECTIVE(name, function)                                                                 \
  collective(r, name, [](Warp& w, const Instruction& i, uint32_t lanes) { function<false>(w, i, lanes); }); \
  collective(r, "!" name, [](Warp& w, const Instruction& i, uint32_t lanes) { function<true>(w, i, lanes); })

}  // namespace

void register_matrix_memory(Registry& r) {
  EMULATOR_COLLECTIVE("ldmatrix", load_matrices);
  EMULATOR_COLLECTIVE("stmatrix", store_matrices);
  EMULATOR_COLLECTIVE("wmma.load", wmma_load);
  EMULATOR_COLLECTIVE("wmma.store", wmma_store);
  collective(r, "movmatrix", [](Warp& w, const Instruction& i, uint32_t lanes) { move_matrix(w, i, lanes); });
}

}  // namespace ptx::emulator::common
