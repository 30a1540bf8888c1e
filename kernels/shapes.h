// The shapes of well-known models, so that their kernels can be listed, checked and timed without a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/launch_list.h"
#include "models/model_config.h"

namespace warpchat {

struct ModelShape {
  ModelConfig config;
  DecoderFormats formats;  // as in a Q4_K_M file
};

std::vector<std::string> shape_names();  // "qwen2.5-0.5b", ...

// Throws Error for an unknown name, listing the known ones.
ModelShape model_shape(std::string_view name);

// What llama.cpp's quantiser produces for Q4_K_M: Q6_K for the output and, in layers it considers sensitive, for V, a
// delta net's qkv and every down projection, including experts'; F32 for routers; Q4_K for the rest. If k is not a
// multiple of 256, Q8_0 replaces Q6_K, and Q5_0 replaces Q4_K. Published files sometimes differ. Source:
// llama_tensor_get_type in llama.cpp's src/llama-quant.cpp.
DecoderFormats q4_k_m_formats(const ModelConfig& config);

}  // namespace warpchat
