// The table of the CPU's inner loops. Each instruction set compiles the same sources and offers one table;
// make_cpu_steps takes the best one that the machine has.
#pragma once
#include <array>
#include <cstdint>

#include "models/block_types.h"

namespace warpchat {

// Prepared input of a product: the columns in tiles, so that a kernel reads what it needs in one stream. A full tile is
// CpuKernels::tile_columns wide; what is left over is in narrower ones, the widest that fits first. Integers: blocks of
// 128 values a column, each with its own scale, 16 bits a value, and the sums of 16 and 32 values for weights that have
// a minimum. Floats: [k][columns]. Where a machine has a unit for many columns (WideKernels), integers of 8 columns and
// more are in tiles of its own, of as many bytes a column; columns of the last one that are not used are zero.
constexpr uint32_t kInputBlock = 128;
constexpr uint32_t kInputBlockBytes = 308;  // of one column of an integer tile
// Tiles have 8, 4, 3, 2 columns or 1. Five are a tile of four and one column: that takes less time than a tile of
// eight.
constexpr uint32_t narrower_tile(uint32_t columns) { return columns > 4 ? columns / 2 : columns - 1; }

struct PrepareInput {
  const float* x;       // [columns, stride]
  uint64_t stride;      // from column to column
  uint32_t k, columns;  // of this tile; a wide one may have fewer than there is room for
  const float* gain;    // [k]: x is first RMS-normalised with this gain; null: as it is
  float eps;
  uint8_t* integers;  // the tile, 64-byte aligned; null: not wanted
  float* floats;      // the same
};

enum class Epilogue {
  kStore,      // out = sum + bias
  kAdd,        // out += sum
  kSiluTimes,  // out = silu(out) * sum
};

// out[column, row] from W[row, :] . x[column, :] for the rows of some groups and the columns of some tiles. Several
// columns are best multiplied with as many groups as share what is near the core; more of either are taken in turn.
constexpr uint32_t kColumnsAtOnce = 128, kGroupsAtOnce = 8;
struct MultiplyTiles {
  const uint8_t* groups;  // packed rows, from the group of first_row on
  uint64_t group_bytes;
  uint32_t first_row, end_row;  // first_row is a multiple of lanes
  uint32_t k;
  const uint8_t* tiles;  // integer or float tiles, whichever the format takes
  uint32_t columns;
  float* out;  // [columns, out_stride]
  uint64_t out_stride;
  const float* bias;  // [rows], or null; kStore only
  Epilogue epilogue;
};

struct PackGroup {
  const uint8_t* rows;  // in the file's format, n_rows <= lanes of them; the others become zero
  uint64_t row_bytes;
  uint32_t n_rows, k;
  uint8_t* group;  // [k / a block's weights][block_bytes]
};

// The KV cache of a layer and KV head: tiles of 64 positions, each in a page of its own. Keys lie in blocks of 16
// positions, each [head_dim][16], so that a vector of scores needs no sum across its lanes; values lie by position.
constexpr uint32_t kKeyTile = 64;
constexpr uint32_t kKeyBlock = 16;
constexpr uint32_t kCodeGroup = 32;  // values of a row that share a scale
constexpr uint32_t code_groups(uint32_t head_dim) { return (head_dim + kCodeGroup - 1) / kCodeGroup; }
struct HeadCodes {  // of q8_0: code * scale
  int8_t* codes;    // in the order of the halves
  float* scales;    // of keys [64 / 16][groups][16], of values [64][groups]
};
struct HeadTile {
  uint16_t* keys;    // fp16 [64 / 16][head_dim][16]; null: they are codes or floats
  uint16_t* values;  // fp16 [64][value_stride]; null: they are codes or floats
  uint32_t head_dim;
  uint32_t value_stride;  // head_dim rounded up to a multiple of 16; the rest is zero
  HeadCodes key_codes, value_codes;
  float *key_floats = nullptr, *value_floats = nullptr;  // of f32, in the order of the halves; else null
};
struct HeadCache {
  HeadTile first;         // of page 0 of the pool, whoever has it
  uint64_t page_bytes;    // from a page to the next
  const uint32_t* pages;  // pages[i] holds positions 64 * i and those after it
};

// What query rows make of a part of the past: the sum of exp(score - highest) * value, and of exp(score - highest).
struct AttendSums {
  float* out;      // [rows, value_stride]
  float* highest;  // [rows]; -infinity where a row has seen nothing
  float* sum;      // [rows]
};

// Attention of some query rows over the positions first .. end-1 of a KV head; first is a multiple of 64. Row r sees
// positions below limits[r]; its bits depend on nothing else.
constexpr uint32_t kAttentionRows = 96;  // most query rows in a call
struct Attend {
  HeadCache cache;
  const float* queries;  // [rows, head_dim], already scaled by 1/sqrt(head_dim)
  const uint32_t* limits;
  uint32_t rows, first, end;
  AttendSums to;
  float* scratch;  // attend_scratch(value_stride) floats, 64-byte aligned
};
constexpr uint64_t attend_scratch(uint32_t value_stride) {
  return uint64_t{kKeyTile} * (2 * kAttentionRows + value_stride);
}

// QK norm where the model has it, then RoPE, on heads in place: x[i] = x[i] * cosines[i] + x[partner of i] * sines[i],
// the partner being i +- rope_dims/2 (NEOX) or the other of the pair (2j, 2j+1). sines carry the sign.
struct TurnHeads {
  float* heads;  // [n_heads, head_dim]
  uint32_t n_heads, head_dim;
  const float* gain;  // [head_dim], or null: no norm
  float eps;
  const float *cosines, *sines;  // [rope_dims]
  uint32_t rope_dims;
  bool neox;
};

// x = silu(sum over the taps of what the channel was at earlier positions and is now), position by position. Of some
// channels of a layer, a multiple of 16 of them.
struct Convolve {
  float* x;  // [columns, n], stride floats from one to the next
  uint64_t stride;
  uint32_t columns;
  const float* taps;  // [n_taps, n], channels floats from one to the next
  uint32_t n_taps;
  float* tail;  // [n_taps - 1, n], likewise: the positions before, then the last of these
  uint64_t channels;
  uint32_t n;
};

// The recurrence of some values of a head, position by position: state *= forget; state += key * learn * (value -
// state . key); out = state . query.
constexpr uint32_t kDeltaBlock = 32;  // values
struct DeltaStep {
  const float *q, *k, *v;  // [head_dim], [head_dim], [kDeltaBlock] of each column, stride floats from one to the next
  uint64_t stride;
  const float *forget, *learn;  // of each column, factor_stride floats from one to the next
  uint64_t factor_stride;
  uint32_t columns, head_dim;
  float* state;  // [head_dim, kDeltaBlock]
  float* out;    // [columns, kDeltaBlock], out_stride floats from one to the next
  uint64_t out_stride;
};

struct ApplyGate {  // x *= sigmoid(z), or silu(z)
  float* x;
  const float* z;
  uint32_t n;
  bool silu;
};

using MultiplyFunction = void (*)(const MultiplyTiles&);

struct FormatKernels {
  TensorType type;
  bool takes_floats;     // which tiles it reads
  uint64_t block_bytes;  // of a group: a block of each of its rows, and what lies between them and the next
  MultiplyFunction multiply;
  void (*pack)(const PackGroup&);
  void (*unpack_row)(const uint8_t* group, uint32_t lane, uint64_t row_bytes, uint8_t* row);
  MultiplyFunction multiply_wide = nullptr;  // of wide integer tiles, where the machine has them
};

struct CpuKernels {
  const char* name;       // "avx512"
  const char* shown;      // "AVX-512 VNNI"
  uint32_t lanes;         // rows of a group
  uint32_t tile_columns;  // of a full tile: a power of two
  void (*prepare)(const PrepareInput&);
  uint32_t wide_columns = 0;                            // of a wide integer tile; 0: the machine has none
  void (*prepare_wide)(const PrepareInput&) = nullptr;  // integers alone
  void (*turn_heads)(const TurnHeads&);
  void (*store_head)(const HeadTile&, uint32_t position, const float* key, const float* value);  // what is fp16
  void (*attend)(const Attend&);
  // to = what the rows make of both parts of the past.
  void (*add_sums)(const AttendSums& to, const AttendSums& of, uint32_t rows, uint32_t value_stride);
  void (*convolve)(const Convolve&);
  void (*delta_step)(const DeltaStep&);
  void (*apply_gate)(const ApplyGate&);
  std::array<FormatKernels, KernelBlocks::kCount> formats;
};

// What a unit for many columns adds to the kernels of an instruction set whose groups it reads. Bits stay the same.
struct WideKernels {
  uint32_t columns;
  void (*prepare)(const PrepareInput&);
  std::array<MultiplyFunction, KernelBlocks::kCount> multiply;  // null: of a format that takes floats
};

const CpuKernels& portable_kernels();
#if defined(__x86_64__)
const CpuKernels& avx2_kernels();
const CpuKernels& avxvnni_kernels();
const CpuKernels& avx512_kernels();
const WideKernels& amx_kernels();  // for avx512_kernels
#elif defined(__aarch64__)
const CpuKernels& neon_dot_kernels();
const CpuKernels& neon_i8mm_kernels();
#endif

}  // namespace warpchat
