// Arithmetic, inputs and results of the speed model for the models that we tune for.
#include "tests/speed_model/speed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "engine/gpu/gpu_steps.h"
#include "engine/profile.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/matmul/gemv_plan.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/shapes.h"
#include "ptx/builder.h"
#include "tests/speed_model/launch_work.h"
#include "tests/speed_model/work_models.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;
using Form = KernelGroup::Form;

// Round numbers: 1 GB/s; 10 processors with 2 instructions per clock at 1 MHz; launches of 3 and 2 ms; latencies of 8
// ms (host), 4 ms (memory), 0.5 ms (common), 1 ms (L2), and 10 clocks or 10 us on the processor.
constexpr GpuTraits kRound{"round", "Round", ptx::sm_80, 1e9,  10,   1e6, 2, 3e-3, 2e-3,
                           1e9,     8e-3,    4e-3,       5e-4, 1e-3, 10,  1, 1e-4};

// Eight blocks of one warp, one piece each.
KernelWork eight_blocks(const LatencyCounts& piece, uint64_t bytes, double instructions) {
  return {.name = "k",
          .model = {.pieces = 8, .piece = piece},
          .bytes = bytes,
          .piece_instructions = instructions,
          .blocks = 8};
}

TEST(SpeedModel, AddsWhatOneWarpWaitsFor) {
  EXPECT_DOUBLE_EQ(seconds(kRound, {.host = 1, .memory = 2, .common = 2, .l2 = 3, .local = 4}, 50),
                   8e-3 + 8e-3 + 1e-3 + 3e-3 + 40e-6 + 50e-6);
}

TEST(SpeedModel, TakesTheLongerOfWaitingBytesAndInstructions) {
  const struct {
    const char* why;
    KernelWork work;
    double seconds;
  } rows[] = {
      {"two trips to memory and 1,000 instructions of each warp", eight_blocks({.memory = 2}, 100, 1000), 9e-3},
      {"20 MB, behind the first trip", eight_blocks({.memory = 2}, 20'000'000, 1000), 4e-3 + 20e-3},
      {"no bytes, no trip", eight_blocks({}, 0, 1000), 1e-3},
  };
  for (const auto& row : rows) {
    const PhaseSeconds found = launch_seconds(kRound, row.work, 3e-3);
    EXPECT_DOUBLE_EQ(found.wait, 3e-3) << row.why;
    EXPECT_DOUBLE_EQ(found.total(), 3e-3 + row.seconds) << row.why;
    EXPECT_DOUBLE_EQ(found.bytes, static_cast<double>(row.work.bytes) / 1e9) << row.why;
  }
  KernelWork busy = eight_blocks({}, 0, 1000);  // 64 warps a block, one of which has the piece
  busy.block_warps = busy.model.warps = 64;
  EXPECT_DOUBLE_EQ(launch_seconds(kRound, busy, 0).total(), 8 * 64 * 1000 / (10 * 2 * 1e6));
}

TEST(SpeedModel, CountsTurnsOfUnequalShares) {
  KernelWork work = eight_blocks({.memory = 2}, 0, 0);  // 8 ms per piece
  work.model.pieces = 25;
  work.blocks = 10;  // three turns, 2.5 on average
  const PhaseSeconds found = launch_seconds(kRound, work, 0);
  EXPECT_DOUBLE_EQ(found.latency, 2.5 * 8e-3);
  EXPECT_DOUBLE_EQ(found.imbalance, 0.5 * 8e-3);
  work.blocks = 20;  // twice as many as fit: the later ones pay the start again
  work.model.start = {.l2 = 1};
  EXPECT_DOUBLE_EQ(launch_seconds(kRound, work, 0).start, 2e-3);
}

