// The rewritten model is the same function: its logits equal the original's, up to the format's rounding.
#include "tests/tools/rewrite_as_qwen2.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/dequantise.h"
#include "models/error.h"
#include "models/model_config.h"
#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

TinyModelSpec small_llama() {
  return {.architecture = "llama",
          .n_layers = 8,
          .hidden = 160,  // 5 heads of 32 become 8, in groups of 1
          .ffn = 256,
          .n_heads = 5,
          .n_kv_heads = 5,
          .formats = TinyFormats::all(TensorType::kQ8_0)};
}

Closeness closeness_of(const GgufFile& original, const GgufFile& rewritten, std::span<const int32_t> tokens) {
  const std::vector<double> ref = reference_logits(original, tokens), got = reference_logits(rewritten, tokens);
  return compare_logits(std::vector<float>(got.begin(), got.end()), ref, ref.size() / tokens.size());
}

double relative_error(const TensorInfo& exact, const TensorInfo& stored) {
  std::vector<double> want(exact.k() * exact.rows()), got(stored.k() * stored.rows());
  dequantise_row(exact.type, exact.data, std::span(want));
  dequantise_row(stored.type, stored.data, std::span(got));
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) error += std::pow(want[i] - got[i], 2), norm += std::pow(want[i], 2);
  return norm == 0 ? std::sqrt(error) : std::sqrt(error / norm);
}

const std::vector<int32_t> kTokens = {1, 72, 101, 108, 108, 111, 32, 119, 111, 114, 108, 100, 7, 5, 3, 2, 200, 201};

struct RewriteCase {
  const char* name;
  uint32_t hidden, n_heads, n_kv_heads, new_hidden, new_heads, new_kv_heads;
  bool tied;
};

constexpr RewriteCase kRewriteCases[] = {
    {"as_many_key_heads", 160, 5, 5, 256, 8, 8, true},
    {"grouped_heads", 320, 10, 5, 512, 16, 8, true},  // groups of two stay together
    {"untied_output", 128, 4, 2, 256, 8, 4, false},
    {"nothing_to_pad", 256, 8, 2, 256, 8, 2, true},  // only rows move
};

TEST(RewriteAsQwen2, KeepsTheMathematics) {
  for (const RewriteCase& c : kRewriteCases) {
    SCOPED_TRACE(c.name);
    TinyModelSpec spec = small_llama();
    spec.hidden = c.hidden, spec.n_heads = c.n_heads, spec.n_kv_heads = c.n_kv_heads, spec.tied_output = c.tied;
    const std::vector<std::byte> old_bytes = build_tiny_model(spec, /*seed=*/1);
    const GgufFile original = GgufFile::view(old_bytes, "original");
    const std::vector<std::byte> bytes = rewrite_as_qwen2(original, RewriteFormat::kF32).bytes();
    const GgufFile rewritten = GgufFile::view(bytes, "rewritten");
    const ModelConfig config = read_model_config(rewritten);
    EXPECT_EQ(config.architecture, Architecture::kQwen2);
    EXPECT_EQ(config.hidden, c.new_hidden);
    EXPECT_EQ(config.n_heads, c.new_heads);
    EXPECT_EQ(config.n_kv_heads, c.new_kv_heads);
    const Closeness closeness = closeness_of(original, rewritten, kTokens);
    EXPECT_LE(closeness.relative_error, 5e-7);  // gains and eps are rounded to float32
    EXPECT_LE(closeness.mean_kl, 1e-12);
  }
}

TEST(RewriteAsQwen2, MixesFormatsAsQ4KM) {
  const std::vector<std::byte> old_bytes = build_tiny_model(small_llama(), /*seed=*/1);
  const GgufFile original = GgufFile::view(old_bytes, "original");
  const std::vector<std::byte> bytes = rewrite_as_qwen2(original, RewriteFormat::kQ4_K_M).bytes();
  const GgufFile rewritten = GgufFile::view(bytes, "rewritten");
  const std::vector<std::byte> exact_bytes = rewrite_as_qwen2(original, RewriteFormat::kF32).bytes();
  const GgufFile exact = GgufFile::view(exact_bytes, "exact");
  EXPECT_EQ(rewritten.tensor("token_embd.weight").type, TensorType::kQ6_K);
  const std::string pattern = "6--6--66";  // of 8 layers: the first, the last, and every third between
  for (size_t layer = 0; layer < pattern.size(); ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const TensorType expected = pattern[layer] == '6' ? TensorType::kQ6_K : TensorType::kQ4_K;
    EXPECT_EQ(rewritten.tensor(block + "attn_v.weight").type, expected) << layer;
    EXPECT_EQ(rewritten.tensor(block + "ffn_down.weight").type, expected) << layer;
    EXPECT_EQ(rewritten.tensor(block + "ffn_up.weight").type, TensorType::kQ4_K) << layer;
  }
  EXPECT_EQ(rewritten.get_strings("tokenizer.ggml.tokens"), original.get_strings("tokenizer.ggml.tokens"));
  for (const TensorInfo& tensor : exact.tensors()) {
    EXPECT_LE(relative_error(tensor, rewritten.tensor(tensor.name)), 0.08) << tensor.name;  // four bits
  }
}

TEST(RewriteAsQwen2, RefusesWhatItCannotPad) {
  TinyModelSpec odd_heads = small_llama();
  odd_heads.hidden = 288, odd_heads.n_heads = 9, odd_heads.n_kv_heads = 3;  // 512 / 32 = 16 heads, no groups of 3
  for (const TinyModelSpec& spec : {odd_heads, TinyModelSpec{.architecture = "qwen3"}}) {
    const std::vector<std::byte> bytes = build_tiny_model(spec, /*seed=*/1);
    EXPECT_THROW(rewrite_as_qwen2(GgufFile::view(bytes, "original"), RewriteFormat::kF32), Error);
  }
}

TEST(RewriteAsQwen2, KeepsTheDemoModel) {
  const auto path = demo_model_path();
  if (!path) GTEST_SKIP() << kNoDemoModel;
  const GgufFile original = GgufFile::open(*path);
  const TemporaryFile file;  // 700 MB, on disk rather than in memory
  rewrite_as_qwen2(original, RewriteFormat::kF32).write(file.path());
  const GgufFile rewritten = GgufFile::open(file.path());
  const ModelConfig config = read_model_config(rewritten);
  EXPECT_EQ(config.hidden, 768u);
  EXPECT_EQ(config.n_heads, 12u);
  EXPECT_EQ(config.n_kv_heads, 4u);
  // "The capital of France is Paris, a city on the river"
  const std::vector<int32_t> tokens = {504, 3575, 282, 4649, 314, 7042, 28, 253, 2240, 335, 260, 4626};
  const Closeness closeness = closeness_of(original, rewritten, tokens);
  EXPECT_LE(closeness.relative_error, 1e-6);
  EXPECT_LE(closeness.mean_kl, 1e-11);
}

}  // namespace
}  // namespace warpchat
