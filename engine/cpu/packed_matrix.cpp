#include "engine/cpu/packed_matrix.h"

#include "models/dequantise.h"

namespace warpchat {

void PackedMatrix::read_row(uint32_t row, float* out) const {
  const uint64_t row_bytes = bytes_per_row(tensor_->type, tensor_->k());
  dequantise_row(tensor_->type, tensor_->data.subspan(row * row_bytes, row_bytes), std::span<float>(out, tensor_->k()));
}

}  // namespace warpchat
