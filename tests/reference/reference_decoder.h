// A transformer decoder in float64, plain enough to be believed: weights dequantised to double, nothing rounded below
// double, keys and values kept in double. What every engine's logits are measured against.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

// tokens: one sequence from position 0. Returns the logits of every position, [n_tokens, n_vocab]. Uses all CPU cores;
// memory: the logits and some [n_tokens, hidden] and [n_tokens, ffn] arrays. Throws Error for what the model readers
// refuse and for token ids outside the vocabulary.
std::vector<double> reference_logits(const GgufFile& file, std::span<const int32_t> tokens);
// The same of another config than the file's, of its shapes.
std::vector<double> reference_logits(const GgufFile& file, const ModelConfig& config, std::span<const int32_t> tokens);

}  // namespace warpchat