// Bytes requested before the barrier arrive while blocks wait and start. Then pieces find them in the L2 cache.
TEST(SpeedModel, LetsBytesComeWhileBlocksWait) {
  KernelWork work = eight_blocks({.memory = 1}, 8'000'000, 0);  // 8 ms
  const double barrier = barrier_seconds(kRound);
  ASSERT_GT(barrier, 2e-3);
  EXPECT_NEAR(phase_seconds(kRound, {PhaseKind::kOutput, {work}}).total(), barrier + 4e-3 + 8e-3, 1e-12);
  work.model.bytes_ahead = 2'000'000;
  EXPECT_NEAR(phase_seconds(kRound, {PhaseKind::kOutput, {work}}).total(), barrier + 0.75 * 4e-3 + 0.25 * 1e-3 + 6e-3,
              1e-12);
  work.model.bytes_ahead = work.bytes;
  EXPECT_NEAR(phase_seconds(kRound, {PhaseKind::kOutput, {work}}).total(), 1e-3 + 8e-3, 1e-12)
      << "not before the barrier began";
  // From the last phase with weights on.
  work.weight_bytes = work.bytes;
  const KernelWork waits = eight_blocks({.l2 = 1}, 0, 0);
  const std::vector<KernelGroup> token = {
      {PhaseKind::kGateUp, {work}}, {PhaseKind::kAttention, {waits}}, {PhaseKind::kOutput, {work}}};
  const std::vector<PhaseSeconds> found = token_seconds(kRound, token);
  EXPECT_NEAR(found[0].total(), 1e-3 + 8e-3, 1e-12);
  EXPECT_NEAR(found[1].total(), barrier + 1e-3, 1e-12);
  EXPECT_NEAR(found[2].total(), barrier + 1e-3, 1e-12) << "everything arrived meanwhile";
}

TEST(SpeedModel, AddsLaunchesOfKernelsAndBarriersOfPhases) {
  const KernelWork bytes = eight_blocks({}, 1'000'000, 0), waits = eight_blocks({.l2 = 2}, 100'000, 0);
  const std::vector<KernelGroup> token = {{PhaseKind::kOutput, {bytes, waits}},
                                          {PhaseKind::kDown, {bytes}, Form::kSeparate},
                                          {PhaseKind::kEmit, {}, Form::kPersistent}};
  const TokensPerSecond speed = predict(kRound, token, 2);
  const double single = 2 * 5e-3 + 4.1e-3, publish = seconds(kRound, phase_entry_latency(PhaseKind::kEmit));
  EXPECT_DOUBLE_EQ(speed.bandwidth, 1 / 2.1e-3);
  EXPECT_DOUBLE_EQ(speed.stream, 1 / (single + 3 * 3e-3));
  EXPECT_DOUBLE_EQ(speed.graph, 1 / (single + 3 * 2e-3));
  EXPECT_DOUBLE_EQ(speed.persistent, 1 / (4e-3 + 1.1e-3 + publish + 2 * barrier_seconds(kRound)));
}

// One layer of hidden 8, 2 heads of 4, one KV head and ffn 16: 8 * (2 * 8 + 2 * 4 + 3 * 16) = 576 weights. Nine tokens
// need 8 * 10 scores each on average (half of them for the values), and logits of 10 words once.
TEST(SpeedModel, BoundsPromptsByProductsOrWeights) {
  ModelConfig config;
  config.n_layers = 1, config.hidden = 8, config.n_heads = 2, config.n_kv_heads = 1, config.head_dim = 4;
  config.ffn = 16, config.n_vocab = 10, config.layers = {{}};
  const double flops = 2 * (576 + 80) * 9 + 2 * 8 * 10;
  EXPECT_DOUBLE_EQ(prefill_bound(kRound, config, 100, 9), 9 / (flops / 1e9));
  EXPECT_DOUBLE_EQ(prefill_bound(kRound, config, 1'000'000, 9), 9 / 1e-3);
}

TEST(SpeedModel, KnowsGpusByName) {
  EXPECT_EQ(gpu_named("h200").target, ptx::sm_90);
  EXPECT_EQ(gpu_named("4090").target, ptx::sm_89);
  EXPECT_THAT(error_of([] { gpu_named("h300"); }), HasSubstr("expected one of h200, h100, h100-pcie, 4090"));
  const std::pair<const char*, const char*> drivers[] = {
      {"NVIDIA H200", "h200"},
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"NVIDIA H100 PCIe", "h100-pcie"},
      {"NVIDIA GeForce RTX 4090", "4090"},
      {"h100", "h100"},
      {"h100-pcie", "h100-pcie"},
  };
  for (const auto& [name, gpu] : drivers) {
    ASSERT_NE(gpu_of_driver(name), nullptr) << name;
    EXPECT_EQ(gpu_of_driver(name)->name, gpu) << name;
  }
  for (const char* name : {"NVIDIA GH200 480GB", "NVIDIA A100-SXM4-80GB", "Emulated sm_90"})
    EXPECT_EQ(gpu_of_driver(name), nullptr) << name;
}

