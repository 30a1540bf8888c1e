// Layout of one layer's keys or values in device memory: consecutive pages of 64 positions. A sequence's page table
// (u32: the page of positions 0 to 63, of 64 to 127, ...) lists its pages and is shared by all layers, keys and values.
// A page has rows [n_kv_heads, 64] of head_dim values. f32, f16: row after row. q8_0: bytes q + 128, row after row,
// then f16 [rows, scales_per_row]: one scale per 32 values, value = q * scale. If head_dim is not a multiple of 32, the
// last scale covers the remaining values; an odd number of scales is padded with a zero.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

inline constexpr uint32_t kMaxHeadDim = 256;  // that incremental attention and the KV scatter take

enum class KvType : uint8_t { kF16, kQ8_0, kF32 };

std::string_view name_of(KvType type);                       // "f16", "q8_0", "f32", as users write them
std::optional<KvType> kv_type_named(std::string_view name);  // nothing for an unknown name
std::string kv_suffix(KvType k_type, KvType v_type);  // part of a kernel's name: "", "_kq8", "_vf32", "_kq8_vf32"

struct KvTypes {
  KvType k = KvType::kF16, v = KvType::kF16;
  bool has_f32() const { return k == KvType::kF32 || v == KvType::kF32; }
};

inline constexpr uint32_t kPagePositions = 64;
constexpr uint32_t pages_of(uint32_t positions) {
  return positions / kPagePositions + (positions % kPagePositions != 0);
}

// Layout of one page.
struct KvLayout {
  static constexpr uint32_t kGroup = 32;      // values per scale
  static constexpr int kBias = 128;           // added to codes
  static constexpr float kMaxScale = 512;     // values are clamped to 127 times this, 65,024, which f16 holds too
  static constexpr uint32_t kAlignment = 16;  // bytes, for an allocation, a page and its scales

  KvType type;
  uint32_t n_kv_heads, head_dim;  // head_dim: a multiple of 8

  uint64_t rows() const { return uint64_t{n_kv_heads} * kPagePositions; }
  uint32_t value_bytes() const { return type == KvType::kF32 ? 4 : type == KvType::kF16 ? 2 : 1; }
  uint32_t cells_bytes() const { return head_dim * value_bytes(); }  // per row, without scales
  uint32_t scales_per_row() const;                                   // even; 0 except in q8_0
  uint32_t row_bytes() const { return cells_bytes() + scales_per_row() * 2; }
  uint64_t scales_offset() const { return rows() * cells_bytes(); }
  uint64_t n_bytes() const { return rows() * row_bytes(); }
};

}  // namespace warpchat
