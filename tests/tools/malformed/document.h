// A valid GGUF file taken apart for variants: as keys and tensors to edit, and as a list of its fields with their byte
// ranges.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"

namespace warpchat {

using Bytes = std::vector<std::byte>;

struct Document {
  struct Key {
    std::string name;
    Bytes encoded;  // type number, then value
  };
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<uint64_t> shape;
    Bytes data;
  };
  std::vector<Key> keys;
  std::vector<Tensor> tensors;

  static Document of(const GgufFile& file);
  bool has_key(std::string_view name) const;
  bool has_tensor(std::string_view name) const;
  Key& key(std::string_view name);
  Tensor& tensor(std::string_view name);
  Bytes bytes() const;
};

struct Field {
  enum class Kind {
    kMagic,
    kVersion,
    kTensorCount,
    kKeyCount,
    kNameLength,
    kName,
    kValueType,
    kScalar,
    kStringLength,
    kString,
    kElementType,
    kArrayLength,
    kArray,
    kNDims,
    kDimension,
    kTensorType,
    kOffset,
    kData,
  };
  Kind kind;
  std::string owner;  // "header", or the key's or tensor's name
  size_t at, size;    // bytes
};
std::string_view kind_name(Field::Kind kind);

// All fields in file order, without those of 0 bytes. An array of strings adds its first and last string's length.
// bytes: a valid file.
std::vector<Field> fields_of(const Bytes& bytes);

}  // namespace warpchat
