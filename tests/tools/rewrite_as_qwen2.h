// Rewrites a llama model as a qwen2 model of the same mathematics whose rows are whole numbers of 256-weight blocks, so
// that a small real model can be stored in K formats as the large ones are.
#pragma once
#include "models/gguf_reader.h"
#include "models/gguf_writer.h"

namespace warpchat {

enum class RewriteFormat {
  kF32,  // exact, to check the rewriting
  kF16,
  kQ4_K_M,  // llama.cpp's mix: Q6_K for the embedding, for the output, and for attn_v and ffn_down where it counts most
};

// What changes: hidden is padded with zeros to a multiple of 256, and heads with it at the same head_dim and the same
// number of query heads per key head; a norm's mean then runs over more numbers, so eps and the gains shrink to match;
// the rows of q and k move from pairs (2i, 2i + 1) to (i, i + head_dim / 2); q, k and v get biases of zero; keys
// llama.* are called qwen2.*. Throws Error for models that are not llama or whose heads cannot be padded so.
GgufWriter rewrite_as_qwen2(const GgufFile& file, RewriteFormat format);

}  // namespace warpchat
