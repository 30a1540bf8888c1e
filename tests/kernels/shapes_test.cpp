// The named shapes give the sizes that the published files have.
#include "kernels/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/kernel_list.h"
#include "kernels/persistent_decoder.h"
#include "kernels/sampling.h"
#include "models/error.h"

namespace warpchat {
namespace {

// Bytes of the matrices that a token reads: of the embedding only as the tied output.
uint64_t bytes_per_token(const ModelShape& shape) {
  const ModelConfig& c = shape.config;
  const auto matrix = [](TensorType type, uint64_t rows, uint64_t k) { return rows * bytes_per_row(type, k); };
  uint64_t bytes = matrix(shape.formats.output, c.n_vocab, c.hidden);
  for (const LayerFormats& f : shape.formats.layers)
    for_each([&](TensorType type, const MatrixShape& m) { bytes += matrix(type, m.rows, m.k); }, f.matrices,
             matrix_shapes(c));
  return bytes;
}

struct ShapeCase {
  const char* name;
  double megabytes;  // a token's, in Q4_K_M
};
constexpr ShapeCase kCases[] = {
    {"qwen2.5-0.5b", 392},
    {"qwen2.5-1.5b", 980},
    {"qwen2.5-3b", 1923},
    {"qwen2.5-7b", 4369},
};

TEST(Shapes, ReadAsManyBytesAsTheFiles) {
  for (const ShapeCase& c : kCases) EXPECT_NEAR(bytes_per_token(model_shape(c.name)) / 1e6, c.megabytes, 1) << c.name;
}

TEST(Shapes, MixFormatsAsTheQuantiser) {
  const DecoderFormats small = model_shape("qwen2.5-0.5b").formats;  // 896 is no multiple of 256, 4864 is
  EXPECT_EQ(small.token_embd, TensorType::kQ8_0);
  EXPECT_EQ(small.layers[0].matrices.q, TensorType::kQ5_0);
  EXPECT_EQ(small.layers[0].matrices.v, TensorType::kQ8_0);
  EXPECT_EQ(small.layers[0].matrices.down, TensorType::kQ6_K);
  EXPECT_EQ(small.layers[3].matrices.v, TensorType::kQ5_0);
  EXPECT_EQ(small.layers[3].matrices.down, TensorType::kQ4_K);
  EXPECT_EQ(std::ranges::count(small.layers, TensorType::kQ6_K, [](const auto& f) { return f.matrices.down; }), 12);
  const DecoderFormats large = model_shape("qwen2.5-7b").formats;  // with an output of its own
  EXPECT_EQ(large.token_embd, TensorType::kQ4_K);
  EXPECT_EQ(large.output, TensorType::kQ6_K);
  EXPECT_TRUE(large.layers[0].has.q_bias && !large.layers[0].has.q_norm);
  EXPECT_TRUE(model_shape("qwen3-4b").formats.layers[0].has.q_norm);
}

// The driver's compiler takes 0.1 ms a line and more. sm_75 multiplies fragments of half the size.
TEST(Shapes, TakeFewerThan15000LinesOfPtx) {
  for (const std::string& name : shape_names()) {
    const ModelShape shape = model_shape(name);
    for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
      const auto specs = [&](PassKind kind, uint32_t columns) {
        return decoder_specs(shape.config, shape.formats, 8192, kind, columns);
      };
      const DecoderSpecs of_token = specs(PassKind::kToken, 1);
      std::vector<ptx::Kernel> kernels = decoder_kernels(of_token, target);
      for (ptx::Kernel& kernel : decoder_kernels(specs(PassKind::kPrompt, 512), target))
        kernels.push_back(std::move(kernel));
      kernels.push_back(sample({.n_vocab = shape.config.n_vocab, .advances = true}, target));
      kernels.push_back(persistent_decoder({of_token, 64u, /*stamps=*/true}, target));
      EXPECT_LT(std::ranges::count(ptx::module_text(kernels), '\n'), 15000) << name << " on " << ptx::spell(target);
    }
  }
}

TEST(Shapes, AreKnownByName) {
  EXPECT_EQ(shape_names().size(), 7u);
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
