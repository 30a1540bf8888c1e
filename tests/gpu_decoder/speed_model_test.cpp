// The arithmetic of predicted speeds, and the counts that go into it.
#include "engine/gpu/speed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/token_work.h"
#include "kernels/shapes.h"
#include "ptx/builder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

// 1 GB/s; 10 processors of 2 instructions a clock at 1 MHz: round numbers.
constexpr GpuTraits kRound{"round", "Round", ptx::sm_80, 1e9, 10, 1e6, 2, 3e-3, 2e-3, 1e-3, 1e9};

TEST(SpeedModel, TakesTheLongerOfBytesAndInstructions) {
  const struct {
    const char* why;
    KernelWork work;
    double bytes, issue;
  } rows[] = {
      {"a block a processor: 2,000 instructions each at 2 a clock", {"k", 500'000, 20'000, 10}, 0.5e-3, 1e-3},
      {"one block more: a processor has two, which take twice as long", {"k", 500'000, 22'000, 11}, 0.5e-3, 2e-3},
      {"a single block uses a single processor", {"k", 0, 20'000, 1}, 0, 10e-3},
      {"bytes do not depend on blocks", {"k", 4'000'000, 20, 1}, 4e-3, 1e-5},
  };
  for (const auto& row : rows) {
    EXPECT_DOUBLE_EQ(seconds_of_bytes(kRound, row.work), row.bytes) << row.why;
    EXPECT_DOUBLE_EQ(seconds_of_issue(kRound, row.work), row.issue) << row.why;
    EXPECT_DOUBLE_EQ(seconds(kRound, row.work), std::max(row.bytes, row.issue)) << row.why;
  }
}

TEST(SpeedModel, AddsLaunchesOfKernelsAndBarriersOfPhases) {
  // Of two independent kernels one waits for bytes, 1 ms, the other for its 5 blocks' instructions, 1 ms: side by side
  // 1.1 ms of bytes and, in 10 blocks, 1.1 ms of instructions at most.
  const std::vector<KernelGroup> token = {{{"bytes", 1'000'000, 2'000, 5}, {"issue", 100'000, 10'000, 5}},
                                          {{"last", 2'000'000, 20, 1}}};
  const TokensPerSecond speed = predict(kRound, token, 5);
  EXPECT_DOUBLE_EQ(speed.bandwidth, 1 / 3.1e-3);
  EXPECT_DOUBLE_EQ(speed.stream, 1 / (1e-3 + 1e-3 + 2e-3 + 3 * 3e-3));
  EXPECT_DOUBLE_EQ(speed.graph, 1 / (1e-3 + 1e-3 + 2e-3 + 3 * 2e-3));
  EXPECT_DOUBLE_EQ(speed.persistent, 1 / (1.1e-3 + 2e-3 + 5 * 1e-3));
}

// One layer of 8 hidden, 2 heads of 4 and one for keys and values, 16 inner: 8 * (2 * 8 + 2 * 4 + 3 * 16) = 576
// weights; with 9 tokens 8 * 10 scores of each on average, half of them for the values, and logits of 10 words once.
TEST(SpeedModel, BoundsPromptsByProductsOrWeights) {
  ModelConfig config;
  config.n_layers = 1, config.hidden = 8, config.n_heads = 2, config.n_kv_heads = 1, config.head_dim = 4;
  config.ffn = 16, config.n_vocab = 10;
  const double flops = 2 * (576 + 80) * 9 + 2 * 8 * 10;
  EXPECT_DOUBLE_EQ(prefill_bound(kRound, config, 100, 9), 9 / (flops / 1e9));
  EXPECT_DOUBLE_EQ(prefill_bound(kRound, config, 1'000'000, 9), 9 / 1e-3);
}

TEST(SpeedModel, KnowsGpusByName) {
  EXPECT_EQ(gpu_named("h200").target, ptx::sm_90);
  EXPECT_EQ(gpu_named("4090").target, ptx::sm_89);
  EXPECT_THAT(error_of([] { gpu_named("h300"); }), HasSubstr("expected one of h200, 4090"));
}

// 32 warps' lanes of one warp count once: 2 blocks of 2 warps, each with as many instructions as the text has.
TEST(CountedWork, IsOfWarpsThatReallyRan) {
  ptx::Builder b("loop", ptx::sm_80);
  ptx::Global<ptx::u32> y = b.global<ptx::u32>("y", 256);
  b.for_("turn", 0, 10, 1, [&](ptx::Reg<ptx::u32> turn) { y.store(turn, turn); });
  const ptx::Kernel kernel = b.finish(ptx::Launch{2, 64});
  const uint64_t in_loop = 5;  // address, store, add, compare, branch
  const uint64_t around = 4;   // parameter, its space, the counter's start, ret
  EXPECT_EQ(count_instructions(kernel, kernel.launch.blocks, 0, 0), 2 * 2 * (10 * in_loop + around));
}

// Attention at long contexts follows from short ones: as if it had been run.
TEST(CountedWork, OfLongAttentionFollowsFromShort) {
  const ModelShape shape = model_shape("qwen2.5-0.5b");
  const DecoderSpecs specs = decoder_specs(shape.config, shape.formats, 4096, PassKind::kToken, 1);
  const TokenWork work(specs, ptx::sm_80);
  const auto& attention = std::get<AttentionSpec>(specs.attention);
  const uint64_t cache = uint64_t{attention.n_kv_heads} * attention.max_positions * attention.head_dim * 2;
  for (uint32_t position : {0u, 511u, 1535u}) {
    const std::vector<KernelGroup> token = work.at(position);
    ASSERT_EQ(token.size(), 2 + 6 * shape.config.n_layers);
    const KernelWork& found = token.at(3).at(0);
    const ptx::Kernel kernel = incremental_attention(attention, ptx::sm_80);
    const uint64_t run = count_instructions(kernel, attention_grid(attention, position + 1), position, cache);
    EXPECT_EQ(found.name, kernel.name);
    EXPECT_NEAR(static_cast<double>(found.instructions), static_cast<double>(run), 0.002 * static_cast<double>(run))
        << position;
  }
}

// A unit of 32 weights takes some 18 bytes and some 80 instructions of a lane; a grid counted twice would take more.
TEST(CountedWork, OfProductsIsLessThanAWarpInstructionAByte) {
  const ModelShape shape = model_shape("qwen2.5-0.5b");
  const TokenWork work(decoder_specs(shape.config, shape.formats, 4096, PassKind::kToken, 1), ptx::sm_80);
  for (const KernelGroup& group : work.at(0)) {
    for (const KernelWork& kernel : group) {
      if (!kernel.name.starts_with("gemv_")) continue;
      EXPECT_LT(kernel.instructions, kernel.bytes) << kernel.name;
      EXPECT_GT(kernel.instructions, kernel.bytes / 20) << kernel.name;
    }
  }
}

// The table of what memory alone allows: published bytes of these models over the same bandwidths.
TEST(PredictedSpeed, OfBytesAloneIsTheRoofline) {
  const struct {
    const char *shape, *gpu;
    uint32_t position;
    double tokens_per_second;
  } rows[] = {
      {"qwen2.5-0.5b", "h200", 0, 10980}, {"qwen2.5-0.5b", "h200", 32767, 5410}, {"qwen2.5-3b", "h200", 4096, 2073},
      {"qwen2.5-3b", "4090", 0, 494},     {"qwen2.5-3b", "4090", 32767, 303},
  };
  for (const auto& row : rows) {
    const ModelShape shape = model_shape(row.shape);
    const GpuTraits& gpu = gpu_named(row.gpu);
    const TokenWork work(decoder_specs(shape.config, shape.formats, 32768, PassKind::kToken, 1), gpu.target);
    const TokensPerSecond speed = predict(gpu, work.at(row.position), work.barriers());
    EXPECT_NEAR(speed.bandwidth, row.tokens_per_second, 0.03 * row.tokens_per_second) << row.shape << " on " << row.gpu;
    EXPECT_LT(speed.stream, speed.graph) << row.shape;
    EXPECT_LT(speed.graph, speed.persistent) << row.shape;
    EXPECT_LT(speed.persistent, speed.bandwidth) << row.shape;
  }
}

}  // namespace
}  // namespace warpchat
