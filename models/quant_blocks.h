// ggml's quantised blocks as they lie in a GGUF file. Field names are ggml's; w is the weight, q its stored integer.
// All fields are little-endian and no struct needs more than 2-byte alignment. In every K format i is the weight's
// index in its block of 256, and the sub-block's index is i / 16 or i / 32. Source: ggml, ggml-common.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "models/half.h"

namespace warpchat {

inline constexpr int kBlockWeights = 32;        // of the formats without K
inline constexpr int kSuperBlockWeights = 256;  // of the K formats

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
  uint8_t scales[16];  // one a sub-block: low nibble the scale, high nibble the minimum
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
  f16 d, dmin;         // of the eight sub-blocks' scales and minimums
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
  int8_t scales[16];  // one a sub-block, signed
  f16 d;
};
static_assert(sizeof(BlockQ6K) == 210 && offsetof(BlockQ6K, qh) == 128 && offsetof(BlockQ6K, scales) == 192 &&
              offsetof(BlockQ6K, d) == 208);

struct ScaleMin {
  uint8_t scale, min;  // 0..63
};

// The scale and minimum of sub-block s (0..7) of Q4_K and Q5_K. Bytes 0..3 hold scales 0..3 in their low six bits,
// bytes 4..7 minimums 0..3; bytes 8..11 hold the low nibbles of scales 4..7 (low) and minimums 4..7 (high), whose upper
// two bits are the upper two bits of bytes 0..3 and 4..7.
inline ScaleMin scale_and_min(const uint8_t (&scales)[12], int s) {
  if (s < 4) return {static_cast<uint8_t>(scales[s] & 63), static_cast<uint8_t>(scales[s + 4] & 63)};
  const int low = scales[s + 4], scale_high = scales[s - 4] >> 6, min_high = scales[s] >> 6;
  return {static_cast<uint8_t>((low & 15) | scale_high << 4), static_cast<uint8_t>(low >> 4 | min_high << 4)};
}

// The stored scale (0..63, 32 is zero) of sub-block s (0..15) of Q3_K. Bytes 0..7 hold the low nibbles: of scales 0..7
// (low) and 8..15 (high); byte 8 + s % 4 holds the upper two bits, at bit 2 * (s / 4).
inline uint8_t q3k_scale(const uint8_t (&scales)[12], int s) {
  const int low = scales[s % 8] >> (s / 8 * 4) & 15, high = scales[8 + s % 4] >> (s / 4 * 2) & 3;
  return static_cast<uint8_t>(low | high << 4);
}

}  // namespace warpchat
