// The choice among launch modes: what is said of it, and the decoder it leaves. Times are the machine's, so no test
// says which mode wins.
#include "engine/gpu/launch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

TEST(LaunchChoice, NamesTheFastestFirst) {
  EXPECT_EQ(describe_choice({{LaunchMode::kStream, 2.25e-3}, {LaunchMode::kGraph, 1.2e-3}}),
            "fastest: graph 1.20, stream 2.25 ms a token");
}

TEST(LaunchChoice, MeasuresEveryModeAndLeavesADecoderThatWorks) {
  const std::vector<std::byte> bytes = build_tiny_model({.n_layers = 1}, /*seed=*/2);
  const LoadedModel model(GgufFile::view(bytes, "tiny"));
  const std::vector<Token> tokens = some_tokens(1);
  for (const uint32_t context : {1u, 2u, 40u}) {
    std::unique_ptr<GpuDecoderSteps> own =
        make_gpu_steps(model.config, model.tensors, {test_device(), {.context = context}});
    GpuDecoderSteps& steps = *own;
    Decoder decoder(model.config, std::move(own));
    const std::vector<float> expected = decode(decoder, tokens, {1});
    const LaunchMode mode = choose_launch_mode(decoder, steps);
    EXPECT_THAT(steps.description(), testing::HasSubstr("launch " + std::string(name_of(mode)) + " (fastest: "));
    for (const std::string_view name : kLaunchModeNames)
      EXPECT_THAT(steps.description(), testing::HasSubstr(" " + std::string(name) + " "));
    EXPECT_EQ(decode(decoder, tokens, {1}), expected);
  }
}

}  // namespace
}  // namespace warpchat
