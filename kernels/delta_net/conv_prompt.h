// Convolution of a delta net's channels over a prompt, many positions in parallel; bit-identical to conv_step.
#pragma once
#include "kernels/delta_net/delta_net.h"

namespace warpchat {

// Takes a prompt's spec (one_sequence; columns: the maximum). Parameters as for conv_step, with a single state.
// n_columns, the last, is u32 in [1, columns]; columns beyond it are neither read nor written. Throws Error for a spec
// out of bounds.
ptx::Kernel conv_prompt(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_conv_prompt(const DeltaNetSpec& spec);
inline constexpr uint32_t kConvWindow = 64;  // positions computed in parallel
inline constexpr uint32_t kConvPromptThreads = 256;

}  // namespace warpchat
