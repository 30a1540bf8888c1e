// Writes GGUF version 3 files, for tests and tools.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"

namespace warpchat {

class GgufWriter {
 public:
  void add_uint32(std::string_view key, uint32_t value);
  void add_uint64(std::string_view key, uint64_t value);
  void add_float32(std::string_view key, float value);
  void add_bool(std::string_view key, bool value);
  void add_string(std::string_view key, std::string_view value);
  void add_strings(std::string_view key, std::span<const std::string> values);
  void add_floats(std::string_view key, std::span<const float> values);
  void add_ints(std::string_view key, std::span<const int32_t> values);
  void add_bools(std::string_view key, const std::vector<bool>& values);

  // Any value. payload: type number and value in file format (GgufValue::encoded).
  void add_encoded(std::string_view key, std::vector<std::byte> payload);

  // shape: ggml's order (shape[0] contiguous). data: exactly the tensor's bytes; copied.
  void add_tensor(std::string_view name, TensorType type, std::span<const uint64_t> shape,
                  std::span<const std::byte> data);

  // Copies all metadata of a file except the named keys, and keys about the file itself (alignment, parts).
  void copy_metadata(const GgufFile& from, std::span<const std::string> except = {});

  // An alignment other than 32 is also written as key general.alignment.
  std::vector<std::byte> bytes(uint32_t alignment = 32) const;         // the whole file
  void write(const std::string& path, uint32_t alignment = 32) const;  // Error naming the path and the cause

 private:
  struct KeyValue {
    std::string key;
    std::vector<std::byte> payload;
  };  // payload: type number, then value
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<uint64_t> shape;
    std::vector<std::byte> data;
  };
  std::vector<std::byte> header(uint32_t alignment) const;  // everything before the tensors' data

  std::vector<KeyValue> entries_;
  std::vector<Tensor> tensors_;
};

}  // namespace warpchat
