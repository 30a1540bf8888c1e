// The reference decoder against another program's exact logits. Also properties of any decoder: causality to the bit,
// and every variant of the readers' models.
#include "tests/reference/reference_decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/error.h"
#include "tests/reference/closeness.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/exact_models.h"

namespace warpchat {
namespace {

TEST(ReferenceDecoder, MatchesExactLogitsOfRealArchitectures) {
  for_each_exact_model([](const ExactModel& model, const DecodableModel& loaded, const std::vector<double>& exact) {
    const std::vector<double> logits = reference_logits(loaded.file, kExactTokens);
    ASSERT_EQ(logits.size(), exact.size()) << model.name;
    const std::vector<float> rounded(exact.begin(), exact.end());
    const Closeness closeness = compare_logits(rounded, logits, loaded.config.n_vocab);
    EXPECT_LE(closeness.relative_error, 1e-7) << model.name;  // the exact ones are rounded to float32
    EXPECT_LE(closeness.mean_kl, 1e-12) << model.name;
  });
}

const DecoderCase kModels[] = {
    {"qwen2_tied", {}},
    {"qwen3_untied_own_head_dim", {.architecture = "qwen3", .head_dim = 128, .tied_output = false}},
    {"llama_interleaved", {.architecture = "llama"}},
    {"llama_frequency_divisors", {.architecture = "llama", .rope_scaling = scaled_rope(RopeScaling::Kind::kLlama3, 1)}},
    {"linear_scaling", {.rope_scaling = scaled_rope(RopeScaling::Kind::kLinear, 4)}},
    {"yarn", {.rope_scaling = scaled_rope(RopeScaling::Kind::kYarn, 4)}},
    {"half_of_the_head_rotates", {.architecture = "llama", .rope_dims = 32}},
    {"one_kv_head", {.n_kv_heads = 1}},
    {"spm_vocabulary_with_padding", {.n_vocab = 512, .vocabulary = TinyVocabulary::kSpm}},
    {"k_no_multiple_of_256",
     {.hidden = 224, .ffn = 352, .n_heads = 7, .n_kv_heads = 1, .formats = TinyFormats::all(TensorType::kQ5_0)}},
    {"f16", {.formats = TinyFormats::all(TensorType::kF16)}},
    {"outlier_channel_tied", {.outlier = 200}},
    {"outlier_channel", {.tied_output = false, .outlier = 200}},
};

class ReferenceDecoder : public testing::TestWithParam<DecoderCase> {};

// 40 tokens are more than two tiles, so tiles of the prefix differ from those of the whole.
TEST_P(ReferenceDecoder, IsCausalToTheBit) {
  const std::vector<std::byte> bytes = build_tiny_model(GetParam().spec, /*seed=*/1);
  const GgufFile file = GgufFile::view(bytes, GetParam().name);
  std::vector<int32_t> tokens(40);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 37 % 256);
  const std::vector<double> whole = reference_logits(file, tokens);
  const std::vector<double> prefix = reference_logits(file, std::span(tokens).first(19));
  EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), whole.begin()));
  double square_sum = 0;
  for (double logit : whole) square_sum += logit * logit;
  const double rms = std::sqrt(square_sum / static_cast<double>(whole.size()));
  EXPECT_GT(rms, 0.5);  // neither vanished nor exploded
  EXPECT_LT(rms, 30);
}

// A token's logits depend on earlier tokens and their order, so attention and RoPE have an effect.
TEST_P(ReferenceDecoder, SeesEarlierTokensAndTheirOrder) {
  const std::vector<std::byte> bytes = build_tiny_model(GetParam().spec, /*seed=*/2);
  const GgufFile file = GgufFile::view(bytes, GetParam().name);
  const auto last = [&](std::vector<int32_t> tokens) {
    const std::vector<double> logits = reference_logits(file, tokens);
    return std::vector<double>(logits.end() - static_cast<long>(logits.size() / tokens.size()), logits.end());
  };
  const std::vector<double> expected = last({10, 20, 30, 40});
  const auto distance = [&](const std::vector<double>& logits) {
    return compare_logits(std::vector<float>(logits.begin(), logits.end()), expected, logits.size()).relative_error;
  };
  EXPECT_LT(distance(expected), 1e-7);
  EXPECT_GT(distance(last({11, 20, 30, 40})), 1e-3);
  EXPECT_GT(distance(last({20, 10, 30, 40})), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceDecoder, testing::ValuesIn(kModels),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ReferenceDecoderErrors, TokenOutsideTheVocabulary) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const GgufFile file = GgufFile::view(bytes, "tiny.gguf");
  const std::vector<int32_t> tokens = {1, 100000};
  try {
    reference_logits(file, tokens);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "token 100000 is outside the vocabulary of tiny.gguf, which has 294 tokens");
  }
}

TEST(TinyModel, SeedDecidesTheBytes) {
  EXPECT_EQ(build_tiny_model({}, 1), build_tiny_model({}, 1));
  EXPECT_NE(build_tiny_model({}, 1), build_tiny_model({}, 2));
}

TEST(Closeness, IsNothingForEqualLogits) {
  const std::vector<double> ref = {1, 2, 3, 4, 5, 6};
  const std::vector<float> got(ref.begin(), ref.end());
  EXPECT_EQ(compare_logits(got, ref, 3).relative_error, 0);
  EXPECT_EQ(compare_logits(got, ref, 3).mean_kl, 0);
}

// Two tokens over two words. Errors 0.3 and 0.4 against a norm of sqrt(30): 0.5 / sqrt(30).
// Token 0: p = (1/4, 3/4), q = (1/2, 1/2): KL = ln 2 - H(p) = 0.1308120. Token 1 is exact.
TEST(Closeness, FollowsTheDefinitions) {
  const std::vector<double> ref = {1, 2, 3, 4};
  EXPECT_NEAR(compare_logits(std::vector<float>{1.3f, 2, 3, 4.4f}, ref, 2).relative_error, 0.5 / std::sqrt(30), 1e-7);
  const std::vector<double> odds = {0, std::log(3), 5, 5};
  EXPECT_NEAR(compare_logits(std::vector<float>{7, 7, 5, 5}, odds, 2).mean_kl, 0.1308120 / 2, 1e-7);
}

// logits favour word 1 by 3 to 1; tokens 1, 1, 0: from position 0 on, -ln(3/4) - ln(1/4).
TEST(Closeness, SumsTheLikelihoodOfTheNextTokens) {
  const std::vector<double> logits = {0, std::log(3), 0, std::log(3), 0, std::log(3)};
  const std::vector<int32_t> tokens = {1, 1, 0};
  EXPECT_NEAR(negative_log_likelihood(logits, tokens, 0), -std::log(0.75) - std::log(0.25), 1e-12);
  EXPECT_NEAR(negative_log_likelihood(logits, tokens, 1), -std::log(0.25), 1e-12);
}

}  // namespace
}  // namespace warpchat
