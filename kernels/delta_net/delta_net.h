// Gated delta nets, one token per sequence: the convolution of every channel over its past, then the recurrence of
// every value head. A sequence's state stays in device memory, found by its address. Prompts use
// kernels/delta_net/conv_prompt.h and kernels/delta_net/delta_chunk.h. Source: Yang et al., Gated Delta Networks
// (2024).
#pragma once
#include <cstdint>
#include <string>

#include "models/model_config.h"
#include "ptx/kernel.h"

namespace warpchat {

// A state holds, per delta-net layer: f32 [conv_kernel - 1, channels], the last positions before the convolution, then
// f32 [n_v_heads, key head_dim, value head_dim].
struct DeltaNetSpec : DeltaNetConfig {  // head_dim: 32, 64, 96 or 128; conv_kernel: 2 to 8
  float eps = 0;                        // for the output's RMSNorm
  uint32_t columns = 1;
  bool one_sequence = false;  // columns are positions of one prompt; else one position per sequence
};

inline constexpr float kMinLength = 1e-6f;  // squared norm of a query or key

// Throws Error unless the spec describes a prompt within the bounds above, which hold for every delta-net kernel.
void require_prompt(const std::string& family, const DeltaNetSpec& spec);

// qkv = silu of each channel's convolution over its sequence's last positions. Parameters in order:
//   qkv        f32 [columns, channels]
//   conv       f32 [channels, conv_kernel], the newest position last
//   states     u64 [columns]: addresses, of 16 bytes. One whose position is 0 is written, not read
//   positions  u32 [columns]
//   layer      u32: index of the layer in a state
//   n_columns  u32, only if columns > 1: 1 to columns; columns beyond are neither read nor written
// Throws Error for a spec outside the bounds above, or a prompt's spec.
ptx::Kernel conv_step(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_conv(const DeltaNetSpec& spec);
ptx::Cost conv_step_cost(const DeltaNetSpec& spec);

// out = rmsnorm(state . query) * silu(z) for every value head. Keys and queries are divided by their norms first,
// queries also by sqrt(head_dim). Parameters in order:
//   qkv, z     f32 [columns, channels], f32 [columns, inner]
//   alpha, beta, dt_bias, decay  f32 [columns, n_v_heads] x2, f32 [n_v_heads] x2: each position multiplies the state by
//              exp(decay * softplus(alpha + dt_bias)), then updates it at rate sigmoid(beta)
//   norm       f32 [head_dim]
//   states, positions, layer  as above
//   out        f32 [columns, inner]
//   n_columns  as above
ptx::Kernel delta_step(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_step(const DeltaNetSpec& spec);
ptx::Cost delta_step_cost(const DeltaNetSpec& spec);

}  // namespace warpchat
