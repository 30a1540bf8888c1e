// Logits of small models in real formats on a GPU (here the emulator) against exact ones: prefill, decode, batches and
// mixed passes, in every launch mode.
#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/gpu/gpu_steps.h"
#include "tests/reference/closeness.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/exact_models.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

// Logits of the first of two sequences with the same tokens; the second lags behind.
std::vector<float> decode_in_batches(Decoder& decoder, std::span<const Token> tokens) {
  std::vector<float> logits;
  for (uint32_t position = 0; position < tokens.size(); ++position) {
    std::vector<Run> runs;
    if (position >= 3) runs.push_back({1, position - 3, tokens.subspan(position - 3, 1), Logits::kLast});
    runs.push_back({0, position, tokens.subspan(position, 1), Logits::kLast});
    if (!decoder.forward(runs)) throw std::logic_error("the decoder stopped");
    const std::span<const float> row = decoder.logits(static_cast<uint32_t>(runs.size()) - 1);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

constexpr KvTypes kCodes{KvType::kQ8_0, KvType::kQ8_0};
std::vector<float> decode_in_one_launch(Decoder& decoder, std::span<const Token> tokens) {
  std::vector<float> logits;
  const auto take = [&](std::span<const float> row) { logits.insert(logits.end(), row.begin(), row.end()); };
  if (!decoder.steps().teacher_force(tokens, 0, take)) throw std::logic_error("nothing was decoded");
  return logits;
}

TEST(GpuDecoderOnRealFiles, MatchesExactLogits) {
  const std::span<const Token> tokens = kExactTokens;
  const struct {
    const char* name;
    LaunchMode launch;
    std::vector<uint32_t> passes;  // empty: in batches, or one persistent launch
    KvTypes cache = {};
  } ways[] = {{"prefill", LaunchMode::kStream, {15}},
              {"one by one", LaunchMode::kStream, {1}},
              {"mixed, from a graph", LaunchMode::kGraph, {4, 1, 1, 3, 1}},
              {"batches", LaunchMode::kStream, {}},
              {"batches, from graphs", LaunchMode::kGraph, {}},
              {"one launch", LaunchMode::kPersistent, {}},  // compared with "one by one", so it runs after it
              {"q8_0, prefill", LaunchMode::kStream, {15}, kCodes},
              {"q8_0, mixed, from a graph", LaunchMode::kGraph, {4, 1, 1, 3, 1}, kCodes},
              {"q8_0, one by one", LaunchMode::kStream, {1}, kCodes},
              {"q8_0, one launch", LaunchMode::kPersistent, {}, kCodes},
              {"q8_0, batches", LaunchMode::kStream, {}, kCodes}};
  for_each_exact_model([&](const ExactModel& exact, const DecodableModel& model, const std::vector<double>& expected) {
    std::vector<float> token_by_token;
    for (const auto& way : ways) {
      const GpuSizes sizes{.context = 64, .sequences = 2, .cache = way.cache};
      Decoder decoder(model.config, make_gpu_steps(model.config, model.tensors, {test_device(), sizes, way.launch}));
      const bool in_one_launch = way.launch == LaunchMode::kPersistent;
      const std::vector<float> logits = in_one_launch        ? decode_in_one_launch(decoder, tokens)
                                        : way.passes.empty() ? decode_in_batches(decoder, tokens)
                                                             : decode(decoder, tokens, way.passes);
      const bool is_by_token = in_one_launch || way.passes == std::vector<uint32_t>{1};
      if (is_by_token && !in_one_launch) token_by_token = logits;
      if (in_one_launch) {
        EXPECT_EQ(logits, token_by_token) << exact.name << ": the same to the bit";
      }
      expect_accuracy(compare_logits(logits, expected, model.config.n_vocab),
                      way.cache.k == KvType::kQ8_0 ? exact.codes
                      : is_by_token                ? exact.gpu_tokens
                                                   : exact.gpu_prompt,
                      exact.name + " gpu, " + way.name);
    }
  });
}

}  // namespace
}  // namespace warpchat
