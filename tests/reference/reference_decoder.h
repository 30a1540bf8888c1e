// A transformer decoder in float64, simple enough to trust: weights are dequantised to double, and nothing is rounded
// below double, keys and values included. All engines are measured against its logits.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

// tokens: one sequence from position 0. Returns the logits of every position, [n_tokens, n_vocab]. Uses all CPU cores;
// memory: the logits and some arrays [n_tokens, hidden] and [n_tokens, ffn]. Throws Error if the model readers refuse
// the file, and for token ids outside the vocabulary.
std::vector<double> reference_logits(const GgufFile& file, std::span<const int32_t> tokens);
// The same with another config of the same shapes.
std::vector<double> reference_logits(const GgufFile& file, const ModelConfig& config, std::span<const int32_t> tokens);

}  // namespace warpchat