// Each set is slower than the one before. Measured properties of a GPU stay: bandwidth, processors, clocks.
TEST(SpeedModel, HasThreeSetsOfConstants) {
  for (const GpuTraits& gpu : known_gpus()) {
    const GpuTraits frozen = with_constants(gpu, ConstantSet::kFrozen);
    EXPECT_EQ(barrier_seconds(frozen), barrier_seconds(gpu)) << gpu.name;
    EXPECT_EQ(frozen.instruction_cycles, gpu.instruction_cycles) << gpu.name;
    const GpuTraits expected = with_constants(gpu, ConstantSet::kExpected),
                    harsh = with_constants(gpu, ConstantSet::kHarsh);
    EXPECT_GT(barrier_seconds(expected), barrier_seconds(gpu)) << gpu.name;
    EXPECT_GT(expected.l2_seconds, gpu.l2_seconds) << gpu.name;
    EXPECT_GT(harsh.memory_seconds, expected.memory_seconds) << gpu.name;
    EXPECT_GT(harsh.instruction_cycles, expected.instruction_cycles) << gpu.name;
    EXPECT_EQ(harsh.bytes_per_second, gpu.bytes_per_second) << gpu.name;
  }
  EXPECT_EQ(constant_set_named("harsh"), ConstantSet::kHarsh);
  EXPECT_THAT(error_of([] { constant_set_named("fair"); }), HasSubstr("expected frozen, expected or harsh"));
}

// A warp's 32 lanes count once: 2 blocks of 2 warps, each with the instructions of the text.
TEST(CountedWork, IsOfWarpsThatReallyRan) {
  ptx::Builder b("loop", ptx::sm_80);
  ptx::Global<ptx::u32> y = b.global<ptx::u32>("y", 256);
  b.region("turns", [&] { b.for_("turn", 0, 10, 1, [&](ptx::Reg<ptx::u32> turn) { y.store(turn, turn); }); });
  const ptx::Kernel kernel = b.finish(ptx::Launch{2, 64});
  const uint64_t in_loop = 5;  // address, store, add, compare, branch
  const uint64_t around = 4;   // parameter, its space, the counter's start, ret
  const InstructionCount count = count_instructions(kernel, {}, {.blocks = kernel.launch.blocks}, "turns");
  EXPECT_EQ(count.all, 2 * 2 * (10 * in_loop + around));
  EXPECT_GE(count.of_region, 2 * 2 * 10 * in_loop);
  EXPECT_LT(count.of_region, count.all);
}

LaunchList list_of(const char* shape, PassKind kind = PassKind::kDecode, uint32_t columns = 1) {
  return launches_of(model_shape(shape), {kind, columns, 32768});
}

// Counted once for all tests.
const PassWork& token_of(const std::string& shape, const char* gpu = "h200") {
  static std::map<std::string, PassWork> all;
  const std::string key = shape + gpu;
  if (!all.contains(key)) all.emplace(key, PassWork(list_of(shape.c_str()), gpu_named(gpu).target));
  return all.at(key);
}

const KernelLaunch& first_launch(const PassWork& token, PhaseKind phase) {
  const KernelLaunch* found = nullptr;
  for_each_launch(token.list(), [&](const KernelLaunch& launch, uint32_t) {
    if (found == nullptr && launch.phase == phase) found = &launch;
  });
  return *found;
}

