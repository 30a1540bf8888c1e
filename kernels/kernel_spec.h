// Any kernel of a pass: what to generate, and the blocks and bytes of a launch.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/flash_attention.h"
#include "kernels/attention/kv_scatter.h"
#include "kernels/delta_net/delta_net.h"
#include "kernels/experts/expert_order.h"
#include "kernels/experts/experts.h"
#include "kernels/matmul/embedding.h"
#include "kernels/matmul/f16_activations.h"
#include "kernels/matmul/gemm.h"
#include "kernels/matmul/gemv.h"
#include "kernels/matmul/gemv_columns.h"
#include "kernels/matmul/int_activations.h"

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

// The columns of a launch.
struct LaunchColumns {
  uint32_t n;            // columns; for grouped products, assignments
  uint32_t longest = 1;  // keys of the last position
  uint64_t n_keys = 0;   // summed over columns
};
ptx::Dimensions blocks_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& columns);
uint64_t bytes_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& columns);
uint32_t max_columns_of(const KernelSpec& spec);  // per launch

}  // namespace warpchat
