// Storage formats of tensors, numbered as in GGUF files. Source: ggml's GGUF specification (docs/gguf.md) and the
// layout of ggml's quantised blocks.
#pragma once
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warpchat {

enum class TensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kBF16 = 30,
  kMXFP4 = 39,
  // Read by kernels (models/kernel_type.h), but not used in files.
  kIQ2Expanded = 0x10000,
  kIQ3XXSExpanded,
  kIQ3SExpanded,
};

struct TensorTypeTraits {
  TensorType type;
  std::string_view name;   // ggml's spelling: "Q4_K"
  uint32_t block_weights;  // weights per block: 1, 32 or 256
  uint32_t block_bytes;    // bytes per block
};

// Traits of a supported file type; nullopt for other numbers.
std::optional<TensorTypeTraits> find_tensor_type(uint32_t number);
const TensorTypeTraits& traits(TensorType type);             // any type
std::span<const TensorTypeTraits> supported_tensor_types();  // used in files
std::span<const TensorTypeTraits> kernel_tensor_types();     // read by kernels

// The row of a table with a column `type` that has one row per format.
template <class Rows>
const auto& row_of(const Rows& rows, TensorType type) {
  const auto row = std::ranges::find_if(rows, [&](const auto& candidate) { return candidate.type == type; });
  assert(row != std::ranges::end(rows));
  return *row;
}

// ggml's name of a type number, supported or not ("IQ4_NL"); "number 99" if unknown.
std::string tensor_type_name(uint32_t number);

// Bytes per row of k weights; k is a multiple of the block's weights.
uint64_t bytes_per_row(TensorType type, uint64_t k);

}  // namespace warpchat
