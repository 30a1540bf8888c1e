// The convolution of a delta net's channels over a prompt: what conv_step does position by position, to the same bits,
// the positions beside each other.
#pragma once
#include "kernels/delta_net.h"

namespace warpchat {

// Takes the spec of a prompt: one_sequence, and columns the most there may be. Parameters: as of conv_step, with a
// single state; the last is n_columns: u32, 1 to columns; what lies beyond is neither read nor written. Throws Error
// for a spec out of bounds.
ptx::Kernel conv_prompt(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_conv_prompt(const DeltaNetSpec& spec);
inline constexpr uint32_t kConvWindow = 64;  // positions beside each other
inline constexpr uint32_t kConvPromptThreads = 256;

}  // namespace warpchat