// Attention at long contexts, extrapolated from short ones, equals a real count.
TEST(CountedWork, OfLongAttentionFollowsFromShort) {
  const PassWork& token = token_of("qwen2.5-0.5b");
  const KernelLaunch& launch = first_launch(token, PhaseKind::kAttention);
  for (const uint32_t position : {0u, 511u, 1535u}) {
    const ptx::Dimensions grid = attention_grid(std::get<AttentionSpec>(launch.spec), position + 1);
    const auto run = static_cast<double>(token.count(launch, {.blocks = grid, .position = position}).all);
    EXPECT_NEAR(token.work_of(launch, 1, position).instructions(), run, 0.002 * run) << position;
  }
}

// A unit of 32 weights has some 18 bytes and takes some 80 lane instructions. Counting a grid twice would give more.
TEST(CountedWork, OfProductsIsLessThanAWarpInstructionAByte) {
  for (const KernelGroup& group : token_of("qwen2.5-0.5b").at(0)) {
    for (const KernelWork& kernel : group.kernels) {
      if (!kernel.name.starts_with("gemv_")) continue;
      EXPECT_LT(kernel.instructions(), static_cast<double>(kernel.bytes)) << kernel.name;
      EXPECT_GT(kernel.instructions(), static_cast<double>(kernel.bytes) / 25) << kernel.name;
      EXPECT_GT(kernel.start_instructions, 0) << kernel.name;
    }
  }
}

// A work model waits for as many loads as the kernel's PTX makes, in sequence or together.
TEST(WorkModels, AreThoseOfTheText) {
  const PassWork& token = token_of("qwen2.5-3b");
  const auto loads_of_a_warp = [&](const KernelLaunch& launch, const ptx::Dimensions& blocks, uint32_t position,
                                   const char* region) {
    const ptx::Kernel& kernel = token.kernel_of(launch);
    const auto warps = static_cast<double>(blocks.total() * kernel.launch.threads.total() / ptx::kWarpSize);
    const InstructionCount count = token.count(launch, {.blocks = blocks, .position = position}, region);
    return static_cast<double>(count.loads_of_region) / warps;
  };
  const auto fill_loads = [&](const KernelLaunch& launch) {
    return loads_of_a_warp(launch, token.kernel_of(launch).launch.blocks, 0, "normalise");
  };
  const KernelLaunch& down = first_launch(token, PhaseKind::kDown);
  const GemvPlan down_plan = plan_of(std::get<GemvSpec>(down.spec));
  const double fill = fill_loads(down);  // some warps have one round less
  const uint32_t at_once = 2 * down_plan.prefetched_fill_rounds();
  EXPECT_EQ(gemv_work_model(down_plan).start.l2, std::ceil(fill / at_once)) << fill << ", " << at_once << " at once";
  const KernelLaunch& gate_up = first_launch(token, PhaseKind::kGateUp);
  const double both = fill_loads(gate_up);  // two of x, two of gamma
  EXPECT_EQ(gemv_work_model(plan_of(std::get<GemvSpec>(gate_up.spec))).start.common, std::ceil(both / 4)) << both;
  const KernelLaunch& attend = first_launch(token, PhaseKind::kAttention);
  const auto& attention = std::get<AttentionSpec>(attend.spec);
  const ptx::Dimensions grid = attention_grid(attention, 64);
  const double keys = loads_of_a_warp(attend, grid, 63, "keys"),
               values = loads_of_a_warp(attend, grid, 63, "values");  // 16 and 8 bytes per lane
  const WorkModel model = attention_work_model(attention, 64);
  EXPECT_EQ(model.piece.memory, 1) << "all at once";
  EXPECT_EQ(static_cast<double>(model.bytes_in_flight), (keys * 16 + values * 8) * ptx::kWarpSize * model.warps);
}

TEST(WorkModels, OfExpertOrderGoTwiceOverTheUses) {
  EXPECT_EQ(expert_order_work_model({128, 8, 64, 512}).piece.l2, 2 * 4) << "of 32 warps";
  EXPECT_EQ(expert_order_work_model({1024, 8, 64, 512}).piece.l2, 2 * 16) << "of 8";
}

TEST(WorkModels, OfGroupedProductsShareTheUsesAmongExperts) {
  const GemmSpec down{.weights = TensorType::kQ4_K, .rows = 2048, .k = 768, .columns_per_block = 64, .experts = 128};
  EXPECT_EQ(gemm_work_model(down, ptx::sm_80, 4096).pieces, 128 * gemm_grid(down, 4096).y) << "32 assignments each";
}

