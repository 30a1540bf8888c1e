// ptxas assembles the kernels for the targets of assembled_targets(), and none spills a register.
#include "tests/ptx/ptxas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "engine/decoder.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/kv_scatter.h"
#include "kernels/delta_net/conv_prompt.h"
#include "kernels/delta_net/delta_chunk.h"
#include "kernels/experts/expert_order.h"
#include "kernels/experts/experts.h"
#include "kernels/matmul/embedding.h"
#include "kernels/matmul/f16_activations.h"
#include "kernels/matmul/gemm_plan.h"
#include "kernels/matmul/gemv.h"
#include "kernels/matmul/gemv_columns.h"
#include "kernels/matmul/int_activations.h"
#include "kernels/matmul/rmsnorm.h"
#include "kernels/matmul/weight_layout.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/sampling/mask_logits.h"
#include "kernels/sampling/sampling.h"
#include "kernels/shapes.h"
#include "models/block_types.h"

namespace warpchat {
namespace {

using enum TensorType;
using enum GemvPrologue;
using enum GemvEpilogue;

constexpr float kEps = 1e-6f;

constexpr TensorType kCommon[] = {kF16, kQ4_K, kQ6_K, kQ5_0};
constexpr TensorType kOthers[] = {kF32,  kQ8_0,   kQ4_1,   kQ4_0,  kQ5_1,        kQ5_K,           kBF16,        kQ3_K,
                                  kQ2_K, kIQ4_NL, kIQ4_XS, kMXFP4, kIQ2Expanded, kIQ3XXSExpanded, kIQ3SExpanded};
static_assert(std::size(kCommon) + std::size(kOthers) == KernelBlocks::kCount);

// One typical shape of each family.
std::vector<ptx::Kernel> kernels_of(std::span<const TensorType> types, ptx::Target target) {
  std::vector<ptx::Kernel> kernels;
  for (TensorType type : types) {
    kernels.push_back(gemv({type, 2048, 1536, 1, kRmsNorm, kBias, kEps}, target));
    kernels.push_back(gemv({type, 8960, 1536, 8, kRmsNorm, kSwiglu, kEps}, target));
    for (const uint32_t columns : {1u, 8u}) {
      kernels.push_back(gemv({type, 8960, 1536, columns, kRmsNorm, kBiasSwiglu, kEps}, target));
      kernels.push_back(gemv({type, 1536, 8960, columns, kNone, kBiasResidual}, target));
    }
    const FusedGemv fused{{{type, 2048, 1536, 8, kRmsNorm, kBias, kEps}, {kQ6_K, 256, 1536, 8, kRmsNorm}}};
    if (can_fuse(fused.products[0])) kernels.push_back(fused_gemv(fused, target));
    kernels.push_back(embedding({type, 151936, 1536, 8}, target));
    if (!has_gemm(type)) continue;
    kernels.push_back(gemm({type, 2048, 1536, kBias}, target));
    GemmSpec of_batch{type, 2048, 1536};
    of_batch.rows_per_warp = 16, of_batch.split_k = 4;
    kernels.push_back(gemm(of_batch, target));
    of_batch.formats = {type, has_two_small_scales(type) ? kQ3_K : kQ6_K};
    kernels.push_back(gemm(of_batch, target));
    GemmSpec swiglu{type, 8960, 1536, kSwiglu};
    kernels.push_back(gemm(swiglu, target));
    kernels.push_back(gemm({type, 8960, 1536, kBiasSwiglu}, target));
    swiglu.columns_per_block = 8;  // a small batch
    kernels.push_back(gemm(swiglu, target));
    swiglu.columns_per_block = 64, swiglu.experts = 128, swiglu.assignments_per_input = 8;
    kernels.push_back(gemm(swiglu, target));
  }
  kernels.push_back(gemv({types[0], 151936, 3584, 1, kRmsNorm, kStore, kEps}, target));  // several passes
  kernels.push_back(gemv({types[0], 3584, 18944, 8, kNone, kResidual}, target));         // one warp per row
  for (uint32_t head_dim : {64, 80, 96, 128, 256}) {
    AttentionSpec spec{14, 2, head_dim, 32768, 8};
    kernels.push_back(incremental_attention(spec, target));
    spec.k_type = spec.v_type = KvType::kQ8_0;
    kernels.push_back(incremental_attention(spec, target));
    spec.gated = true;
    kernels.push_back(incremental_attention(spec, target));
    spec.lengths_are_positions = true;
    spec.scatters = {{14, 2, head_dim, head_dim / 2, RopePairing::kNeox, 32768, 8, false, true, kEps, 1,
                      std::vector(head_dim / 4, 0.1), KvType::kQ8_0, KvType::kQ8_0}};
    kernels.push_back(incremental_attention(spec, target));
    if (head_dim < 128) continue;
    for (KvType* type : {&spec.k_type, &spec.v_type, &spec.scatters[0].k_type, &spec.scatters[0].v_type})
      *type = KvType::kF32;
    kernels.push_back(incremental_attention(spec, target));
  }
  for (RopePairing pairing : {RopePairing::kNeox, RopePairing::kInterleaved}) {
    KvScatterSpec spec{16, 8, 128, 128, pairing, 32768, 8, false, true, kEps, 1, std::vector(64, 0.1)};
    kernels.push_back(kv_scatter(spec, target));
    spec.k_type = spec.v_type = KvType::kQ8_0;
    kernels.push_back(kv_scatter(spec, target));
    spec.v_type = KvType::kF32;
    kernels.push_back(kv_scatter(spec, target));
  }
  kernels.push_back(rmsnorm({3584, 8, kEps}, target));
  kernels.push_back(int_activations({kEps}, target));
  for (const bool has_quads : {true, false}) kernels.push_back(f16_activations({kEps, has_quads}, target));
  for (const uint32_t columns : {1u, 32u}) {
    const DeltaNetSpec net{16, 32, 128, 4, true, kEps, columns};
    kernels.push_back(conv_step(net, target));
    kernels.push_back(delta_step(net, target));
  }
  for (const uint32_t head_dim : {96, 128}) {
    const DeltaNetSpec prompt{16, 32, head_dim, 4, true, kEps, 512, true};
    for (const auto generate : {conv_prompt, delta_prepare, delta_scan, delta_finish})
      kernels.push_back(generate(prompt, target));
  }
  for (const uint32_t columns : {1u, 512u}) {  // shapes of 128 and of 512 experts
    const GemvSpec gate_up{.weights = TensorType::kQ4_K,
                           .rows = 768,
                           .k = 2048,
                           .prologue = GemvPrologue::kRmsNorm,
                           .epilogue = GemvEpilogue::kSwiglu,
                           .eps = kEps};
    kernels.push_back(route({128, 8, true, 1, columns}, target));
    kernels.push_back(route({512, 10, true, 1, columns}, target));
    kernels.push_back(expert_product({gate_up, 8, true, columns}, target));
    kernels.push_back(
        expert_product({{.weights = TensorType::kQ6_K, .rows = 2048, .k = 768}, 8, false, columns}, target));
    kernels.push_back(expert_sum({2048, 8, true, columns}, target));
  }
  kernels.push_back(expert_order({128, 8, 64, 512}, target));
  if (has_gemm(types[0]))
    kernels.push_back(
        gemm({.weights = types[0], .rows = 2048, .k = 768, .columns_per_block = 32, .experts = 128}, target));
  kernels.push_back(mask_logits({151936, 8}, target));
  kernels.push_back(mask_logits({32001}, target));
  kernels.push_back(sample({151936, 8, 1024, 64, true}, target));
  kernels.push_back(sample({32001, 1, 256, 1024}, target));
  return kernels;
}

void expect_assembled(const std::function<std::vector<ptx::Kernel>()>& kernels, ptx::Target target) {
  if (ptx::testing::find_ptxas().empty()) GTEST_SKIP() << "ptxas is not installed; nothing assembles the text here";
  const ptx::testing::Assembly assembly = ptx::testing::assemble(ptx::module_text(kernels()), target);
  EXPECT_TRUE(assembly.accepted);
  EXPECT_EQ(assembly.output, "");
}

LaunchList list_of(const ModelShape& shape, PassKind kind, uint32_t columns) {
  return launch_list(text_decoder(shape.config), shape.config, shape.formats, {kind, columns, 32768});
}

// Whole decoders at the maximum number of registers for their block size: eight query heads per KV head, and seven with
// formats for rows that are not multiples of 256.
std::vector<ptx::Kernel> decoders(ptx::Target target) {
  std::vector<ptx::Kernel> kernels;
  for (const char* name : {"qwen2.5-3b", "qwen2.5-0.5b"}) {
    const ModelShape shape = model_shape(name);
    const auto add = [&](PassKind kind, uint32_t columns) {
      const LaunchList list = list_of(shape, kind, columns);
      for (ptx::Kernel& kernel : warpchat::kernels_of(list, target)) kernels.push_back(std::move(kernel));
      return list;
    };
    if (kernels.empty()) add(PassKind::kSmallBatch, kGemvColumns);
    kernels.push_back(persistent_decoder({add(PassKind::kDecode, 1), 64u, true}, target));
  }
  return kernels;
}
// Decoder kernels of a model with every bias, for tokens and for a batch.
std::vector<ptx::Kernel> decoders_with_biases(ptx::Target target) {
  ModelShape shape = model_shape("qwen2.5-3b");
  shape.formats.has_output_bias = true;
  for (LayerFormats& layer : shape.formats.layers)
    layer.has.output_bias = layer.has.gate_bias = layer.has.up_bias = layer.has.down_bias = true;
  std::vector<ptx::Kernel> kernels = warpchat::kernels_of(list_of(shape, PassKind::kBatch, 32), target);
  const LaunchList tokens = list_of(shape, PassKind::kDecode, 1);
  for (ptx::Kernel& kernel : warpchat::kernels_of(tokens, target)) kernels.push_back(std::move(kernel));
  // On sm_120 it spills 4 bytes, outside of the products.
  if (!ptx::runs(target, ptx::sm_120)) kernels.push_back(persistent_decoder({tokens, 64u, true}, target));
  return kernels;
}
// Decoder kernels of a hybrid: gated delta nets, attention and experts.
std::vector<ptx::Kernel> hybrids(ptx::Target target) {
  const ModelShape shape = model_shape("qwen3.5-35b-a3b");
  const LaunchList list = list_of(shape, PassKind::kDecode, 1);
  std::vector<ptx::Kernel> kernels = warpchat::kernels_of(list, target);
  kernels.push_back(persistent_decoder({list, 64u, true}, target));
  return kernels;
}

class KernelsPtxas : public ::testing::TestWithParam<ptx::Target> {};

TEST_P(KernelsPtxas, AssemblesWithoutSpills) {
  expect_assembled([] { return kernels_of(kCommon, GetParam()); }, GetParam());
}
TEST_P(KernelsPtxas, AssemblesDecodersWithoutSpills) {
  expect_assembled([] { return decoders(GetParam()); }, GetParam());
}
TEST_P(KernelsPtxas, AssemblesDecodersWithBiasesWithoutSpills) {
  expect_assembled([] { return decoders_with_biases(GetParam()); }, GetParam());
}
class HybridsPtxas : public ::testing::TestWithParam<ptx::Target> {};
TEST_P(HybridsPtxas, AssembleWithoutSpills) {
  expect_assembled([] { return hybrids(GetParam()); }, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Targets, HybridsPtxas, ::testing::Values(ptx::sm_75, ptx::sm_80, ptx::sm_90, ptx::sm_120),
                         [](const auto& row) { return ptx::spell(row.param); });
TEST(KernelsPtxasTest, ATokenOfAHybridTakesFewerThan14000LinesOfPtx) {
  std::vector<ptx::Kernel> kernels = hybrids(ptx::sm_90);
  kernels.push_back(sample({.n_vocab = 151936, .advances = true}, ptx::sm_90));
  EXPECT_LT(std::ranges::count(ptx::module_text(kernels), '\n'), 14000);
}
TEST(KernelsPtxasTest, AssemblesEveryFormatWithoutSpills) {
  expect_assembled([] { return kernels_of(kOthers, ptx::sm_80); }, ptx::sm_80);
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelsPtxas, ::testing::ValuesIn(ptx::testing::assembled_targets()),
                         [](const auto& row) { return ptx::spell(row.param); });

}  // namespace
}  // namespace warpchat
