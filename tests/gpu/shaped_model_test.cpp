// The reader takes a shaped model's file for a model of that shape.
#include "tests/gpu/shaped_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/error.h"
#include "models/gguf_reader.h"
#include "tests/support/test_files.h"

namespace warpchat {
namespace {

struct Case {
  const char* name;
  const char* shape;
  uint32_t n_layers, hidden, ffn;
  bool tied_output;
};

class ShapedModelFile : public testing::TestWithParam<Case> {};

TEST_P(ShapedModelFile, ReadsAsItsShape) {
  ModelShape shape = model_shape(GetParam().shape);
  ModelConfig& config = shape.config;
  config.n_layers = GetParam().n_layers;
  config.hidden = GetParam().hidden;
  config.ffn = GetParam().ffn;
  config.n_vocab = 512;
  config.tied_output = GetParam().tied_output;
  shape.formats = q4_k_m_formats(config);
  const ShapedModel model(shape);
  const TemporaryFile path;
  model.write(path.path());

  const GgufFile file = GgufFile::open(path.path());
  const ModelConfig read = read_model_config(file);
  EXPECT_EQ(read.architecture, config.architecture);
  EXPECT_EQ(read.name, GetParam().shape);
  EXPECT_EQ(read.n_heads, config.n_heads);
  EXPECT_EQ(read.n_kv_heads, config.n_kv_heads);
  EXPECT_EQ(read.head_dim, config.head_dim);
  EXPECT_EQ(read.context_length, config.context_length);
  EXPECT_EQ(read.rms_eps, config.rms_eps);
  EXPECT_EQ(read.n_vocab, config.n_vocab);
  EXPECT_EQ(read.tied_output, config.tied_output);
  EXPECT_EQ(read.ropes[0].frequencies, config.ropes[0].frequencies);
  const ModelTensors tensors = read_model_tensors(file, read);  // refuses missing, ill-shaped or extra tensors
  ASSERT_EQ(tensors.layers.size(), config.n_layers);
  for (uint32_t i = 0; i < config.n_layers; ++i) {
    const LayerTensors &written = model.tensors().layers[i], &found = tensors.layers[i];
    EXPECT_EQ(found.matrices.down->type, written.matrices.down->type) << "layer " << i;
    EXPECT_TRUE(std::ranges::equal(found.matrices.down->data, written.matrices.down->data)) << "layer " << i;
    EXPECT_EQ(found.vectors.q_bias != nullptr, written.vectors.q_bias != nullptr) << "layer " << i;
  }
}

// Several experts per tensor, and their router.
TEST(ShapedModel, ReadsAsAMixture) {
  const ShapedModel model(bench_shape("tiny-qwen3-30b-a3b"));
  const TemporaryFile path;
  model.write(path.path());
  const GgufFile file = GgufFile::open(path.path());
  const ModelConfig read = read_model_config(file);
  EXPECT_EQ(read.experts.n, model.config().experts.n);
  EXPECT_EQ(read.experts.n_used, model.config().experts.n_used);
  EXPECT_EQ(read.experts.ffn, model.config().experts.ffn);
  const ModelTensors tensors = read_model_tensors(file, read);
  for (uint32_t i = 0; i < read.n_layers; ++i) {
    const LayerTensors &written = model.tensors().layers[i], &found = tensors.layers[i];
    EXPECT_EQ(found.experts.down->shape, written.experts.down->shape) << "layer " << i;
    EXPECT_TRUE(std::ranges::equal(found.experts.down->data, written.experts.down->data)) << "layer " << i;
  }
}

TEST(ShapedModel, RefusesDeltaNets) {
  const TemporaryFile path;
  EXPECT_THAT([&] { ShapedModel(bench_shape("tiny-qwen3.5-4b")).write(path.path()); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("delta nets")));
}

constexpr Case kCases[] = {
    {"biases_and_tied_output", "qwen2.5-3b", 8, 256, 512, true},  // layers of both formats
    {"output_of_its_own", "qwen2.5-7b", 1, 256, 512, false},
    {"no_multiple_of_256", "qwen2.5-0.5b", 1, 224, 512, true},              // Q5_0 and Q8_0
    {"norms_of_heads_wider_than_hidden", "qwen3-0.6b", 1, 256, 256, true},  // 16 heads of 128
};
INSTANTIATE_TEST_SUITE_P(Shapes, ShapedModelFile, testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace warpchat