// The bandwidth bound: published bytes of these models over the same bandwidths.
TEST(PredictedSpeed, OfBytesAloneIsTheRoofline) {
  const struct {
    const char *shape, *gpu;
    uint32_t position;
    double tokens_per_second;
  } rows[] = {
      {"qwen2.5-0.5b", "h200", 0, 10980}, {"qwen2.5-0.5b", "h200", 32767, 5410}, {"qwen2.5-3b", "h200", 4096, 2073},
      {"qwen2.5-0.5b", "4090", 0, 2426},  {"qwen2.5-0.5b", "4090", 32767, 1196}, {"qwen2.5-7b", "4090", 32767, 152},
  };
  for (const auto& row : rows) {
    const PassWork& work = token_of(row.shape, row.gpu);
    const TokensPerSecond speed = predict(gpu_named(row.gpu), work.at(row.position), work.barriers());
    EXPECT_NEAR(speed.bandwidth, row.tokens_per_second, 0.03 * row.tokens_per_second) << row.shape << " on " << row.gpu;
    EXPECT_LT(speed.stream, speed.graph) << row.shape;
    EXPECT_LT(speed.graph, speed.persistent) << row.shape;
    EXPECT_LT(speed.persistent, speed.bandwidth) << row.shape;
  }
}

const KernelGroup& group_of(const std::vector<KernelGroup>& token, PhaseKind phase) {
  return *std::ranges::find_if(token,
                               [&](const KernelGroup& g) { return g.phase == phase && g.form != Form::kSeparate; });
}

TEST(PredictedSpeed, OfPartsFollowsFromTheGrid) {
  const GpuTraits& gpu = gpu_named("h200");
  EXPECT_EQ(persistent_blocks(gpu), 132u);
  EXPECT_NEAR(barrier_seconds(gpu), 0.76e-6, 0.01e-6);
  for (const auto& [shape, barriers] :
       {std::pair("qwen2.5-1.5b", 144u), std::pair("qwen2.5-3b", 184u), std::pair("qwen2.5-7b", 144u)})
    EXPECT_EQ(token_of(shape).barriers(), barriers) << shape;
  const std::vector<KernelGroup> token = token_of("qwen2.5-1.5b").at(63), later = token_of("qwen2.5-1.5b").at(4095);
  const Rounds of_gate_up = rounds(gpu, group_of(token, PhaseKind::kGateUp));
  EXPECT_EQ(of_gate_up.dealt, 3u);
  EXPECT_NEAR(of_gate_up.even, 8960 / 2 / (132.0 * 16), 0.005) << "two rows per step of a warp";
  const KernelGroup& attention = group_of(later, PhaseKind::kAttention);
  EXPECT_NEAR(rounds(gpu, attention).even, 128.0 / 264, 1e-9) << "teams with work, of all";
}

// Prefetches of a phase exceed neither its reads nor the size of the cache.
TEST(PredictedSpeed, AsksAheadForAtMostEightMegabytesAPhase) {
  for (const char* shape : {"qwen2.5-1.5b", "qwen3.5-35b-a3b"}) {
    std::map<PhaseKind, uint64_t> ahead;  // for the last layer
    for (const KernelGroup& group : token_of(shape).at(4095)) {
      uint64_t bytes = 0;
      for (const KernelWork& work : group.kernels) {
        EXPECT_LE(work.model.bytes_ahead, work.bytes) << work.name;
        bytes += work.model.bytes_ahead;
      }
      EXPECT_LE(bytes, kMaxBytesAhead) << name_of(group.phase);
      if (bytes > 0) ahead[group.phase] = bytes;
    }
    EXPECT_TRUE(ahead.contains(PhaseKind::kOutput)) << shape;
    EXPECT_TRUE(ahead.contains(PhaseKind::kAttention)) << shape;
    EXPECT_EQ(ahead.at(PhaseKind::kLogits), kMaxBytesAhead) << shape;
  }
}

constexpr uint32_t kPrompt = 512;

PassWork pass_of(const char* shape, PassKind kind, uint32_t columns) {
  return {list_of(shape, kind, columns), gpu_named("h200").target, &token_of(shape)};
}

