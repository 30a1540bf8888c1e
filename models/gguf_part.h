// The structure of one GGUF file (a split model has several): metadata and tensor directory, as views of the file's
// bytes. Source: ggml's GGUF specification.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"

namespace warpchat {

// Ordered, so that hostile names cannot slow look-ups down.
using NameIndex = std::map<std::string_view, size_t>;

struct GgufPart {
  uint32_t version = 0;
  std::vector<GgufValue> values;  // in file order
  NameIndex keys;                 // key -> index into values
  std::vector<TensorInfo> tensors;

  const GgufValue* find(std::string_view key) const;
};

// Checks everything before use. Memory grows with the data read, never with a claimed count. Throws Error with path,
// key or tensor, and byte.
GgufPart parse_gguf_part(std::span<const std::byte> bytes, const std::string& path);

// Bytes per value of a fixed-size type; 0 for strings and arrays.
size_t value_bytes(GgufType type);
const char* type_name(GgufType type);  // "uint32", "array"

}  // namespace warpchat
