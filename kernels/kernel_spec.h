// Any kernel of a pass: what to generate, and the blocks and bytes of a launch.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/attention.h"
#include "kernels/delta_net.h"
#include "kernels/embedding.h"
#include "kernels/expert_order.h"
#include "kernels/experts.h"
#include "kernels/f16_activations.h"
#include "kernels/flash_attention.h"
#include "kernels/gemm.h"
#include "kernels/gemv.h"
#include "kernels/gemv_columns.h"
#include "kernels/int_activations.h"
#include "kernels/kv_scatter.h"

namespace warpchat {

// Converts the input of products that read f16 or integers.
template <class Spec>
struct Conversion {
  Spec spec;
  uint32_t k;
  bool normalises;
};
using F16Conversion = Conversion<F16ActivationsSpec>;
using IntConversion = Conversion<IntActivationsSpec>;

// One of a delta net's kernels; the last four are for prompts.
struct DeltaKernelSpec {
  enum class Step : uint8_t { kConv, kDelta, kConvPrompt, kPrepare, kScan, kFinish } step;
  DeltaNetSpec net;
};

using KernelSpec = std::variant<EmbeddingSpec, F16Conversion, IntConversion, GemvSpec, FusedGemv, GemmSpec, FusedGemm,
                                KvScatterSpec, AttentionSpec, FlashAttentionSpec, DeltaKernelSpec, RouteSpec,
                                ExpertOrderSpec, ExpertProductSpec, ExpertSumSpec>;

std::string name_of(const KernelSpec& spec);  // specs of equal names have the same kernel
ptx::Kernel generate(const KernelSpec& spec, ptx::Target target);

// Of a launch.
struct LaunchColumns {
  uint32_t n;            // columns; for grouped products, assignments
  uint32_t longest = 1;  // keys of the last position
  uint64_t n_keys = 0;   // summed over columns
};
ptx::Dimensions blocks_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& columns);
uint64_t bytes_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& columns);
uint32_t max_columns_of(const KernelSpec& spec);  // per launch

}  // namespace warpchat