// Few sequences use the products of decode, so their bits stay the same, as long as that costs next to nothing.
TEST(PredictedSpeed, OfFewSequencesIsAsGoodByATokensProducts) {
  const auto ratio = [](const char* shape, uint32_t n) {
    const auto rate = [&](PassKind kind) {
      return predict(gpu_named("h200"), pass_of(shape, kind, n).at(1023), 0).graph;
    };
    return rate(PassKind::kSmallBatch) / rate(PassKind::kBatch);
  };
  for (const char* shape : {"qwen2.5-1.5b", "qwen2.5-3b", "qwen2.5-7b"}) {
    EXPECT_GT(ratio(shape, kFewSequences), 0.92) << shape;
    EXPECT_LT(ratio(shape, 2 * kFewSequences), 0.85) << shape;
  }
}

// A token's bytes are those of the experts that it uses.
TEST(PredictedSpeed, OfMixturesIsOfTheExpertsInUse) {
  const GpuTraits& gpu = gpu_named("h200");
  const struct {
    const char* shape;
    double gigabytes;  // per token, as in shapes_test
    double all;        // all matrices of the file except the embedding
  } rows[] = {{"qwen3-30b-a3b", 1.919, 18.37}, {"qwen3.5-35b-a3b", 1.971, 20.87}};
  constexpr double kPacking = 0.04;  // overhead of packed weights, and activations
  for (const auto& row : rows) {
    const PassWork& work = token_of(row.shape);
    const TokensPerSecond speed = predict(gpu, work.at(0), work.barriers());
    const double state = 2.0 * model_shape(row.shape).config.delta_state_bytes();  // read and written
    const double expected = row.gigabytes * 1e9 + state;
    EXPECT_NEAR(gpu.bytes_per_second / speed.bandwidth, expected, kPacking * expected) << row.shape;
    EXPECT_NEAR(static_cast<double>(work.weight_bytes()) / 1e9, row.all, kPacking * row.all) << row.shape;
    EXPECT_LT(speed.graph, speed.persistent);
    EXPECT_LT(speed.stream, speed.graph);
    EXPECT_LT(speed.graph, speed.bandwidth);
  }
}

