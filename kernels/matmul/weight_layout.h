// Layout of repacked weights: the lanes of a warp read 16 consecutive bytes each, coalesced. A row is divided into
// units of 32 weights (8 in F16 and BF16, 4 in F32). Its bits form streams, stored one after the other; unit u of a
// stream is at u times the stream's unit size:
//   low codes    16 bytes per unit of 4-bit codes: byte i holds weight i in its low and weight i + 16 in its high
//   nibble;
//                8 bytes of 2-bit codes: bits 2p of byte b of word h are weight 16 h + 4 p + b; two streams of 16 bytes
//                of 8-bit codes: weights 0..15, then 16..31; 16 bytes of floats, unchanged
//   high codes   8 bytes of 2-bit parts, as for low codes; or 4 bytes of 1-bit parts: bit p of byte b is weight 4 p + b
//   heads        2 or 4 bytes per block of the file's format: d, or d and m, d and dmin; MXFP4 has none
//   scales       K formats 2 bytes per unit: scale and minimum (Q4_K, Q5_K), or one byte per sub-block of 16. One byte:
//                IQ4_XS, the scale; MXFP4, the exponent; the formats that IQ2 and IQ3 expand to, two scales
// Rows are contiguous and independent: any range of them can be packed and uploaded separately.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// k is a positive multiple of the format's block size.
bool is_packable(TensorType type, uint32_t k);

// A multiple of 16; at most 4% above the file's size for rows of 2,048 weights. Requires is_packable(type, k).
uint64_t packed_bytes_per_row(TensorType type, uint32_t k);

// blocks: n_rows * bytes_per_row(type, k) bytes as in the file; packed: n_rows * packed_bytes_per_row(type, k) bytes,
// padding is zeroed. Thread-safe.
void pack_rows(TensorType type, uint32_t k, uint64_t n_rows, std::span<const std::byte> blocks,
               std::span<std::byte> packed);

// Offsets of a row's streams, for the kernels that read them.
struct PackedStreams {
  uint32_t unit_weights;              // 32; 8 or 4 in float formats
  uint32_t n_units;                   // per row; the last one is padded in formats without blocks
  uint32_t units_per_head;            // 1 or 8
  uint32_t low_bits, high_bits;       // 2, 4, 8, 16 or 32; and 0, 1 or 2
  uint32_t head_bytes, scale_bytes;   // per block, per unit; 0 if absent
  uint64_t high, heads, scales, end;  // bytes from the row's start; low codes are at 0
};
PackedStreams packed_streams(TensorType type, uint32_t k);

}  // namespace warpchat
