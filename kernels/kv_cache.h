// How the keys, or the values, of one layer lie in device memory: in pages of 64 positions, one behind the other, of
// which a sequence has those that its page table names: u32, the page of positions 0 to 63, that of 64 to 127, ... All
// layers, keys and values, have the same table. A page is rows [n_kv_heads, 64] of head_dim values. f32, f16: floats or
// halves, row after row. q8_0: bytes, row after row, each the code q + 128, then halves [rows, scales_per_row]: a scale
// for each 32 values of a row, which are q * scale. Where head_dim is no multiple of 32, the last scale is that of the
// values left; where that makes an odd number of scales, a zero follows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

enum class KvType : uint8_t { kF16, kQ8_0, kF32 };

std::string_view name_of(KvType type);                       // "f16", "q8_0", "f32": as users write them
std::optional<KvType> kv_type_named(std::string_view name);  // nothing for another name
std::string kv_suffix(KvType k_type, KvType v_type);         // of a kernel's name: "", "_kq8", "_vf32", "_kq8_vf32"

struct KvTypes {
  KvType k = KvType::kF16, v = KvType::kF16;
  bool has_f32() const { return k == KvType::kF32 || v == KvType::kF32; }
};

inline constexpr uint32_t kPagePositions = 64;
constexpr uint32_t pages_of(uint32_t positions) {
  return positions / kPagePositions + (positions % kPagePositions != 0);
}

// Of a page.
struct KvLayout {
  static constexpr uint32_t kGroup = 32;    // values of a row that share a scale
  static constexpr int kBias = 128;         // of a code
  static constexpr float kMostScale = 512;  // larger values than 127 of it are clamped to that: 65,024, halves as well
  static constexpr uint32_t kAlignment = 16;  // bytes, of an allocation, of a page and of its scales

  KvType type;
  uint32_t n_kv_heads, head_dim;  // the last a multiple of 8

  uint64_t rows() const { return uint64_t{n_kv_heads} * kPagePositions; }
  uint32_t value_bytes() const { return type == KvType::kF32 ? 4 : type == KvType::kF16 ? 2 : 1; }
  uint32_t cells_bytes() const { return head_dim * value_bytes(); }  // of a row's floats, halves or codes
  uint32_t scales_per_row() const;                                   // even; 0 but for q8_0
  uint32_t row_bytes() const { return cells_bytes() + scales_per_row() * 2; }
  uint64_t scales_offset() const { return rows() * cells_bytes(); }
  uint64_t n_bytes() const { return rows() * row_bytes(); }
};

}  // namespace warpchat
