#include "kernels/delta_net/conv_prompt.h"

#include <vector>

#include "kernels/common/columns.h"
#include "kernels/common/sigmoid.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kConvWarps = kConvPromptThreads / kWarpSize;

}  // namespace

std::string name_of_conv_prompt(const DeltaNetSpec& s) {
  return "conv_prompt_" + std::to_string(s.n_k_heads) + "_" + std::to_string(s.n_v_heads) + "x" +
         std::to_string(s.head_dim) + "_k" + std::to_string(s.conv_kernel) + "_c" + std::to_string(s.columns);
}

// One lane per channel. Each warp computes some positions of a window in shared memory, which starts with the last
// positions of the previous one.
Kernel conv_prompt(const DeltaNetSpec& s, Target target) {
  require_prompt("conv_prompt", s);
  constexpr uint32_t kWindow = kConvWindow, kEach = kWindow / kConvWarps;  // positions
  const uint32_t channels = s.channels(), n = s.conv_kernel, n_before = n - 1;
  Builder b(name_of_conv_prompt(s), target);
  Global<f32> qkv = b.global<f32>("qkv", uint64_t{s.columns} * channels);
  Global<f32> conv = b.global<f32>("conv", uint64_t{channels} * n);
  Global<u64> states = b.global<u64>("states", 1);
  Global<u32> positions = b.global<u32>("positions", s.columns);
  Reg<u32> layer = b.param<u32>("layer"), n_columns = b.param<u32>("n_columns");
  Shared<f32> window = b.shared<f32>("window", (n_before + kWindow) * kWarpSize) + b.lane();
  Reg<u32> channel = (b.block() * kWarpSize + b.lane()).named("channel"), own = b.warp() * kEach;
  const Shared<f32> own_window = window + own * kWarpSize;
  Global<f32> tail = b.pointer<f32>(states.load(0, kReadOnly), 16) + wide(layer) * s.layer_floats() + channel;
  Reg<u32> warp = b.warp_uniform(b.warp());
  std::vector<Reg<f32>> taps;
  for (uint32_t i = 0; i < n; ++i) taps.push_back(conv.load(channel * n + i, kReadOnly));
  std::vector<Var<f32>> before;  // channel's previous inputs, oldest first
  for (uint32_t i = 0; i < n_before; ++i) before.push_back(b.var("before", 0.0f));
  b.if_(positions.load(0, kReadOnly) != 0, [&] {
    for (uint32_t i = 0; i < n_before; ++i) before[i] = tail.load(uint64_t{i} * channels);
  });
  b.for_("first", 0, n_columns, kWindow, [&](Reg<u32> first) {
    Reg<u32> first_own = first + own;
    const Global<f32> at = qkv + b.mad_wide(first_own, channels, wide(channel));
    const auto if_there = [&](uint32_t i, const auto& body) { b.if_(first_own + i < n_columns, body); };
    std::vector<Var<f32>> inputs;
    for (uint32_t i = 0; i < kEach; ++i) {
      inputs.push_back(b.var("input", 0.0f));
      if_there(i, [&] { inputs[i] = at.load(uint64_t{i} * channels); });
    }
    b.if_(warp == 0, [&] {
      for (uint32_t i = 0; i < n_before; ++i) window.store(i * kWarpSize, before[i]);
    });
    for (uint32_t i = 0; i < kEach; ++i) own_window.store((n_before + i) * kWarpSize, inputs[i]);
    b.barrier();
    std::vector<Reg<f32>> seen;
    for (uint32_t i = 0; i < n_before; ++i) seen.push_back(own_window.load(i * kWarpSize));
    for (const Var<f32>& input : inputs) seen.push_back(input);
    for (uint32_t i = 0; i < kEach; ++i) {
      Var<f32> sum = b.var("sum", seen[i + n_before] * taps[n_before]);
      for (uint32_t j = 0; j < n_before; ++j) sum = b.fma(seen[i + j], taps[j], sum);
      if_there(i, [&] { at.store(uint64_t{i} * channels, silu(b, sum)); });
    }
    Reg<u32> n_here = b.min(n_columns - first, kWindow);
    const Shared<f32> end = window + n_here * kWarpSize;
    for (uint32_t i = 0; i < n_before; ++i) before[i] = end.load(i * kWarpSize);
    b.barrier();
  });
  b.if_(warp == 0, [&] {
    for (uint32_t i = 0; i < n_before; ++i) tail.store(uint64_t{i} * channels, before[i]);
  });
  return b.finish(Launch{channels / kWarpSize, kConvPromptThreads},
                  {.bytes = s.columns * uint64_t{8} * channels + 8 * s.tail_floats(),
                   .flops = uint64_t{2} * s.columns * n * channels});
}

}  // namespace warpchat
