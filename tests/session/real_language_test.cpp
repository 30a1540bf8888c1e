// A real language model, as it is and rewritten in Q4_K_M: its logits against the exact ones, and whether it still
// answers. Random weights would not show how real activations are rounded.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "engine/session/local_responder.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/accuracy.h"
#include "tests/support/scripted_chat.h"
#include "tests/support/test_files.h"
#include "tests/tools/rewrite_as_qwen2.h"

namespace warpchat {
namespace {

constexpr char kText[] =
    "The lighthouse keeper wrote every evening: the wind, the ships that passed, and what he had eaten. In the third "
    "winter he began to write about the light itself. A lens of glass and brass, he said, is a promise.";

constexpr double kMaxPerplexityChange = 2e-3;

std::unique_ptr<Model> load(const std::string& path) {
  ModelOptions options;
  options.path = path;
  options.context = 512;
  return Model::load(options);
}

std::vector<float> logits_of(Decoder& decoder, const std::vector<Token>& tokens, size_t columns_per_pass) {
  std::vector<float> all;
  for (size_t at = 0; at < tokens.size(); at += columns_per_pass) {
    const size_t n = std::min(columns_per_pass, tokens.size() - at);
    decoder.forward({tokens.data() + at, n}, static_cast<uint32_t>(at), Logits::kAll);
    for (uint32_t column = 0; column < n; ++column) {
      const std::span<const float> row = decoder.logits(column);
      all.insert(all.end(), row.begin(), row.end());
    }
  }
  return all;
}

void expect_close(const std::string& path, const Accuracy& measured, const std::string& name) {
  auto model = load(path);
  const std::vector<Token> tokens = model->tokenizer->encode(kText, false, false);
  ASSERT_GT(tokens.size(), 40u);
  const size_t n_vocab = model->config.n_vocab;
  const std::vector<double> exact = reference_logits(model->file, tokens);
  for (size_t columns : {size_t{model->decoder->max_logits_columns()}, size_t{1}}) {
    const std::vector<float> got = logits_of(*model->decoder, tokens, columns);
    expect_accuracy(compare_logits(got, exact, n_vocab), measured,
                    name + ", " + std::to_string(columns) + " columns a pass");
    const std::vector<double> wide(got.begin(), got.end());
    const double n = static_cast<double>(tokens.size() - 1);
    const double perplexity = std::exp(negative_log_likelihood(wide, tokens, 0) / n);
    const double exact_perplexity = std::exp(negative_log_likelihood(exact, tokens, 0) / n);
    EXPECT_NEAR(perplexity / exact_perplexity, 1, kMaxPerplexityChange);
  }
}

std::string answer(const std::string& path, const std::string& question) {
  auto model = load(path);
  AnswerOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 40;
  LocalResponder responder(*model);
  return ScriptedChat(responder, options).ask(question).text;
}

TEST(RealLanguage, TheDemoModelIsComputedClosely) {
  const auto path = demo_model_path();
  if (!path) GTEST_SKIP() << kNoDemoModel;
  expect_close(*path, {4.5e-4, 7.3e-7}, "demo model");
}

TEST(RealLanguage, SoIsItInQ4KAndItAnswersAsBefore) {
  const auto path = demo_model_path();
  if (!path) GTEST_SKIP() << kNoDemoModel;
  const TemporaryFile rewritten;
  rewrite_as_qwen2(GgufFile::open(*path), RewriteFormat::kQ4_K_M).write(rewritten.path());
  expect_close(rewritten.path(), {3.7e-4, 4.9e-7}, "demo model in Q4_K_M");
  const std::string question = "What is the capital of France?";
  for (const std::string& file : {*path, rewritten.path()})
    EXPECT_NE(answer(file, question).find("Paris"), std::string::npos) << file;
}

}  // namespace
}  // namespace warpchat
