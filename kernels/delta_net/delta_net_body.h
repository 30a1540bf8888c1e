// The bodies of delta_net.h.
#pragma once
#include "kernels/common/body.h"
#include "kernels/delta_net/delta_net.h"

namespace warpchat {

struct StateAddresses {  // of delta nets
  ptx::Global<ptx::u64> states;
  ptx::Global<ptx::u32> positions;
  ptx::Reg<ptx::u32> layer;
};
struct ConvAddresses {
  ptx::Global<ptx::f32> qkv, conv;
  StateAddresses state;
  ColumnCount n_columns;
};
ptx::Launch conv_launch(const DeltaNetSpec& spec);  // blocks: channels, sequences
void conv_body(ptx::Builder& b, const DeltaNetSpec& spec, const ConvAddresses& at, const VirtualBlock& block);
ptx::Kernel conv_kernel(const DeltaNetSpec& spec, ptx::Target target, const BodyOf<ConvAddresses>& body);

struct DeltaAddresses {
  ptx::Global<ptx::f32> qkv, z, alpha, beta, dt_bias, decay, norm;
  StateAddresses state;
  ptx::Global<ptx::f32> out;
  ColumnCount n_columns;
};
ptx::Launch delta_launch(const DeltaNetSpec& spec);  // blocks: value heads, sequences
void delta_body(ptx::Builder& b, const DeltaNetSpec& spec, const DeltaAddresses& at, const VirtualBlock& block);
ptx::Kernel delta_kernel(const DeltaNetSpec& spec, ptx::Target target, const BodyOf<DeltaAddresses>& body);

}  // namespace warpchat
