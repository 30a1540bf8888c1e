// Rows of the embedding matrix, dequantised: out[column, :] = W[tokens[column], :], rounded once to fp32.
#pragma once
#include <cstdint>
#include <string>

#include "models/tensor_type.h"
#include "ptx/kernel.h"

namespace warpchat {

struct EmbeddingSpec {
  TensorType weights;
  uint32_t n_vocab,
      hidden;  // n_vocab rows of hidden values; hidden as is_packable (kernels/matmul/weight_layout.h) requires
  uint32_t columns = 1;
};

// Name: embedding_q4k_151936x896_c8. Parameters in order:
//   weights    packed_bytes_per_row(weights, hidden) * n_vocab bytes, 16-byte aligned: packed as for gemv
//   tokens     u32 [columns]
//   out        f32 [columns, hidden], 16-byte aligned
//   error      u32 [4]: kernels/common/error_word.h. A token of n_vocab or more sets it and leaves the column's out
//   unchanged n_columns  u32, only if columns > 1: at most `columns`; columns beyond are neither read nor written
// Throws Error for a spec outside the bounds above.
ptx::Kernel embedding(const EmbeddingSpec& spec, ptx::Target target);
std::string name_of(const EmbeddingSpec& spec);

}  // namespace warpchat
