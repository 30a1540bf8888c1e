// The layout that weights are repacked into at load, so that the lanes of a warp read 16 bytes each, side by side. A
// row is cut into units of 32 weights (8 of F16 and BF16, 4 of F32); its bits lie in streams, one after the other, and
// unit u of a stream lies at u times the stream's bytes:
//   low codes    16 bytes a unit of 4-bit codes: byte i holds weight i in its low and weight i + 16 in its high nibble;
//                8 bytes of 2-bit codes: bits 2p of byte b of word h are weight 16 h + 4 p + b; two streams of 16 bytes
//                of 8-bit codes: weights 0..15, then 16..31; floats as they are, 16 bytes
//   high codes   8 bytes of 2 bits, as the low ones; or 4 bytes of 1 bit: bit p of byte b is weight 4 p + b
//   heads        2 or 4 bytes a block of the file's format: d, or d and m, d and dmin; MXFP4 has none
//   scales       2 bytes a unit of the K formats: scale and minimum (Q4_K, Q5_K), or one byte a sub-block of 16; one
//                byte of IQ4_XS, the scale, of MXFP4, the exponent, and of what IQ2 and IQ3 are expanded to, two scales
// Rows are contiguous and independent: any range of them can be packed and uploaded on its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// k is a multiple of the format's block, and above 0.
bool is_packable(TensorType type, uint32_t k);

// A multiple of 16; at most 4% more than the file's for rows of 2,048 weights. type and k as in is_packable.
uint64_t packed_bytes_per_row(TensorType type, uint32_t k);

// blocks: n_rows * bytes_per_row(type, k) bytes as in the file; packed: n_rows * packed_bytes_per_row(type, k) bytes,
// whose padding becomes 0. Thread-safe, as unpack_rows is.
void pack_rows(TensorType type, uint32_t k, uint64_t n_rows, std::span<const std::byte> blocks,
               std::span<std::byte> packed);

// The way back, bit for bit.
void unpack_rows(TensorType type, uint32_t k, uint64_t n_rows, std::span<const std::byte> packed,
                 std::span<std::byte> blocks);

// Where the streams of a row lie, for the kernels that read them.
struct PackedStreams {
  uint32_t unit_weights;              // 32, or 8 or 4 of the float formats
  uint32_t n_units;                   // of the row, the last one padded where the format has no blocks
  uint32_t units_per_head;            // 1 or 8
  uint32_t low_bits, high_bits;       // 2, 4, 8, 16 or 32; and 0, 1 or 2
  uint32_t head_bytes, scale_bytes;   // a block, a unit; 0 where there are none
  uint64_t high, heads, scales, end;  // bytes from the row's start; the low codes are at 0
};
PackedStreams packed_streams(TensorType type, uint32_t k);

}  // namespace warpchat
