// Rotary position embedding: parameters in a GGUF file, and the angle per position of every rotated pair. Sources:
// RoFormer (2104.09864), YaRN (2309.00071) as computed by llama.cpp.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"
#include "models/model_config.h"

namespace warpchat {

// Reads PREFIX.rope.scaling.* and its older form PREFIX.rope.scale_linear. Error for an unsupported kind or value.
RopeScaling read_rope_scaling(const GgufFile& file, std::string_view prefix, uint32_t context_length);

// [rope_dims / 2] radians per position. divisors: [rope_dims / 2] from the tensor rope_freqs.weight, or empty.
std::vector<double> rope_frequencies(const RopeScaling& scaling, double base, uint32_t rope_dims,
                                     std::span<const float> divisors);

// Factor on cos and sin.
double rope_magnitude(const RopeScaling& scaling);

}  // namespace warpchat
