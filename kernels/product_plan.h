// How a pass multiplies: gemv or gemm for a matrix, split-K, kernels that several products share, and products of one
// input that share a launch.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/kernel_spec.h"
#include "kernels/launch_list.h"

namespace warpchat {

// gemv for tokens of few sequences, or for up to kGemvColumns columns per block if gemm does not support the matrix;
// else gemm. RMSNorm is gemv's prologue; for gemm, f16_activations applies it, and for gemv of several columns,
// int_activations: once for all products of an input.
using ProductSpec = std::variant<GemvSpec, GemmSpec>;
ProductSpec product_for(const GemvSpec& gemv, PassKind kind, uint32_t columns);
ProductSpec gemv_for_columns(GemvSpec gemv, uint32_t columns);  // exact: tensor cores would round the weights to f16
bool accepts_f16(const ProductSpec& product);                   // whether it is a gemm
bool accepts_int(const ProductSpec& product);  // whether it is a gemv of several columns with quantised weights

// Sets split-K of a batch's products of one input for the blocks of all of them together.
void share_split_k(std::vector<ProductSpec>& of_one_input);
// Gives single-matrix products one kernel that supports all their formats, so that products of one input can be fused.
// Formats that need many registers get a second kernel. The logits use the shared kernel too, if they differ only in
// format. logits: may be null.
void join_formats(const std::vector<ProductSpec*>& products, ProductSpec* logits);

// Two or more of the products of one input that share a launch.
struct FusedLaunch {
  KernelSpec spec;               // FusedGemv or FusedGemm
  std::vector<size_t> products;  // indexes, in order
};
std::vector<FusedLaunch> fuse(const std::vector<ProductSpec>& of_one_input);

uint32_t pages_per_block(const AttentionSpec& spec);  // for a batch
inline constexpr uint32_t kMaxGemmColumns = 64;       // per block

}  // namespace warpchat
