// A weight matrix as the CPU reads it.
#pragma once
#include <cstdint>

#include "models/gguf_reader.h"

namespace warpchat {

class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const TensorInfo& tensor) : tensor_(&tensor) {}

  static uint64_t bytes_needed(const TensorInfo&) { return 0; }
  uint64_t n_bytes() const { return tensor_->data.size(); }
  uint32_t rows() const { return static_cast<uint32_t>(tensor_->rows()); }
  uint32_t k() const { return static_cast<uint32_t>(tensor_->k()); }

  void read_row(uint32_t row, float* out) const;  // [k]

 private:
  const TensorInfo* tensor_ = nullptr;
};

}  // namespace warpchat
