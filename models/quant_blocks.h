// ggml's quantised blocks as stored in a GGUF file. Field names are ggml's; w is the weight, q its stored integer. All
// fields are little-endian, and no struct needs more than 2-byte alignment. In a block of 256, i is the weight's index;
// its sub-block is i / 16 or i / 32. Source: ggml, ggml-common.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "models/half.h"

namespace warpchat {

struct BlockQ4_0 {  // 32 weights; w = d * (q - 8)
  f16 d;
  uint8_t qs[16];  // low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockQ4_0) == 18 && offsetof(BlockQ4_0, qs) == 2);

struct BlockQ4_1 {  // 32 weights; w = d * q + m
  f16 d, m;
  uint8_t qs[16];  // low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockQ4_1) == 20 && offsetof(BlockQ4_1, m) == 2 && offsetof(BlockQ4_1, qs) == 4);

struct BlockQ5_0 {  // 32 weights; w = d * (q - 16)
  f16 d;
  uint8_t qh[4];   // as one little-endian word: bit i is bit 4 of weight i
  uint8_t qs[16];  // bits 0..3: low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockQ5_0) == 22 && offsetof(BlockQ5_0, qh) == 2 && offsetof(BlockQ5_0, qs) == 6);

struct BlockQ5_1 {  // 32 weights; w = d * q + m
  f16 d, m;
  uint8_t qh[4];   // as in Q5_0
  uint8_t qs[16];  // as in Q5_0
};
static_assert(sizeof(BlockQ5_1) == 24 && offsetof(BlockQ5_1, m) == 2 && offsetof(BlockQ5_1, qh) == 4 &&
              offsetof(BlockQ5_1, qs) == 8);

struct BlockQ8_0 {  // 32 weights; w = d * q
  f16 d;
  int8_t qs[32];  // byte i is weight i
};
static_assert(sizeof(BlockQ8_0) == 34 && offsetof(BlockQ8_0, qs) == 2);

struct BlockQ2K {      // 256 weights in 16 sub-blocks of 16; w = d * scale * q - dmin * min, q in 0..3
  uint8_t scales[16];  // per sub-block: low nibble scale, high nibble minimum
  uint8_t qs[64];      // 32 bytes per 128 weights: bits 0-1 are weights 0..31, 2-3 32..63, 4-5 64..95, 6-7 96..127
  f16 d, dmin;
};
static_assert(sizeof(BlockQ2K) == 84 && offsetof(BlockQ2K, qs) == 16 && offsetof(BlockQ2K, d) == 80 &&
              offsetof(BlockQ2K, dmin) == 82);

struct BlockQ3K {      // 256 weights in 16 sub-blocks of 16; w = d * (scale - 32) * (q - 4), q in 0..7
  uint8_t hmask[32];   // bit i / 32 of byte i % 32 is bit 2 of weight i
  uint8_t qs[64];      // bits 0..1, packed as in Q2_K
  uint8_t scales[12];  // 16 six-bit scales, packed: see q3k_scale
  f16 d;
};
static_assert(sizeof(BlockQ3K) == 110 && offsetof(BlockQ3K, qs) == 32 && offsetof(BlockQ3K, scales) == 96 &&
              offsetof(BlockQ3K, d) == 108);

struct BlockQ4K {      // 256 weights in 8 sub-blocks of 32; w = d * scale * q - dmin * min, q in 0..15
  f16 d, dmin;         // for the eight sub-blocks' scales and minimums
  uint8_t scales[12];  // 8 six-bit scales, 8 six-bit minimums, packed: see scale_and_min
  uint8_t qs[128];     // 32 bytes per 64 weights: low nibbles are weights 0..31, high nibbles 32..63
};
static_assert(sizeof(BlockQ4K) == 144 && offsetof(BlockQ4K, dmin) == 2 && offsetof(BlockQ4K, scales) == 4 &&
              offsetof(BlockQ4K, qs) == 16);

struct BlockQ5K {  // 256 weights in 8 sub-blocks of 32; w = d * scale * q - dmin * min, q in 0..31
  f16 d, dmin;
  uint8_t scales[12];  // packed as in Q4_K
  uint8_t qh[32];      // bit i / 32 of byte i % 32 is bit 4 of weight i
  uint8_t qs[128];     // bits 0..3, packed as in Q4_K
};
static_assert(sizeof(BlockQ5K) == 176 && offsetof(BlockQ5K, dmin) == 2 && offsetof(BlockQ5K, scales) == 4 &&
              offsetof(BlockQ5K, qh) == 16 && offsetof(BlockQ5K, qs) == 48);

struct BlockQ6K {     // 256 weights in 16 sub-blocks of 16; w = d * scale * (q - 32), q in 0..63
  uint8_t ql[128];    // bits 0..3, 64 bytes per 128 weights: low nibbles are weights 0..63, high nibbles 64..127
  uint8_t qh[64];     // bits 4..5, 32 bytes per 128 weights: bits 0-1 are weights 0..31, 2-3 32..63, and so on
  int8_t scales[16];  // one per sub-block, signed
  f16 d;
};
static_assert(sizeof(BlockQ6K) == 210 && offsetof(BlockQ6K, qh) == 128 && offsetof(BlockQ6K, scales) == 192 &&
              offsetof(BlockQ6K, d) == 208);

// Values of four-bit codes: IQ4_NL and IQ4_XS; MXFP4, as twice those of E2M1.
inline constexpr int8_t kIQ4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
inline constexpr int8_t kMXFP4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

struct BlockIQ4NL {  // 32 weights; w = d * kIQ4Values[q]
  f16 d;
  uint8_t qs[16];  // low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockIQ4NL) == 18 && offsetof(BlockIQ4NL, qs) == 2);

struct BlockIQ4XS {  // 256 weights in 8 sub-blocks of 32; w = d * (scale - 32) * kIQ4Values[q]
  f16 d;
  uint16_t scales_h;    // bits 4..5 of sub-block scales, from the lowest bits on
  uint8_t scales_l[4];  // bits 0..3: byte s / 2, low nibble for even s
  uint8_t qs[128];      // 16 bytes per sub-block: low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockIQ4XS) == 136 && offsetof(BlockIQ4XS, scales_h) == 2 && offsetof(BlockIQ4XS, scales_l) == 4 &&
              offsetof(BlockIQ4XS, qs) == 8);

struct BlockMXFP4 {  // 32 weights; w = 2^(e - 128) * kMXFP4Values[q]
  uint8_t e;         // E8M0: 255 is NaN
  uint8_t qs[16];    // low nibbles are weights 0..15, high nibbles 16..31
};
static_assert(sizeof(BlockMXFP4) == 17 && offsetof(BlockMXFP4, qs) == 1);

// IQ2 and IQ3: 256 weights as grid entries (models/grids.h), i.e. magnitudes of eight or four weights, and signs. Bit
// positions: models/grid_blocks.h.
struct BlockIQ2XXS {  // w = d * (2 * scale + 1) / 8 * +-magnitude
  f16 d;
  uint8_t qs[64];  // 8 bytes per 32 weights: numbers of four entries; four times seven signs, and a scale
};
static_assert(sizeof(BlockIQ2XXS) == 66 && offsetof(BlockIQ2XXS, qs) == 2);

struct BlockIQ2XS {  // like IQ2_XXS, with a scale per 16 weights
  f16 d;
  uint16_t qs[32];    // one per 8 weights: 9 bits of an entry's number, seven signs
  uint8_t scales[8];  // one nibble per 16 weights
};
static_assert(sizeof(BlockIQ2XS) == 74 && offsetof(BlockIQ2XS, qs) == 2 && offsetof(BlockIQ2XS, scales) == 66);

struct BlockIQ2S {  // like IQ2_XS
  f16 d;
  uint8_t qs[32];     // bits 0..7 of an entry's number per 8 weights
  uint8_t signs[32];  // one bit per weight
  uint8_t qh[8];      // bits 8..9
  uint8_t scales[8];  // one nibble per 16 weights
};
static_assert(sizeof(BlockIQ2S) == 82 && offsetof(BlockIQ2S, signs) == 34 && offsetof(BlockIQ2S, qh) == 66 &&
              offsetof(BlockIQ2S, scales) == 74);

struct BlockIQ3XXS {  // w = d * (2 * scale + 1) / 4 * +-magnitude
  f16 d;
  uint8_t qs[64];                // one entry's number per 4 weights
  uint8_t signs_and_scales[32];  // 4 bytes per 32 weights, as in IQ2_XXS
};
static_assert(sizeof(BlockIQ3XXS) == 98 && offsetof(BlockIQ3XXS, signs_and_scales) == 66);

struct BlockIQ3S {  // w = d * (2 * scale + 1) * +-magnitude
  f16 d;
  uint8_t qs[64];     // bits 0..7 of an entry's number per 4 weights
  uint8_t qh[8];      // bit 8
  uint8_t signs[32];  // one bit per weight
  uint8_t scales[4];  // one nibble per 32 weights
};
static_assert(sizeof(BlockIQ3S) == 110 && offsetof(BlockIQ3S, qh) == 66 && offsetof(BlockIQ3S, signs) == 74 &&
              offsetof(BlockIQ3S, scales) == 106);

// Expanded blocks without grid; not used in files. 256 weights in 16 sub-blocks of 16; w = d * (2 * scale + 1) /
// divisor * values[q]
template <const int8_t (&values)[16], int divisor>
struct BlockExpanded {
  static constexpr const int8_t* kValues = values;
  static constexpr int kDivisor = divisor;
  f16 d;
  uint8_t scales[8];  // one nibble per sub-block, the low one for even ones
  uint8_t qs[128];    // 16 bytes per 32 weights: low nibbles are weights 0..15, high nibbles 16..31
};
inline constexpr int8_t kIQ2Values[16] = {-43, -25, -8, 8, 25, 43, 43, 43, 43, 43, 43, 43, 43, 43, 43, 43};  // six
inline constexpr int8_t kIQ3XXSValues[16] = {-62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr int8_t kIQ3SValues[16] = {-15, -13, -11, -9, -7, -5, -3, -1, 1, 3, 5, 7, 9, 11, 13, 15};
using BlockIQ2Expanded = BlockExpanded<kIQ2Values, 8>;
using BlockIQ3XXSExpanded = BlockExpanded<kIQ3XXSValues, 4>;
using BlockIQ3SExpanded = BlockExpanded<kIQ3SValues, 1>;
static_assert(sizeof(BlockIQ2Expanded) == 138 && offsetof(BlockIQ2Expanded, qs) == 10);

struct ScaleMin {
  uint8_t scale, min;  // 0..63
};

// Scale and minimum of sub-block s (0..7) of Q4_K and Q5_K. Bytes 0..3 hold scales 0..3 in the low six bits, bytes 4..7
// minimums 0..3. Bytes 8..11 hold the low nibbles of scales 4..7 (low) and minimums 4..7 (high); their upper two bits
// are the upper two bits of bytes 0..3 and 4..7.
inline ScaleMin scale_and_min(const uint8_t (&scales)[12], int s) {
  if (s < 4) return {static_cast<uint8_t>(scales[s] & 63), static_cast<uint8_t>(scales[s + 4] & 63)};
  const int low = scales[s + 4], scale_high = scales[s - 4] >> 6, min_high = scales[s] >> 6;
  return {static_cast<uint8_t>((low & 15) | scale_high << 4), static_cast<uint8_t>(low >> 4 | min_high << 4)};
}

// Stored scale (0..63, 32 is zero) of sub-block s (0..15) of Q3_K. Bytes 0..7 hold low nibbles: scales 0..7 (low) and
// 8..15 (high). Byte 8 + s % 4 holds the upper two bits, at bit 2 * (s / 4).
inline uint8_t q3k_scale(const uint8_t (&scales)[12], int s) {
  const int low = scales[s % 8] >> (s / 8 * 4) & 15, high = scales[8 + s % 4] >> (s / 4 * 2) & 3;
  return static_cast<uint8_t>(low | high << 4);
}

// Stored scale (0..63, 32 is zero) of sub-block s (0..7) of IQ4_XS.
inline uint8_t iq4xs_scale(const BlockIQ4XS& b, int s) {
  const int low = b.scales_l[s / 2] >> (s % 2 * 4) & 15, high = b.scales_h >> (2 * s) & 3;
  return static_cast<uint8_t>(low | high << 4);
}

}  // namespace warpchat
