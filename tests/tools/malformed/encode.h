// GGUF values in bytes as they follow a key, and valid files with one edit.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/malformed/families.h"

namespace warpchat {

template <class T>
Bytes encode_scalar(GgufType type, T value) {
  Bytes encoded(4 + sizeof value);
  std::memcpy(encoded.data(), &type, 4);
  std::memcpy(encoded.data() + 4, &value, sizeof value);
  return encoded;
}
inline Bytes u32(uint32_t value) { return encode_scalar(GgufType::kUint32, value); }
inline Bytes i32(int32_t value) { return encode_scalar(GgufType::kInt32, value); }
inline Bytes u64(uint64_t value) { return encode_scalar(GgufType::kUint64, value); }
inline Bytes f32(float value) { return encode_scalar(GgufType::kFloat32, value); }
inline Bytes f64(double value) { return encode_scalar(GgufType::kFloat64, value); }
inline Bytes boolean(uint8_t value) { return encode_scalar(GgufType::kBool, value); }
Bytes text(std::string_view value);
Bytes texts(const std::vector<std::string>& values);
Bytes ints(const std::vector<int32_t>& values);
Bytes floats(const std::vector<float>& values);
Bytes nested_arrays(uint32_t depth);  // arrays of one array each; the innermost is empty

// A valid file with one edit: edit(Document&).
template <class Edit>
Bytes edited(const Base& base, Edit edit) {
  Document document = base.document;
  edit(document);
  return document.bytes();
}

// The key's value replaced, or the key added.
Bytes with_key(const Base& base, const std::string& key, const Bytes& encoded);

}  // namespace warpchat
