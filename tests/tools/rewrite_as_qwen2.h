// Rewrites a llama model as an equivalent qwen2 model whose rows are whole numbers of 256-weight blocks. So a small
// real model can be stored in K formats, as large ones are.
#pragma once
#include "models/gguf_reader.h"
#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {

enum class RewriteFormat {
  kF32,  // exact, to check the rewriting
  kF16,
  kQ4_K_M,  // llama.cpp's mix: Q6_K for embedding and output, and for attn_v and ffn_down in the important layers
};

// Changes: hidden is zero-padded to a multiple of 256. Heads are added at the same head_dim and the same number of
// query heads per key head. A norm's mean then covers more numbers, so eps and gains shrink to match. Rows of q and k
// move from pairs (2i, 2i + 1) to (i, i + head_dim / 2). q, k and v get zero biases. Keys llama.* become qwen2.*.
// Throws Error for other architectures and for heads that cannot be padded.
GgufWriter rewrite_as_qwen2(const GgufFile& file, RewriteFormat format);

}  // namespace warpchat
