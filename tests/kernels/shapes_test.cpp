// The named shapes have the sizes of the published files.
#include "kernels/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/decoder.h"
#include "kernels/launch_list.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/sampling/mask_logits.h"
#include "kernels/sampling/sampling.h"
#include "models/error.h"

namespace warpchat {
namespace {

// Totals over all matrices of a shape: weights, bytes, and bytes read per token. A token reads the embedding only as
// tied output, and only the experts that it uses.
struct Sizes {
  double weights = 0, bytes = 0, bytes_per_token = 0;
  void add(TensorType type, const MatrixShape& m, double n = 1, double n_used = 1) {
    if (m.rows == 0 || m.k == 0) return;
    const auto of_one = static_cast<double>(m.rows * bytes_per_row(type, m.k));
    weights += n * m.rows * m.k;
    bytes += n * of_one;
    bytes_per_token += n_used * of_one;
  }
};

Sizes sizes_of(const ModelShape& shape) {
  const ModelConfig& c = shape.config;
  Sizes sizes;
  sizes.add(shape.formats.output, {c.n_vocab, c.hidden});
  if (!c.tied_output) sizes.add(shape.formats.token_embd, {c.n_vocab, c.hidden}, 1, 0);
  const auto add = [&](TensorType type, const MatrixShape& m) { sizes.add(type, m); };
  for (uint32_t i = 0; i < c.n_layers; ++i) {
    const LayerFormats& f = shape.formats.layers.at(i);
    const LayerConfig& layer = c.layers.at(i);
    for_each(add, f.matrices, matrix_shapes(c, layer.mixer));
    if (layer.mixer == Mixer::kDeltaNet) for_each(add, f.delta, delta_matrix_shapes(c));
    if (layer.ffn != Ffn::kExperts) continue;
    for_each(
        [&](TensorType type, const MatrixShape& m, bool is_of_each) {
          sizes.add(type, m, is_of_each ? c.experts.n : 1, is_of_each ? c.experts.n_used : 1);
        },
        f.experts, expert_shapes(c), kIsPerExpert);
  }
  return sizes;
}

struct ShapeCase {
  const char* name;
  double megabytes;  // per token, in Q4_K_M
};
constexpr ShapeCase kCases[] = {
    {"qwen2.5-0.5b", 392},
    {"qwen2.5-1.5b", 980},
    {"qwen2.5-3b", 1923},
    {"qwen2.5-7b", 4369},
};

TEST(Shapes, ReadAsManyBytesAsTheFiles) {
  for (const ShapeCase& c : kCases)
    EXPECT_NEAR(sizes_of(model_shape(c.name)).bytes_per_token / 1e6, c.megabytes, 1) << c.name;
}

// Parameters as published, without vision and multi-token prediction. File sizes are those of standard Q4_K_M files, as
// ollama and llama.cpp print them.
TEST(Shapes, HaveAsManyWeightsAsTheModels) {
  const struct {
    const char* name;
    double billions, gigabytes;  // 0: unknown
  } rows[] = {
      {"qwen3-30b-a3b", 30.53, 18.55}, {"qwen3.5-4b", 4.21, 0},      {"qwen3.5-9b", 8.95, 5.62},
      {"qwen3.5-27b", 26.9, 0},        {"qwen3.5-35b-a3b", 34.7, 0},
  };
  for (const auto& row : rows) {
    const Sizes sizes = sizes_of(model_shape(row.name));
    EXPECT_NEAR(sizes.weights / 1e9, row.billions, 0.002 * row.billions) << row.name;
    if (row.gigabytes > 0) {
      EXPECT_NEAR(sizes.bytes / 1e9, row.gigabytes, 0.002 * row.gigabytes) << row.name;
    }
  }
}

// Both models have three billion active parameters.
TEST(Shapes, ReadOnlyTheExpertsThatATokenUses) {
  EXPECT_NEAR(sizes_of(model_shape("qwen3-30b-a3b")).bytes_per_token / 1e6, 1919, 1);
  EXPECT_NEAR(sizes_of(model_shape("qwen3.5-35b-a3b")).bytes_per_token / 1e6, 1971, 1);
}

TEST(Shapes, HaveTheLayersOfHybrids) {
  const ModelConfig config = model_shape("qwen3.5-27b").config;
  EXPECT_EQ(config.n_layers_with(Mixer::kAttention), 16u);
  EXPECT_EQ(config.layers[3].mixer, Mixer::kAttention);
  EXPECT_EQ(config.layers[63].mixer, Mixer::kAttention);
  EXPECT_EQ(config.delta_net.inner(), 6144u);
  EXPECT_EQ(config.delta_net.channels(), 10240u);
  EXPECT_EQ(config.rope_dims, 64u);
  EXPECT_EQ(config.ropes[0].frequencies.size(), 32u);
  EXPECT_NEAR(config.delta_state_bytes() / 1e6, 157, 0.5);
}

TEST(Shapes, MixFormatsAsTheQuantiser) {
  const DecoderFormats small = model_shape("qwen2.5-0.5b").formats;  // 896 is not a multiple of 256, 4864 is
  EXPECT_EQ(small.token_embd, TensorType::kQ8_0);
  EXPECT_EQ(small.layers[0].matrices.q, TensorType::kQ5_0);
  EXPECT_EQ(small.layers[0].matrices.v, TensorType::kQ8_0);
  EXPECT_EQ(small.layers[0].matrices.down, TensorType::kQ6_K);
  EXPECT_EQ(small.layers[3].matrices.v, TensorType::kQ5_0);
  EXPECT_EQ(small.layers[3].matrices.down, TensorType::kQ4_K);
  EXPECT_EQ(std::ranges::count(small.layers, TensorType::kQ6_K, [](const auto& f) { return f.matrices.down; }), 12);
  const DecoderFormats large = model_shape("qwen2.5-7b").formats;  // untied output
  EXPECT_EQ(large.token_embd, TensorType::kQ4_K);
  EXPECT_EQ(large.output, TensorType::kQ6_K);
  EXPECT_TRUE(large.layers[0].has.q_bias && !large.layers[0].has.q_norm);
  EXPECT_TRUE(model_shape("qwen3-4b").formats.layers[0].has.q_norm);
  const DecoderFormats hybrid = model_shape("qwen3.5-35b-a3b").formats;  // the larger formats of the first five layers
  EXPECT_EQ(hybrid.layers[0].delta.qkv, TensorType::kQ6_K);
  EXPECT_EQ(hybrid.layers[0].delta.z, TensorType::kQ4_K);
  EXPECT_EQ(hybrid.layers[5].delta.qkv, TensorType::kQ4_K);
  EXPECT_EQ(hybrid.layers[0].experts.router, TensorType::kF32);
  EXPECT_EQ(hybrid.layers[0].experts.down, TensorType::kQ6_K);
  EXPECT_EQ(hybrid.layers[0].experts.shared_down, TensorType::kQ6_K);
  EXPECT_EQ(hybrid.layers[5].experts.down, TensorType::kQ4_K);
  EXPECT_EQ(hybrid.layers[3].matrices.v, TensorType::kQ6_K);
  EXPECT_TRUE(hybrid.layers[3].has.q_norm && !hybrid.layers[2].has.q_norm);
  EXPECT_TRUE(hybrid.layers[2].has.shared_expert_gate);
}

// The driver's compiler takes 0.1 ms per line or more. sm_75 multiplies fragments of half the size.
TEST(Shapes, TakeFewLinesOfPtx) {
  for (const std::string& name : shape_names()) {
    const ModelShape shape = model_shape(name);
    const bool is_hybrid = shape.config.gated_attention, has_experts = shape.config.experts.n > 0;
    const int limit = is_hybrid ? (has_experts ? 24500 : 23500) : has_experts ? 19500 : 18500;
    for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
      const auto list = [&](PassKind kind, uint32_t columns) {
        return launch_list(text_decoder(shape.config), shape.config, shape.formats, {kind, columns, 8192});
      };
      const LaunchList of_token = list(PassKind::kDecode, 1);
      std::vector<ptx::Kernel> kernels = kernels_of(of_token, target);
      for (ptx::Kernel& kernel : kernels_of(list(PassKind::kPrefill, 512), target))
        kernels.push_back(std::move(kernel));
      kernels.push_back(mask_logits({.n_vocab = shape.config.n_vocab}, target));
      kernels.push_back(sample({.n_vocab = shape.config.n_vocab, .advances = true}, target));
      kernels.push_back(persistent_decoder({of_token, 64u, /*stamps=*/true}, target));
      EXPECT_LT(std::ranges::count(ptx::module_text(kernels), '\n'), limit) << name << " on " << ptx::spell(target);
    }
  }
}

TEST(Shapes, AreKnownByName) {
  EXPECT_EQ(shape_names().size(), 12u);
  for (const std::string& name : shape_names()) EXPECT_EQ(model_shape(name).config.name, name);
  try {
    model_shape("qwen3b");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("the shape \"qwen3b\" is unknown, expected one of qwen2.5-0.5b, "));
  }
}

}  // namespace
}  // namespace warpchat