// Predictions for the current kernels. They change only with work models, bytes and instructions, or with a measured
// constant. A changed kernel needs new values here; a row that differs prints them.
TEST(PredictedSpeed, IsPinned) {
  constexpr auto kFrozen = ConstantSet::kFrozen, kExpected = ConstantSet::kExpected, kHarsh = ConstantSet::kHarsh;
  const struct {
    const char *shape, *gpu;
    ConstantSet constants;
    double at_1, at_4k, at_32k;  // tokens per second of the persistent decoder after so many keys
    double of_prompt;            // prompt of 512, in a stream
  } rows[] = {
      {"qwen2.5-1.5b", "h200", kFrozen, 2410.0, 2136.8, 1493.6, 115194},
      {"qwen2.5-1.5b", "h200", kExpected, 1960.2, 1699.5, 1289.9, 113635},
      {"qwen2.5-1.5b", "h200", kHarsh, 1655.4, 1463.4, 1119.0, 81075},
      {"qwen2.5-1.5b", "h100", kFrozen, 2023.0, 1826.9, 1185.4, 111147},
      {"qwen2.5-1.5b", "h100", kExpected, 1740.3, 1531.7, 1070.2, 109698},
      {"qwen2.5-1.5b", "h100", kHarsh, 1520.4, 1357.0, 990.3, 79135},
      {"qwen2.5-3b", "h200", kFrozen, 1484.7, 1347.7, 1008.5, 65480},
      {"qwen2.5-3b", "h200", kExpected, 1290.6, 1141.9, 906.8, 64995},
      {"qwen2.5-3b", "h200", kHarsh, 1078.6, 971.2, 764.4, 49383},
      {"qwen2.5-3b", "h100", kFrozen, 1174.3, 1086.9, 774.3, 63382},
      {"qwen2.5-3b", "h100", kExpected, 1061.1, 958.5, 718.3, 62927},
      {"qwen2.5-3b", "h100", kHarsh, 979.3, 890.0, 685.6, 48189},
      {"qwen2.5-7b", "h200", kFrozen, 806.4, 764.6, 584.9, 33702},
      {"qwen2.5-7b", "h200", kExpected, 748.4, 701.1, 551.6, 33595},
      {"qwen2.5-7b", "h200", kHarsh, 600.2, 572.8, 447.8, 31727},
      {"qwen2.5-7b", "h100", kFrozen, 605.4, 578.1, 432.7, 32917},
      {"qwen2.5-7b", "h100", kExpected, 583.4, 554.2, 420.1, 32816},
      {"qwen2.5-7b", "h100", kHarsh, 544.1, 521.6, 400.5, 31052},
      {"qwen2.5-0.5b", "4090", kFrozen, 2044.2, 1852.2, 1089.1, 133714},
  };
  std::map<std::string, PassWork> prompts;  // by shape: GPUs for which one is pinned have the same target
  for (const auto& row : rows) {
    const GpuTraits gpu = with_constants(gpu_named(row.gpu), row.constants);
    const PassWork& work = token_of(row.shape, row.gpu);
    const auto at = [&](uint32_t keys) { return predict(gpu, work.at(keys - 1), work.barriers()).persistent; };
    if (!prompts.contains(row.shape)) prompts.emplace(row.shape, pass_of(row.shape, PassKind::kPrefill, kPrompt));
    const double found[] = {at(1), at(4096), at(32768), kPrompt / prompt_seconds(gpu, prompts.at(row.shape), kPrompt)};
    const double expected[] = {row.at_1, row.at_4k, row.at_32k, row.of_prompt};
    char line[160];
    std::snprintf(line, sizeof line, "%s, %s, %s: %.1f, %.1f, %.1f, %.0f", row.shape, row.gpu,
                  std::string(name_of(row.constants)).c_str(), found[0], found[1], found[2], found[3]);
    for (size_t i = 0; i < std::size(found); ++i) EXPECT_NEAR(found[i], expected[i], 0.002 * expected[i]) << line;
  }
  for (const auto& [n, expected] : {std::pair(8u, 5989.0), std::pair(32u, 18832.0), std::pair(64u, 28441.0)}) {
    const PassWork work = pass_of("qwen2.5-3b", kind_of_tokens(n), n);
    EXPECT_NEAR(n * predict(gpu_named("h200"), work.at(1023), 0).graph, expected, 0.002 * expected)
        << "of " << n << " sequences";
  }
}

// The same for hybrids and mixtures: a token by a graph and by the persistent decoder, and a prompt of 512 by a stream.
TEST(PredictedSpeed, IsPinnedOfHybridsAndMixtures) {
  const struct {
    const char *shape, *gpu;
    double at_64, at_32k, persistent_at_64, of_prompt;
  } rows[] = {
      {"qwen3-30b-a3b", "h200", 523.2, 321.9, 848.3, 32468.0},
      {"qwen3.5-35b-a3b", "h200", 442.1, 404.3, 863.3, 23199.0},
  };
  for (const auto& row : rows) {
    const GpuTraits& gpu = gpu_named(row.gpu);
    const PassWork& work = token_of(row.shape, row.gpu);
    const auto check = [&](const char* what, double found, double expected) {
      EXPECT_NEAR(found, expected, 0.002 * expected) << row.shape << " on " << row.gpu << ", " << what;
    };
    check("64 keys", predict(gpu, work.at(63), 0).graph, row.at_64);
    check("32k keys", predict(gpu, work.at(32767), 0).graph, row.at_32k);
    check("64 keys, persistent", predict(gpu, work.at(63), work.barriers()).persistent, row.persistent_at_64);
    check("prompt", 512 * predict(gpu, pass_of(row.shape, PassKind::kPrefill, 512).at(0), 0).stream, row.of_prompt);
  }
}

// Runs a hybrid mixture: the model counts each kernel as often as it is launched, with the instructions that the
// emulator counts.
class PricedPass : public testing::Test {
 protected:
  struct Row {
    double calls = 0, instructions = 0, warps = 0;
  };
  using Rows = std::map<std::string, Row>;

