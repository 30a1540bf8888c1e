// Gated delta nets, a token of each sequence: the convolution of every channel over its past, the recurrence of every
// value head. A sequence's state stays in device memory, where launches find it by its address. Of prompts
// kernels/conv_prompt.h and kernels/delta_chunk.h do the same.
// Source: Yang et al., Gated Delta Networks (2024).
#pragma once
#include <cstdint>
#include <string>

#include "models/model_config.h"
#include "ptx/kernel.h"

namespace warpchat {

// A state is, for each layer that is a delta net: f32 [conv_kernel - 1, channels], what the last positions were before
// the convolution, then f32 [n_v_heads, head_dim of keys, head_dim of values].
struct DeltaNetSpec : DeltaNetConfig {  // head_dim: 32, 64, 96 or 128; conv_kernel: 2 to 8
  float eps = 0;                        // of the output's norm
  uint32_t columns = 1;
  bool one_sequence = false;  // the columns are positions of one, a prompt; else a position each of several
};

inline constexpr float kLeastLength = 1e-6f;  // squared, of a query or key

// Throws Error for a spec outside the bounds above, which every kernel of delta nets has, or of no prompt.
void require_prompt(const std::string& family, const DeltaNetSpec& spec);

// qkv = silu of each channel's convolution over its sequence's last positions. Parameters in order:
//   qkv        f32 [columns, channels]
//   conv       f32 [channels, conv_kernel], the newest position last
//   states     u64 [columns]: addresses, of 16 bytes. One whose position is 0 is written, not read
//   positions  u32 [columns]
//   layer      u32: which of a state's
//   n_columns  u32, only if columns > 1: 1 to columns; what lies beyond is neither read nor written
// Throws Error for a spec outside the bounds above, or of a prompt.
ptx::Kernel conv_step(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_conv(const DeltaNetSpec& spec);
ptx::Cost conv_step_cost(const DeltaNetSpec& spec);

// out = rmsnorm(state . query) * silu(z) of every value head; keys and queries of qkv are divided by their lengths
// first, queries by the root of head_dim as well. Parameters in order:
//   qkv, z     f32 [columns, channels], f32 [columns, inner]
//   alpha, beta, dt_bias, decay  f32 [columns, n_v_heads] x2, f32 [n_v_heads] x2: a position lets the state fade by
//              exp(decay * softplus(alpha + dt_bias)), and learns by sigmoid(beta)
//   norm       f32 [head_dim]
//   states, positions, layer  as above
//   out        f32 [columns, inner]
//   n_columns  likewise
ptx::Kernel delta_step(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_step(const DeltaNetSpec& spec);
ptx::Cost delta_step_cost(const DeltaNetSpec& spec);

}  // namespace warpchat
