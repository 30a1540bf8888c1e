// Every body, run by teams in another grid, gives the bits of its own kernel.
#include "kernels/attention/attention_body.h"
#include "kernels/matmul/embedding_body.h"
#include "kernels/matmul/gemv_body.h"

#include <gtest/gtest.h>

#include <functional>

#include "gemv_problem.h"
#include "kernels/attention/kv_rows.h"
#include "kernels/common/error_word.h"
#include "models/half.h"

namespace warpchat {
namespace {

using namespace ptx;
using enum TensorType;
using enum GemvPrologue;
using enum GemvEpilogue;

constexpr uint32_t kWarps = 16;  // per block
constexpr uint32_t kGrids[] = {1, 2, 3, 7};

// A kernel with blocks of kWarps warps whose teams run `body`.
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

// Runs in blocks of kWarps warps and a grid of any size.
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

// One kernel serves several products of one input and gets rows and bias as parameters: formats with and without input
// sums, a format with another input, and inputs that come in tiles.
TEST(Bodies, GemvByOneOfSeveralPlans) {
  const std::vector<std::vector<TensorType>> kFused = {{kQ4_K, kQ8_0, kQ6_K}, {kQ4_K, kF32}, {kF32, kF16}};
  for (const std::vector<TensorType>& types : kFused) {
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
    play_blocks(b, team, b.blocks(), n,
                [&](const Reg<u32>& x) { embedding_body(b, s, at, VirtualBlock(b, team, x, zero, zero, n)); });
  });
  for (uint32_t grid : kGrids) {
    ASSERT_EQ(device.run_as(reordered(grid), kernel, grid, w, tokens, out, error), "");
    EXPECT_EQ(device.download(out, s.hidden), device.download(expected, s.hidden)) << "grid " << grid;
  }
}

// Attention with a fused scatter: a team keeps its rotated queries while the KV head stays the same.
TEST(Bodies, AttentionInTeams) {
  AttentionSpec spec{6, 3, 40, 300, 1};
  spec.lengths_are_positions = true;
  spec.scatters = {{6, 3, 40, 40, RopePairing::kNeox, 300, 1, false, true, 1e-6f, 1, std::vector(20, 0.3)}};
  const uint32_t position = 200, q_width = 240, kv_width = 120;
  GuardedDevice device(sm_75);
  struct Cache {
    uint16_t *k, *v;
    float* out;
  };
  constexpr uint32_t kPages = 5;
  std::vector<uint16_t> old(kv_width * kPagePositions * kPages);
  const std::vector<float> past = normal_floats(old.size(), 7);
  for (size_t i = 0; i < old.size(); ++i) old[i] = to_f16(past[i]).bits;
  const auto make = [&] { return Cache{device.upload(old), device.upload(old), device.poisoned<float>(q_width)}; };
  const auto* pages = device.upload(std::vector<uint32_t>{2, 4, 0, 1, 3});
  const auto* tables = device.upload(std::vector{reinterpret_cast<uint64_t>(pages)});
  const float* q = device.upload(normal_floats(q_width, 1));
  const float *k = device.upload(normal_floats(kv_width, 2)), *v = device.upload(normal_floats(kv_width, 3));
  const float *q_gamma = device.upload(normal_floats(40, 4)), *k_gamma = device.upload(normal_floats(40, 5));
  const auto* positions = device.upload(std::vector{position});
  uint8_t* scratch = device.zeros<uint8_t>(attention_scratch_bytes(spec));
  uint32_t* error = device.zeros<uint32_t>(kErrorWords);
  const Cache own = make();
  ASSERT_EQ(device.run(incremental_attention(spec, sm_75), q, k, v, q_gamma, k_gamma, own.k, own.v, tables, kPages,
                       positions, own.out, scratch, error),
            "");
  const Kernel kernel = played([&](Builder& b) {
    const auto floats = [&](const char* name) { return b.global<f32>(name); };
    Global<f32> queries = floats("q"), keys = floats("k"), values = floats("v");
    std::vector<Global<f32>> gamma = {floats("q_gamma")};
    gamma.push_back(floats("k_gamma"));
    Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
    Global<u64> page_tables = b.global<u64>("page_tables");
    Reg<u32> n_pages = b.param<u32>("n_pages");
    Global<u32> lengths = b.global<u32>("lengths");
    Global<f32> out = floats("out");
    Global<u8> parts = b.global<u8>("scratch");
    Global<u32> word = b.global<u32>("error");
    const Global<u32> table = page_table(b, page_tables, 0);
    Reg<u32> length = b.uniform(lengths.load());
    const Dimensions blocks = attention_grid(spec, spec.max_positions);
    const Team team = team_of(b, kWarps, attention_warps());
    Reg<u32> zero = b.var("zero", 0u), splits = b.var("splits", blocks.x);
    Var<u32> rotated = b.var("turned", kNoneRotated);
    play_blocks(b, team, b.blocks(), blocks.x * blocks.y, [&](const Reg<u32>& number) {
      Reg<u32> split = number / blocks.y, kv_head = number - split * blocks.y;
      const AttentionAddresses all{
          queries, k_pages, v_pages, table, length,
          out,     parts,   word,    {},    ProjectionAddresses{keys, values, gamma, n_pages, {}, rotated}};
      attention_body(b, spec, all, VirtualBlock(b, team, split, kv_head, zero, splits));
      rotated = kv_head;
    });
  });
  for (uint32_t grid : kGrids) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Cache c = make();
      ASSERT_EQ(device.run_as(reordered(seed), kernel, grid, q, k, v, q_gamma, k_gamma, c.k, c.v, tables, kPages,
                              positions, c.out, scratch, error),
                "");
      EXPECT_EQ(device.download(c.k, old.size()), device.download(own.k, old.size())) << "grid " << grid;
      EXPECT_EQ(device.download(c.v, old.size()), device.download(own.v, old.size())) << "grid " << grid;
      EXPECT_EQ(device.download(c.out, q_width), device.download(own.out, q_width)) << "grid " << grid;
    }
  }
}

}  // namespace
}  // namespace warpchat