  static TinyModelSpec spec() {
    return {.architecture = "qwen35moe",
            .n_layers = 2,
            .hidden = 256,
            .n_heads = 4,
            .n_kv_heads = 2,
            .head_dim = 64,
            .rope_dims = 32,
            .experts = {.n = 8, .n_used = 2, .ffn = 256, .shared_ffn = 256, .normalises = true},
            .delta_net = {.n_k_heads = 4, .n_v_heads = 8, .head_dim = 32, .conv_kernel = 4, .tiled = true}};
  }
  LaunchList list(PassKind kind, uint32_t columns) const {
    return launches_of({model_.config, formats_of(model_.tensors)}, {kind, columns, 64});
  }
  static Rows priced(const std::vector<KernelGroup>& pass) {
    Rows rows;
    for (const KernelGroup& group : pass) {
      for (const KernelWork& work : group.kernels) {
        if (work.name.starts_with("sample_")) continue;
        Row& row = rows[work.name];
        ++row.calls, row.instructions += work.instructions();
        row.warps += static_cast<double>(work.blocks * work.block_warps);
      }
    }
    return rows;
  }
  // Counters of the second of two passes of that length.
  Rows launched(const GpuSizes& sizes, uint32_t n_sequences, uint32_t n_tokens) const {
    Decoder decoder(model_.config,
                    make_gpu_steps(model_.config, model_.tensors, {test_device(), sizes, LaunchMode::kStream}));
    const std::vector<Token> tokens = some_tokens(n_tokens);
    const auto pass = [&](uint32_t position) {
      std::vector<warpchat::Run> runs;
      for (uint32_t i = 0; i < n_sequences; ++i) runs.push_back({i, position, tokens, Logits::kLast});
      EXPECT_TRUE(decoder.forward(runs));
      decoder.wait();
    };
    const auto add_to = [&](Rows& rows, double sign) {
      for (const OperationProfile& row : decoder.steps().profile().rows()) {
        if (row.calls == 0) continue;
        rows[row.name].calls += sign * static_cast<double>(row.calls);
        rows[row.name].instructions += sign * static_cast<double>(row.counters.instructions);
      }
    };
    decoder.steps().set_measuring(true);
    Rows rows;
    pass(0);
    add_to(rows, -1);
    pass(n_tokens);
    add_to(rows, 1);
    return rows;
  }
  static void expect_like(const Rows& priced, const Rows& launched) {
    constexpr double kOfZeros = 0.06;    // routing over buffers of zeros branches differently
    constexpr double kOfShares = 0.2;    // experts do not share a prompt equally
    constexpr double kOfArguments = 60;  // per call and warp: a launch's counters leave these out
    for (const auto& [name, row] : launched) {
      ASSERT_TRUE(priced.contains(name)) << name;
      EXPECT_EQ(priced.at(name).calls, row.calls) << name;
      const double factor = name.starts_with("expert") ? kOfShares : kOfZeros;
      EXPECT_NEAR(priced.at(name).instructions, row.instructions,
                  factor * row.instructions + kOfArguments * priced.at(name).warps)
          << name;
    }
    EXPECT_EQ(priced.size(), launched.size());
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(spec(), /*seed=*/1);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  const ptx::Target target_ = test_device().gpu.target();
  const PassWork token_{list(PassKind::kDecode, 1), target_};
};

TEST_F(PricedPass, OfAToken) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << "only the emulator counts instructions";
  expect_like(priced(token_.at(1)), launched({.context = 64}, 1, 1));
}

TEST_F(PricedPass, OfAPrompt) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << "only the emulator counts instructions";
  const PassWork work(list(PassKind::kPrefill, 16), target_, &token_);
  expect_like(priced(work.at(16)), launched({.context = 64, .batch = 16}, 1, 16));
}

TEST_F(PricedPass, OfSeveralSequences) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << "only the emulator counts instructions";
  const PassWork work(list(PassKind::kSmallBatch, 3), target_, &token_);
  expect_like(priced(work.at(1)), launched({.context = 64, .sequences = 3}, 3, 1));
}

}  // namespace
}  // namespace warpchat
