// Models of known shapes with random weights. All launch modes give the same bits, close to the CPU backend's results.
// WARPCHAT_SHAPES=qwen2.5-0.5b,qwen2.5-1.5b names the shapes; the defaults are those that the emulator decodes quickly.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "tests/gpu/shaped_model.h"
#include "tests/reference/closeness.h"
#include "tests/support/accuracy.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 64;

// Distance from the CPU backend's logits, the maximum of the emulator's shapes and of an H100's: qwen2.5-0.5b, 1.5b and
// qwen3.5-9b; for mixtures qwen3-30b-a3b, where a router's near tie may select another expert.
constexpr Accuracy kTokens{1.6e-4, 1.5e-8}, kTokensOfExperts{8.6e-4, 2.9e-7}, kPrompt{5e-4, 1.2e-7};

std::vector<std::string> shapes() {
  const char* names = std::getenv("WARPCHAT_SHAPES");
  std::istringstream in(names != nullptr ? names : "tiny,tiny-qwen3-30b-a3b,tiny-qwen3.5-35b-a3b");
  std::vector<std::string> list;
  for (std::string name; std::getline(in, name, ',');) list.push_back(name);
  return list;
}

class GpuShapes : public testing::TestWithParam<std::string> {
 protected:
  std::vector<float> on_the_cpu(std::span<const Token> tokens) const {
    CpuOptions options;
    options.context = kContext;
    Decoder decoder(model_.config(), make_cpu_steps(model_.config(), model_.tensors(), options));
    return decode(decoder, tokens, {1});
  }
  std::vector<float> on_the_gpu(LaunchMode launch, std::span<const Token> tokens, uint32_t columns = 1) const {
    const GpuOptions options{test_device(), {.context = kContext}, launch};
    Decoder decoder(model_.config(), make_gpu_steps(model_.config(), model_.tensors(), options));
    if (launch != LaunchMode::kPersistent) return decode(decoder, tokens, {columns});
    std::vector<float> logits;
    const auto take = [&](std::span<const float> row) { logits.insert(logits.end(), row.begin(), row.end()); };
    if (!decoder.steps().teacher_force(tokens, 0, take)) throw std::logic_error("nothing was decoded");
    return logits;
  }
  void expect_close_to_the_cpu(const char* what, const std::vector<float>& logits, const std::vector<double>& cpu,
                               const Accuracy& measured) const {
    expect_accuracy(compare_logits(logits, cpu, model_.config().n_vocab), measured, GetParam() + " gpu, " + what);
  }

  const ShapedModel model_{bench_shape(GetParam())};
};

TEST_P(GpuShapes, GiveTheSameBitsInEveryModeAndTheCpusLogits) {
  const std::vector<Token> tokens = some_tokens(10);
  const std::vector<float> on_cpu = on_the_cpu(tokens);
  const std::vector<double> expected(on_cpu.begin(), on_cpu.end());
  const std::vector<float> streamed = on_the_gpu(LaunchMode::kStream, tokens);
  const bool has_experts = model_.config().experts.n > 0;
  expect_close_to_the_cpu("one by one", streamed, expected, has_experts ? kTokensOfExperts : kTokens);
  expect_close_to_the_cpu("prefill", on_the_gpu(LaunchMode::kStream, tokens, 10), expected, kPrompt);
  EXPECT_TRUE(on_the_gpu(LaunchMode::kGraph, tokens) == streamed) << "a graph's bits are the stream's";
  EXPECT_TRUE(on_the_gpu(LaunchMode::kPersistent, tokens) == streamed) << "the persistent decoder's are, too";
}

INSTANTIATE_TEST_SUITE_P(Shapes, GpuShapes, testing::ValuesIn(shapes()), [](const auto& p) {
  std::string name = p.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

}  // namespace
}  // namespace warpchat
