// Every body, played by the teams of another grid's blocks, gives the bits of its own kernel.
#include "kernels/bodies.h"

#include <gtest/gtest.h>

#include <functional>

#include "gemv_problem.h"
#include "kernels/error_word.h"
#include "models/half.h"

namespace warpchat {
namespace {

using namespace ptx;
using enum TensorType;
using enum GemvPrologue;
using enum GemvEpilogue;

constexpr uint32_t kWarps = 16;  // of the blocks that play
constexpr uint32_t kGrids[] = {1, 2, 3, 7};

// A kernel of blocks of kWarps warps whose teams play `body`.
Kernel played(const std::function<void(Builder&)>& body) {
  Builder b("played", sm_75);
  b.in_turn([&] { body(b); });
  return b.finish(Launch{1, kWarps * kWarpSize});
}

struct GemvCase {
  const char* name;
  GemvSpec spec;
};
const GemvCase kGemvCases[] = {
    {"ragged_rows", {kQ4_K, 37, 512, 1, kRmsNorm, kBias, 1e-5f}},
    {"two_matrices", {kQ8_0, 200, 96, 1, kRmsNorm, kSwiglu, 1e-5f}},
    {"several_passes", {kF32, 300, 8, 1, kNone, kStore, 0, {}, kWarps, 1, 32, 32}},
    {"tiled", {kF32, 70, 13000, 1, kRmsNorm, kResidual, 1e-5f}},
};

// By blocks of kWarps warps, in a grid of any size.
Kernel played_gemv(const GemvSpec& s) {
  const GemvPlan plan = plan_of(s);
  return played([&](Builder& b) {
    std::vector<Global<u8>> matrices = {b.global<u8>("weights")};
    if (s.epilogue == kSwiglu) matrices.push_back(b.global<u8>("up"));
    Global<f32> x = b.global<f32>("x");
    std::optional<Global<f32>> gamma, bias;
    if (s.prologue == kRmsNorm) gamma.emplace(b.global<f32>("gamma"));
    if (s.epilogue == kBias) bias.emplace(b.global<f32>("bias"));
    const GemvAddresses at{matrices, x, gamma, bias, b.global<f32>("y"), {}, {}, {}};
    Reg<u32> zero = b.var("zero", 0u);
    gemv_body(b, plan, at, VirtualBlock(b, team_of(b, kWarps, s.warps), b.block(), zero, zero, b.blocks()));
  });
}

TEST(Bodies, GemvByAnyGrid) {
  for (const GemvCase& c : kGemvCases) {
    const GemvProblem problem(c.spec);
    const std::vector<float> expected = problem.run(gemv(c.spec, sm_75), sm_75, 1);
    Kernel kernel = played_gemv(c.spec);
    for (uint32_t grid : kGrids) {
      kernel.launch.blocks = grid;
      EXPECT_EQ(problem.run(kernel, sm_75, 1, reordered(grid)), expected) << c.name << ", grid " << grid;
    }
  }
}

// Products of one input by one kernel, which is told the rows and the bias: of formats with and without sums of the
// input; with one whose input is another; with one that comes in tiles.
TEST(Bodies, GemvByOneOfSeveralPlans) {
  const std::vector<std::vector<TensorType>> kTogether = {{kQ4_K, kQ8_0, kQ6_K}, {kQ4_K, kF32}, {kF32, kF16}};
  for (const std::vector<TensorType>& types : kTogether) {
    const uint32_t k = types[0] == kF32 ? 13000 : 512;
    std::vector<GemvPlan> plans;
    for (TensorType type : types) plans.push_back(plan_of({type, 40, k, 1, kRmsNorm, kBias, 1e-5f}));
    for (uint32_t i = 0; i < types.size(); ++i) {
      Kernel kernel = played([&](Builder& b) {
        const std::vector<Global<u8>> matrices = {b.global<u8>("weights")};
        Global<f32> x = b.global<f32>("x"), gamma = b.global<f32>("gamma");
        Reg<u64> bias = b.param<u64>("bias");
        b.param<u64>("residual");
        Global<f32> y = b.global<f32>("y");
        const GemvAddresses at{matrices, x, gamma, b.pointer<f32>(bias, 16), y, {}, b.param<u32>("rows"), bias != 0};
        b.param<u32>("n_columns");
        Reg<u32> zero = b.var("zero", 0u), which = b.var("which", i);
        const VirtualBlock block(b, team_of(b, kWarps, kWarps), b.block(), zero, zero, b.blocks());
        gemv_body(b, plans, which, at, block);
      });
      for (const auto& [rows, epilogue] : {std::pair(40u, kBias), std::pair(21u, kStore)}) {
        const GemvProblem problem(
            {types[i], rows, k, 1, kRmsNorm, epilogue, 1e-5f, {}, kWarps, plans[i].rows_per_warp});
        const std::vector<float> expected = problem.run(gemv(problem.spec, sm_75), sm_75, 1);
        for (uint32_t grid : {1, 3}) {
          kernel.launch.blocks = grid;
          EXPECT_EQ(problem.run_told(kernel, sm_75, 1, {rows, 1}, reordered(grid), nullptr), expected)
              << name_of(problem.spec) << ", grid " << grid;
        }
      }
    }
  }
}

TEST(Bodies, EmbeddingInTeams) {
  const EmbeddingSpec s{kF16, 5, 600};
  std::vector<uint8_t> weights(packed_bytes_per_row(s.weights, s.hidden) * s.n_vocab);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i % 60);
  GuardedDevice device(sm_75);
  const uint8_t* w = device.upload(weights);
  const auto* tokens = device.upload(std::vector<uint32_t>{3});
  float *expected = device.poisoned<float>(s.hidden), *out = device.poisoned<float>(s.hidden);
  uint32_t* error = device.zeros<uint32_t>(kErrorWords);
  ASSERT_EQ(device.run(embedding(s, sm_75), w, tokens, expected, error), "");
  Kernel kernel = played([&](Builder& b) {
    const EmbeddingAddresses at{
        b.global<u8>("weights"), b.global<u32>("tokens"), b.global<f32>("out"), b.global<u32>("error"), {}};
    const Launch launch = embedding_launch(s);
    const Team team = team_of(b, kWarps, launch.threads.x / kWarpSize);
    Reg<u32> zero = b.var("zero", 0u), n = b.var("n", launch.blocks.x);
    play_blocks(b, team, n,
                [&](const Reg<u32>& x) { embedding_body(b, s, at, VirtualBlock(b, team, x, zero, zero, n)); });
  });
  for (uint32_t grid : kGrids) {
    ASSERT_EQ(device.run_as(reordered(grid), kernel, grid, w, tokens, out, error), "");
    EXPECT_EQ(device.download(out, s.hidden), device.download(expected, s.hidden)) << "grid " << grid;
  }
}

// Scatter and attention over the same pages: the keys come from memory that the launch before has written.
TEST(Bodies, ScatterAndAttentionInTeams) {
  const KvScatterSpec scatter{6, 3, 40, 40, RopePairing::kNeox, 300, 1, false, true, 1e-6f, 1, std::vector(20, 0.3)};
  AttentionSpec attend{6, 3, 40, 300, 1};
  attend.lengths_are_positions = true;
  const uint32_t position = 200, q_width = 240, kv_width = 120;
  GuardedDevice device(sm_75);
  struct Cache {
    uint16_t *k, *v;
    float *q, *out;
  };
  constexpr uint32_t kPages = 5;
  std::vector<uint16_t> old(kv_width * kPagePositions * kPages);
  const std::vector<float> past = normal_floats(old.size(), 7);
  for (size_t i = 0; i < old.size(); ++i) old[i] = to_f16(past[i]).bits;
  const auto make = [&] {
    return Cache{device.upload(old), device.upload(old), device.upload(normal_floats(q_width, 1)),
                 device.poisoned<float>(q_width)};
  };
  const auto* pages = device.upload(std::vector<uint32_t>{2, 4, 0, 1, 3});
  const auto* tables = device.upload(std::vector{reinterpret_cast<uint64_t>(pages)});
  const float *k = device.upload(normal_floats(kv_width, 2)), *v = device.upload(normal_floats(kv_width, 3));
  const float *q_gamma = device.upload(normal_floats(40, 4)), *k_gamma = device.upload(normal_floats(40, 5));
  const auto* positions = device.upload(std::vector{position});
  uint8_t* scratch = device.zeros<uint8_t>(attention_scratch_bytes(attend));
  uint32_t* error = device.zeros<uint32_t>(kErrorWords);
  const Cache own = make();
  ASSERT_EQ(device.run(kv_scatter(scatter, sm_75), own.q, k, v, q_gamma, k_gamma, positions, own.k, own.v, tables,
                       kPages, error),
            "");
  ASSERT_EQ(
      device.run(incremental_attention(attend, sm_75), own.q, own.k, own.v, tables, positions, own.out, scratch, error),
      "");

  Kernel scattering = played([&](Builder& b) {
    Global<f32> q = b.global<f32>("q"), keys = b.global<f32>("k"), values = b.global<f32>("v");
    std::vector<Global<f32>> gamma = {b.global<f32>("q_gamma")};
    gamma.push_back(b.global<f32>("k_gamma"));
    Global<u32> at = b.global<u32>("positions");
    Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
    Global<u64> page_tables = b.global<u64>("page_tables");
    Reg<u32> n_pages = b.param<u32>("n_pages");
    Global<u32> word = b.global<u32>("error");
    const KvScatterAddresses all{q, keys, values, gamma, at, k_pages, v_pages, page_tables, n_pages, word, {}};
    const Launch launch = kv_scatter_launch(scatter);
    const Team team = team_of(b, kWarps, launch.threads.x / kWarpSize);
    Reg<u32> zero = b.var("zero", 0u), n = b.var("n", launch.blocks.x);
    play_blocks(b, team, n,
                [&](const Reg<u32>& x) { kv_scatter_body(b, scatter, all, VirtualBlock(b, team, x, zero, zero, n)); });
  });
  Kernel attending = played([&](Builder& b) {
    Global<f32> q = b.global<f32>("q");
    Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
    Global<u64> page_tables = b.global<u64>("page_tables");
    Global<u32> lengths = b.global<u32>("lengths");
    Global<f32> out = b.global<f32>("out");
    Global<u8> parts = b.global<u8>("scratch");
    const AttentionAddresses all{q, k_pages, v_pages, page_tables, lengths, out, parts, b.global<u32>("error"), {}, {}};
    const Dimensions blocks = attention_grid(attend, attend.max_positions);
    const Team team = team_of(b, kWarps, attention_warps());
    Reg<u32> zero = b.var("zero", 0u), splits = b.var("splits", blocks.x);
    play_blocks(b, team, blocks.x * blocks.y, [&](const Reg<u32>& number) {
      Reg<u32> split = number / blocks.y;
      attention_body(b, attend, all, VirtualBlock(b, team, split, number - split * blocks.y, zero, splits));
    });
  });
  for (uint32_t grid : kGrids) {
    const Cache c = make();
    ASSERT_EQ(device.run_as(reordered(grid), scattering, grid, c.q, k, v, q_gamma, k_gamma, positions, c.k, c.v, tables,
                            kPages, error),
              "");
    EXPECT_EQ(device.download(c.k, old.size()), device.download(own.k, old.size())) << "grid " << grid;
    EXPECT_EQ(device.download(c.v, old.size()), device.download(own.v, old.size())) << "grid " << grid;
    EXPECT_EQ(device.download(c.q, q_width), device.download(own.q, q_width)) << "grid " << grid;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      ASSERT_EQ(
          device.run_as(reordered(seed), attending, grid, c.q, c.k, c.v, tables, positions, c.out, scratch, error), "");
      EXPECT_EQ(device.download(c.out, q_width), device.download(own.out, q_width)) << "grid " << grid;
    }
  }
}

}  // namespace
}  // namespace warpchat
