// How the keys, or the values, of one layer and sequence lie in device memory: rows [n_kv_heads, max_positions] of
// head_dim values. f16: halves, row after row. q8_0: bytes, row after row, each the code q + 128, then halves [rows,
// scales_per_row]: a scale for each 32 values of a row, which are q * scale. Where head_dim is no multiple of 32, the
// last scale is that of the values left; where that makes an odd number of scales, a zero follows.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpchat {

enum class KvType : uint8_t { kF16, kQ8_0 };

std::string_view name_of(KvType type);                       // "f16", "q8_0": as users write them
std::optional<KvType> kv_type_named(std::string_view name);  // nothing for another name
std::string_view kv_suffix(KvType k_type, KvType v_type);    // of a kernel's name: "", "_kq8", "_vq8", "_kq8_vq8"

struct KvTypes {
  KvType k = KvType::kF16, v = KvType::kF16;
};

struct KvLayout {
  static constexpr uint32_t kGroup = 32;    // values of a row that share a scale
  static constexpr int kBias = 128;         // of a code
  static constexpr float kMostScale = 512;  // larger values than 127 of it are clamped to that: 65,024, halves as well
  static constexpr uint32_t kAlignment = 16;  // bytes, of an allocation and of its scales

  KvType type;
  uint32_t n_kv_heads, max_positions, head_dim;  // the last a multiple of 8

  uint64_t rows() const { return uint64_t{n_kv_heads} * max_positions; }
  uint32_t scales_per_row() const;  // 0 for f16; else even
  uint64_t row_bytes() const;       // of values and scales
  uint64_t scales_offset() const;   // bytes
  uint64_t n_bytes() const;         // a multiple of the alignment
};

}  // namespace warpchat
