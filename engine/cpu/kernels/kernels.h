// Table of the CPU's inner loops. The same sources are compiled into one table per instruction set; make_cpu_steps
// picks the best that the machine supports.
#pragma once
#include <array>
#include <cstdint>

#include "models/block_types.h"

namespace warpchat {

// Prepared input of a product: columns in tiles, so that a kernel reads one stream. A full tile has
// CpuKernels::tile_columns; the rest go into narrower ones, widest first. Integer tiles have blocks of 128 16-bit
// values per column with a scale, and sums of 16 and 32 values for formats with a minimum. Float tiles are
// [k][columns]. On machines with WideKernels, 8 or more columns of integers use wide tiles with as many bytes per
// column; unused columns of the last one are zero.
constexpr uint32_t kInputBlock = 128;
constexpr uint32_t kInputBlockBytes = 308;  // per column of an integer tile
// Tiles have 8, 4, 3, 2 columns or 1. Five columns are a tile of four and one of one, which is faster than a tile of
// eight.
constexpr uint32_t narrower_tile(uint32_t columns) { return columns > 4 ? columns / 2 : columns - 1; }

struct PrepareInput {
  const float* x;       // [columns, stride]
  uint64_t stride;      // between columns
  uint32_t k, columns;  // in this tile; a wide one may be partly filled
  const float* gain;    // [k]: RMS-normalises x with this gain first; null: no norm
  float eps;
  uint8_t* integers;  // output tile, 64-byte aligned; null: none
  float* floats;      // like integers
};

// sum: with the bias, if there is one.
enum class Epilogue {
  kStore,      // out = sum
  kAdd,        // out += sum
  kSiluTimes,  // out = silu(out) * sum
};

// out[column, row] from W[row, :] . x[column, :], for rows of some groups and columns of some tiles. Larger products
// are split into calls of this many columns and groups, whose data fits in a near cache.
constexpr uint32_t kColumnsAtOnce = 128, kGroupsAtOnce = 8;
struct MultiplyTiles {
  const uint8_t* groups;  // packed rows, starting with the group of first_row
  uint64_t group_bytes;
  uint32_t first_row, end_row;  // first_row is a multiple of lanes
  uint32_t k;
  const uint8_t* tiles;  // integer or float tiles, depending on the format
  uint32_t columns;
  float* out;  // [columns, out_stride]
  uint64_t out_stride;
  const float* bias;  // [rows], or null
  Epilogue epilogue;
};

struct PackGroup {
  const uint8_t* rows;  // in the file's format; n_rows <= lanes, missing rows become zero
  uint64_t row_bytes;
  uint32_t n_rows, k;
  uint8_t* group;  // [k / weights per block][block_bytes]
};

// KV cache of a layer and KV head: tiles of 64 positions, each in its own page. Keys are in blocks of 16 positions,
// each [head_dim][16], so that scores need no horizontal sum. Values are ordered by position.
constexpr uint32_t kKeyTile = 64;
constexpr uint32_t kKeyBlock = 16;
constexpr uint32_t kCodeGroup = 32;  // values of a row that share a scale
constexpr uint32_t code_groups(uint32_t head_dim) { return (head_dim + kCodeGroup - 1) / kCodeGroup; }
struct HeadCodes {  // for q8_0: code * scale
  int8_t* codes;    // ordered like the f16 arrays
  float* scales;    // keys [64 / 16][groups][16], values [64][groups]
};
struct HeadTile {
  uint16_t* keys;    // f16 [64 / 16][head_dim][16]; null: codes or floats
  uint16_t* values;  // f16 [64][value_stride]; null: codes or floats
  uint32_t head_dim;
  uint32_t value_stride;  // head_dim rounded up to a multiple of 16; padding is zero
  HeadCodes key_codes, value_codes;
  float *key_floats = nullptr, *value_floats = nullptr;  // for f32, ordered like the f16 arrays; else null
};
struct HeadCache {
  HeadTile first;         // in page 0 of the pool, even if it belongs to another sequence
  uint64_t page_bytes;    // between pages
  const uint32_t* pages;  // pages[i] holds positions from 64 * i on
};

// Result of query rows over a part of the past: sums of exp(score - highest) * value, and of exp(score - highest).
struct AttendSums {
  float* out;      // [rows, value_stride]
  float* highest;  // [rows]; -infinity if no position was visible
  float* sum;      // [rows]
};

// Attention of query rows over positions first .. end-1 of a KV head; first is a multiple of 64. Row r sees positions
// below limits[r]; its bits depend on nothing else.
constexpr uint32_t kAttentionRows = 96;  // maximum query rows per call
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

// QK norm where the model has it, then RoPE, on heads in place: x[i] = x[i] * cosines[i] + x[partner] * sines[i]. The
// partner is i +- rope_dims/2 (NEOX) or the other of the pair (2j, 2j+1). sines include the sign.
struct NormAndRopeHeads {
  float* heads;  // [n_heads, head_dim]
  uint32_t n_heads, head_dim;
  const float* gain;  // [head_dim], or null: no norm
  float eps;
  const float *cosines, *sines;  // [rope_dims]
  uint32_t rope_dims;
  bool neox;
};

// x = silu(sum over taps of the channel's earlier and current inputs), position by position. Processes a multiple of 16
// channels of a layer.
struct Convolve {
  float* x;  // [columns, n], with the given stride in floats
  uint64_t stride;
  uint32_t columns;
  const float* taps;  // [n_taps, n], rows `channels` floats apart
  uint32_t n_taps;
  float* tail;  // [n_taps - 1, n], rows `channels` floats apart: previous inputs, then the last of these
  uint64_t channels;
  uint32_t n;
};

// The recurrence for some values of a head, position by position: state *= forget; state += key * learn * (value -
// state . key); out = state . query.
constexpr uint32_t kDeltaBlock = 32;  // values
struct DeltaStep {
  const float *q, *k, *v;  // per column [head_dim], [head_dim], [kDeltaBlock]; columns `stride` floats apart
  uint64_t stride;
  const float *decay, *beta;  // one per column, factor_stride floats apart
  uint64_t factor_stride;
  uint32_t columns, head_dim;
  float* state;  // [head_dim, kDeltaBlock]
  float* out;    // [columns, kDeltaBlock], with out_stride in floats
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
  bool accepts_f32;      // reads float tiles, else integer tiles
  uint64_t block_bytes;  // per group: a block of each row, with padding
  MultiplyFunction multiply;
  void (*pack)(const PackGroup&);
  void (*unpack_row)(const uint8_t* group, uint32_t lane, uint64_t row_bytes, uint8_t* row);
  MultiplyFunction multiply_wide = nullptr;  // for wide integer tiles, where supported
};

struct CpuKernels {
  const char* name;       // "avx512"
  const char* shown;      // "AVX-512 VNNI"
  uint32_t lanes;         // rows per group
  uint32_t tile_columns;  // in a full tile: a power of two
  void (*prepare)(const PrepareInput&);
  uint32_t wide_columns = 0;                            // in a wide integer tile; 0: not supported
  void (*prepare_wide)(const PrepareInput&) = nullptr;  // integers only
  void (*norm_and_rope_heads)(const NormAndRopeHeads&);
  void (*store_head)(const HeadTile&, uint32_t position, const float* key, const float* value);  // f32 and f16 only
  void (*attend)(const Attend&);
  // to = result over both parts of the past.
  void (*add_sums)(const AttendSums& to, const AttendSums& of, uint32_t rows, uint32_t value_stride);
  void (*convolve)(const Convolve&);
  void (*delta_step)(const DeltaStep&);
  void (*apply_gate)(const ApplyGate&);
  std::array<FormatKernels, KernelBlocks::kCount> formats;
};

// What a matrix unit adds to an instruction set whose packed groups it reads. Results are the same to the bit.
struct WideKernels {
  uint32_t columns;
  void (*prepare)(const PrepareInput&);
  std::array<MultiplyFunction, KernelBlocks::kCount> multiply;  // null: format reads floats
};

const CpuKernels& portable_kernels();
#if defined(__x86_64__)
const CpuKernels& avx2_kernels();
const CpuKernels& avxvnni_kernels();
const CpuKernels& avx512_kernels();
const WideKernels& amx_kernels();  // extends avx512_kernels
#elif defined(__aarch64__)
const CpuKernels& neon_dot_kernels();
const CpuKernels& neon_i8mm_kernels();
#endif

}  // namespace warpchat
