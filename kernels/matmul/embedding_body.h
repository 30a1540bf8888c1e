// The body of embedding.h.
#pragma once
#include "kernels/common/body.h"
#include "kernels/matmul/embedding.h"

namespace warpchat {

struct EmbeddingAddresses {
  ptx::Global<ptx::u8> weights;
  ptx::Global<ptx::u32> tokens;
  ptx::Global<ptx::f32> out;
  ptx::Global<ptx::u32> error;
  ColumnCount n_columns;
};
ptx::Launch embedding_launch(const EmbeddingSpec& spec);  // blocks: parts of a row, columns
void embedding_body(ptx::Builder& b, const EmbeddingSpec& spec, const EmbeddingAddresses& at,
                    const VirtualBlock& block);
// embedding() with the body given.
ptx::Kernel embedding_kernel(const EmbeddingSpec& spec, ptx::Target target, const BodyOf<EmbeddingAddresses>& body);

}  // namespace warpchat
