// The persistent decoder against the separate kernels, to the bit, and with hosts that stop it or are slow.
#include "kernels/persistent/persistent_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/matmul/gemv_plan.h"
#include "kernels/persistent/phase_program.h"
#include "kernels/shapes.h"
#include "tests/kernels/tiny_decoder.h"

namespace warpchat {
namespace {

using enum TensorType;

const LayerVectors<bool> kBiases = vectors_of(Architecture::kQwen2);
LayerFormats all(TensorType type) { return {{type, type, type, type, type, type, type}, kBiases}; }
LayerFormats mixed() { return {{kQ8_0, kF16, kQ8_0, kF16, kF16, kF16, kQ8_0}, kBiases}; }
LayerFormats plain(bool qk_norm) {
  LayerFormats formats = all(kF16);
  formats.has = vectors_of(qk_norm ? Architecture::kQwen3 : Architecture::kLlama);
  return formats;
}

// The biases that a layer has: all, or only some, so that a token function needs a variant for each.
LayerFormats with_biases(bool of_attention, bool of_ffn, TensorType type = kF16) {
  LayerFormats formats = all(type);
  formats.has.output_bias = of_attention;
  formats.has.gate_bias = formats.has.up_bias = formats.has.down_bias = of_ffn;
  return formats;
}

LayerFormats with_experts(TensorType gate, TensorType down, TensorType router = kF32) {
  LayerFormats formats = plain(/*qk_norm=*/true);
  formats.experts = {router, gate, gate, down, gate, gate, down};
  return formats;
}
LayerFormats with_delta_net(TensorType type, LayerFormats formats = plain(/*qk_norm=*/true)) {
  formats.delta = {type, type, kF32, kF32};
  return formats;
}
constexpr LayerConfig kDense{}, kExperts{Mixer::kAttention, Ffn::kExperts}, kDelta{Mixer::kDeltaNet, Ffn::kDense},
    kDeltaExperts{Mixer::kDeltaNet, Ffn::kExperts};

struct DecoderCase {
  const char* name;
  TinyDecoderSpec spec;
  uint32_t position = 0;
};
std::ostream& operator<<(std::ostream& out, const DecoderCase& c) { return out << c.name; }
const DecoderCase kCases[] = {
    {"formats_differ_by_layer", {.layers = {all(kF16), mixed()}}, 3},
    {"layers_rotate_apart", {.n_ropes = 2, .layers = {all(kF16), all(kF16), all(kF16)}}, 3},
    {"qk_norm_without_bias", {.qk_norm = true, .bias = false, .layers = {plain(true), plain(true)}}},
    {"biases_of_every_product", {.layers = {with_biases(true, true), with_biases(true, true)}, .output_bias = true}, 3},
    {"biases_of_some_layers",
     {.layers = {with_biases(true, false, kQ8_0), with_biases(false, true, kQ8_0), with_biases(true, true)}}},
    {"several_splits_and_choices",  // splits of the attention, and slots of the sampler
     {.hidden = 32, .ffn = 40, .n_vocab = 4500, .context = 300, .layers = {all(kF16), all(kF16)}},
     258},
    {"eight_heads_at_once_load_less_ahead",
     {.hidden = 32, .ffn = 40, .n_heads = 8, .n_kv_heads = 1, .head_dim = 64, .layers = {all(kF16)}},
     77},
    {"teams_are_fewer_than_fit",  // attention's shared memory limits the teams
     {.hidden = 32, .ffn = 40, .n_heads = 8, .n_kv_heads = 1, .head_dim = 256, .layers = {all(kF16)}},
     130},
    {"experts",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_experts(kF16, kF16), with_experts(kQ8_0, kF16, kF16)},
      .kinds = {kExperts, kExperts},
      .experts = {.n = 6, .n_used = 2, .ffn = 32, .normalises = true}},
     5},
    {"experts_and_a_shared_one",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_experts(kF16, kQ8_0)},
      .kinds = {kExperts},
      .experts = {.n = 40, .n_used = 5, .ffn = 32, .shared_ffn = 96}}},
    {"dense_layers_among_experts",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_experts(kF32, kF32), with_experts(kF32, kF32), with_experts(kF32, kF32)},
      .kinds = {kDense, kExperts, kDense},
      .experts = {.n = 3, .n_used = 3, .ffn = 16, .shared_ffn = 16}}},
    {"delta_nets",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_delta_net(kF16), with_delta_net(kF16), with_delta_net(kQ8_0), with_delta_net(kF16)},
      .kinds = {kDelta, kDelta, kDense, kDelta},
      .delta_net = {.n_k_heads = 1, .n_v_heads = 3, .head_dim = 32, .conv_kernel = 4}},
     9},
    {"delta_nets_of_three_warps_a_vector",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_delta_net(kF16)},
      .kinds = {kDelta},
      .delta_net = {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 96, .conv_kernel = 2, .tiled = true}}},
    {"delta_nets_and_experts",
     {.hidden = 32,
      .qk_norm = true,
      .layers = {with_delta_net(kF16, with_experts(kF16, kF16)), with_delta_net(kF16, with_experts(kF16, kF16)),
                 with_delta_net(kF16, with_experts(kF16, kF16))},
      .kinds = {kDeltaExperts, kExperts, kDeltaExperts},
      .experts = {.n = 5, .n_used = 2, .ffn = 32, .shared_ffn = 32},
      .delta_net = {.n_k_heads = 2, .n_v_heads = 2, .head_dim = 32, .conv_kernel = 4}}},
};

class PersistentDecoder : public ::testing::TestWithParam<DecoderCase> {};

TEST_P(PersistentDecoder, GivesTheBitsOfTheSeparateKernels) {
  const DecoderCase& c = GetParam();
  constexpr uint32_t kSteps = 4;
  TinyDecoder decoder(c.spec, ptx::sm_75);
  const Decoded expected = decoder.separately(7, c.position, kSteps);
  const ptx::Kernel kernel = decoder.persistent();
  for (uint32_t grid : {1, 2, 4}) {
    DecodeRequest request{.max_steps = kSteps, .returns_rows = 1};
    const TinyDecoder::Run run = decoder.new_run(7, c.position, request, grid);
    ASSERT_EQ(decoder.launch(kernel, run, grid), "") << "grid " << grid;
    EXPECT_EQ(decoder.decoded(run, kSteps), expected) << "grid " << grid;
    EXPECT_EQ(run.host->end, static_cast<uint32_t>(DecodeEnd::kMaxSteps));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PersistentDecoder, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

constexpr uint32_t kToken = 7, kGrid = 3;

// A decoder with one small layer, for tests of the launch itself.
struct SmallDecoder {
  TinyDecoder decoder{
      {.hidden = 32, .ffn = 40, .n_heads = 2, .n_kv_heads = 1, .n_vocab = 100, .context = 20, .layers = {all(kF16)}},
      ptx::sm_75};
  ptx::Kernel kernel = decoder.persistent();
};

uint32_t end_of(const TinyDecoder::Run& run) { return run.host->end; }
uint32_t end_as(DecodeEnd end) { return static_cast<uint32_t>(end); }

TEST(PersistentDecoderQueue, ForcedTokensComeInPlaceOfChoices) {
  SmallDecoder small;
  const std::vector<uint32_t> forced = {kToken, 99, 0, 51, 7};
  const auto n_steps = static_cast<uint32_t>(forced.size());
  const Decoded expected = small.decoder.separately(kToken, 2, n_steps, forced);
  const DecodeRequest request{.max_steps = n_steps, .returns_rows = 1};
  const TinyDecoder::Run run = small.decoder.new_run(kToken, 2, request, kGrid, forced);
  ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid), "");
  EXPECT_EQ(small.decoder.decoded(run, n_steps), expected);
}

TEST(PersistentDecoderSampling, DrawsAsItsKernelDoes) {
  constexpr uint32_t kSteps = 6;
  SmallDecoder small;
  SamplerState state{.repeat_penalty = 1.3f, .penalty_window = 8, .top_k = 20, .top_p = 0.95f, .temperature = 1.5f};
  for (uint64_t seed : {1, 2}) {
    state.seed = seed;
    small.decoder.set_sampler(state, {3, 1, 4, 1, 5});
    small.kernel = small.decoder.persistent();
    const Decoded expected = small.decoder.separately(kToken, 2, kSteps);
    const DecodeRequest request{.max_steps = kSteps, .returns_rows = 1};
    const TinyDecoder::Run run = small.decoder.new_run(kToken, 2, request, kGrid);
    ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid, reordered(seed)), "");
    EXPECT_EQ(small.decoder.decoded(run, kSteps), expected) << "seed " << seed;
  }
}

// The sampler's history holds the tokens that were used, forced ones included, not the discarded choices.
TEST(PersistentDecoderSampling, BeginsBehindTheQueue) {
  SmallDecoder small;
  small.decoder.set_sampler({.presence_penalty = 3, .penalty_window = 8, .temperature = 2, .seed = 5}, {});
  small.kernel = small.decoder.persistent();
  const TinyDecoder::Run run = small.decoder.new_run(kToken, 0, {.max_steps = 6}, kGrid, {kToken, 9, 8});
  ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid), "");
  const std::vector<uint32_t> tokens = small.decoder.decoded(run, 6).tokens;
  EXPECT_EQ(tokens[0], 9u);
  EXPECT_EQ(tokens[1], 8u);
  SamplerState after;
  std::memcpy(&after, reinterpret_cast<const void*>(run.sampler), sizeof after);
  EXPECT_EQ(after.n_accepted, 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t accepted = 0;
    std::memcpy(&accepted, run.sampler + sizeof after + i * 4, sizeof accepted);
    EXPECT_EQ(accepted, tokens[i + 2]);
  }
}

struct EndCase {
  const char* name;
  uint32_t token = kToken, position = 0;
  DecodeRequest request;
  std::vector<uint32_t> forced;
  DecodeEnd end;
  uint32_t n_steps;  // as the host sees them
};

TEST(PersistentDecoderEnd, HasItsReason) {
  SmallDecoder small;
  const std::vector<uint32_t> choices = small.decoder.separately(kToken, 0, 8).tokens;
  const uint32_t wanted = choices[3];
  const auto first = static_cast<uint32_t>(std::find(choices.begin(), choices.end(), wanted) - choices.begin()) + 1;
  const EndCase cases[] = {
      {"most_steps", kToken, 0, {.max_steps = 3}, {}, DecodeEnd::kMaxSteps, 3},
      {"end_token_is_returned",
       kToken,
       0,
       {.max_steps = 8, .n_end_tokens = 2, .end_tokens = {1000, wanted}},
       {},
       DecodeEnd::kEndToken,
       first},
      {"end_token_before_most_steps",
       kToken,
       0,
       {.max_steps = first, .n_end_tokens = 1, .end_tokens = {wanted}},
       {},
       DecodeEnd::kEndToken,
       first},
      {"forced_end_token_goes_on",
       kToken,
       0,
       {.max_steps = 3, .n_end_tokens = 1, .end_tokens = {50}},
       {kToken, 50, 50, 50},
       DecodeEnd::kMaxSteps,
       3},
      {"last_position", kToken, 18, {.max_steps = 8}, {}, DecodeEnd::kCacheFull, 2},
      {"token_outside_the_vocabulary", 100, 0, {.max_steps = 8}, {}, DecodeEnd::kError, 0},
      {"forced_token_outside", kToken, 0, {.max_steps = 8}, {kToken, 5, 100}, DecodeEnd::kError, 1},
      {"position_outside_the_cache", kToken, 20, {.max_steps = 8}, {}, DecodeEnd::kError, 0},
  };
  for (const EndCase& c : cases) {
    const TinyDecoder::Run run = small.decoder.new_run(c.token, c.position, c.request, kGrid, c.forced);
    ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid), "") << c.name;
    EXPECT_EQ(end_of(run), end_as(c.end)) << c.name;
    uint32_t n_steps = 0;
    while (n_steps < c.request.max_steps && run.tokens[n_steps] != 0) ++n_steps;
    EXPECT_EQ(n_steps, c.n_steps) << c.name;
    EXPECT_EQ(run.error[0] != 0, c.end == DecodeEnd::kError) << c.name;
  }
}

TEST(PersistentDecoderHost, StopsWithinAToken) {
  SmallDecoder small;
  const TinyDecoder::Run run = small.decoder.new_run(kToken, 0, {.max_steps = 18}, kGrid);
  write_host_word(run.host->stop, 1u);
  ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid), "");
  EXPECT_EQ(end_of(run), end_as(DecodeEnd::kStopped));
  EXPECT_NE(run.tokens[0], 0u);
  EXPECT_EQ(run.tokens[1], 0u);
}

TEST(PersistentDecoderStamps, NameEveryPhaseInABoundedRing) {
  constexpr uint32_t kSteps = 2, kPhases = 9;  // for one layer
  SmallDecoder small;
  const StampRequest requests[] = {{0, 1}, {1, 64}, {kGrid, 8}};  // no block, one, and all with too few slots
  for (const StampRequest& stamps : requests) {
    const TinyDecoder::Run run = small.decoder.new_run(kToken, 0, {.max_steps = kSteps}, kGrid, {}, stamps);
    ASSERT_EQ(small.decoder.launch(small.decoder.persistent(true), run, kGrid), "");
    for (uint32_t block = 0; block < stamps.n_blocks; ++block) {
      const uint8_t* own = run.stamps + block * (16 + stamps.n_slots * sizeof(Stamp));
      uint32_t count = 0;
      std::memcpy(&count, own, sizeof count);
      ASSERT_EQ(count, kSteps * kPhases * 2);
      uint64_t before = 0;
      for (uint32_t i = count - std::min(count, stamps.n_slots); i < count; ++i) {
        Stamp stamp;
        std::memcpy(&stamp, own + 16 + i % stamps.n_slots * sizeof stamp, sizeof stamp);
        EXPECT_EQ(stamp.phase, (i / 2 % kPhases) | (i % 2 != 0 ? kEndOfPhase : 0));
        EXPECT_GE(stamp.time, before);
        before = stamp.time;
      }
    }
  }
}

TEST(PersistentDecoderSeeds, EveryScheduleGivesTheSame) {
  constexpr uint32_t kSteps = 2;
  SmallDecoder small;
  const Decoded expected = small.decoder.separately(kToken, 0, kSteps);
  const uint64_t n_seeds = std::getenv("WARPCHAT_FULL_TESTS") != nullptr ? 1000 : 20;
  for (uint64_t seed = 1; seed <= n_seeds; ++seed) {
    const DecodeRequest request{.max_steps = kSteps, .returns_rows = 1};
    const TinyDecoder::Run run = small.decoder.new_run(kToken, 0, request, kGrid);
    ASSERT_EQ(small.decoder.launch(small.kernel, run, kGrid, reordered(seed)), "") << "seed " << seed;
    ASSERT_EQ(small.decoder.decoded(run, kSteps), expected) << "seed " << seed;
  }
}

// A hybrid with experts, a recurrent state with a past, and forced tokens.
TEST(PersistentDecoderSeeds, GiveTheSameOfHybrids) {
  constexpr uint32_t kSteps = 3;
  const DecoderCase& c = *std::ranges::find(kCases, std::string_view("delta_nets_and_experts"), &DecoderCase::name);
  TinyDecoder decoder(c.spec, ptx::sm_75);
  const std::vector<uint32_t> forced = {kToken, 99};
  const Decoded expected = decoder.separately(kToken, 3, kSteps, forced);
  const ptx::Kernel kernel = decoder.persistent();
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const DecodeRequest request{.max_steps = kSteps, .returns_rows = 1};
    const TinyDecoder::Run run = decoder.new_run(kToken, 3, request, kGrid, forced);
    ASSERT_EQ(decoder.launch(kernel, run, kGrid, reordered(seed)), "") << "seed " << seed;
    ASSERT_EQ(decoder.decoded(run, kSteps), expected) << "seed " << seed;
  }
}

// The text has one barrier per phase, except that the first products and the logits share one. So the program counts
// the barriers that the kernel waits at.
TEST(PersistentDecoderBarriers, AreThoseOfTheProgram) {
  SmallDecoder small;
  const std::string text = small.kernel.text, arrival = "red.release.gpu.global.add.u64";
  uint64_t n = 0;
  for (size_t at = text.find(arrival); at != std::string::npos; at = text.find(arrival, at + 1)) ++n;
  EXPECT_EQ(n + 1, decoder_program(small.decoder.list()).phases.size());
}

struct PtxLines {
  explicit PtxLines(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  bool has(size_t i, std::string_view part) const { return lines[i].find(part) != std::string::npos; }
  size_t next(size_t from, std::string_view part) const {
    while (from < lines.size() && !has(from, part)) ++from;
    return from;
  }
  std::vector<std::string> lines;
};

// The names of registers in a line, from its first operand on.
std::vector<std::string> registers_in(const std::string& line) {
  std::vector<std::string> names;
  for (size_t at = line.find('%'); at != std::string::npos; at = line.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    names.push_back(line.substr(at, end - at));
  }
  return names;
}

constexpr const char* kDenseShapes[] = {"qwen2.5-1.5b", "qwen2.5-3b", "qwen3-4b"};
ptx::Kernel persistent_of(const char* name) {
  const ModelShape shape = model_shape(name);
  const LaunchList list =
      launch_list(text_decoder(shape.config), shape.config, shape.formats, {PassKind::kDecode, 1, 8192});
  return persistent_decoder({list, 64u, /*stamps=*/true}, ptx::sm_90);
}

// Before a product's function polls the barrier, it has requested weights, none of which an instruction reads: it would
// wait for memory. It has read nothing that another phase writes.
TEST(PersistentDecoderOrder, RequestsTheFirstWeightsBeforeTheBarrierOpens) {
  for (const char* name : kDenseShapes) {
    const PtxLines text(persistent_of(name).text);
    size_t n_functions = 0;
    for (size_t at = text.next(0, ".func "); at < text.lines.size(); at = text.next(at + 1, ".func ")) {
      if (!text.has(at, "_waits_")) continue;
      ++n_functions;
      const size_t poll = text.next(at, "ld.acquire.gpu.global.u64");
      ASSERT_LT(poll, text.next(at, "// tag: normalise")) << text.lines[at];
      std::set<std::string> loaded;
      for (size_t i = text.next(at, "{") + 1; i < poll; ++i) {
        const std::string& line = text.lines[i];
        EXPECT_FALSE(text.has(i, "ld.global") && !text.has(i, "ld.global.nc")) << line;
        const std::vector<std::string> registers = registers_in(line);
        if (text.has(i, "ld.global.nc")) {
          loaded.insert(registers.begin(), registers.end() - 1);  // the last one is the address
          EXPECT_FALSE(loaded.contains(registers.back())) << line;
          continue;
        }
        for (size_t j = 1; j < registers.size(); ++j) EXPECT_FALSE(loaded.contains(registers[j])) << line;
      }
      EXPECT_GE(loaded.size(), 6u) << text.lines[at];
    }
    EXPECT_EQ(n_functions, 4u) << name;
  }
}

// Between its arrival and its prefetch a block reads no global memory, which would take as long as the prefetch gains.
// Attention alone reads its position and the pages of its keys.
TEST(PersistentDecoderOrder, PrefetchesWithoutReadingTheTableFromMemory) {
  for (const char* name : kDenseShapes) {
    const PtxLines text(persistent_of(name).text);
    size_t n_prefetches = 0, n_reading = 0, arrival = 0;
    for (size_t i = text.next(0, ".entry"); i < text.lines.size(); ++i) {
      if (text.has(i, "red.release.gpu.global.add.u64")) arrival = i;
      if (!text.has(i, "weights_ahead")) continue;
      ++n_prefetches;
      n_reading += text.next(arrival, "ld.global") < i ? 1 : 0;
    }
    EXPECT_EQ(n_prefetches, 5u) << name;
    EXPECT_EQ(n_reading, 1u) << name;
  }
}

struct FlawCase {
  const char *name, *from, *to;
};
std::ostream& operator<<(std::ostream& out, const FlawCase& c) { return out << c.name; }
const FlawCase kFlaws[] = {
    {"arrival_without_release", "red.release.gpu.global.add.u64", "red.relaxed.gpu.global.add.u64"},
    {"wait_without_acquire", "ld.acquire.gpu.global.u64", "ld.relaxed.gpu.global.u64"},
    {"release_for_the_block_only", "red.release.gpu.global.add.u64", "red.release.cta.global.add.u64"},
};

class FlawedBarrier : public ::testing::TestWithParam<FlawCase> {};

// The race check reports the missing order under every schedule.
TEST_P(FlawedBarrier, IsFound) {
  const FlawCase& c = GetParam();
  SmallDecoder small;
  if (!small.decoder.device().is_emulated()) GTEST_SKIP() << "a GPU finds no races";
  std::string& text = small.kernel.text;
  size_t n_replaced = 0;
  for (size_t at = 0; (at = text.find(c.from, at)) != std::string::npos; ++n_replaced)
    text.replace(at, std::strlen(c.from), c.to);
  ASSERT_GT(n_replaced, 0u);
  const DecodeRequest request{.max_steps = 2, .returns_rows = 1};
  const TinyDecoder::Run run = small.decoder.new_run(kToken, 0, request, kGrid);
  const std::string fault = small.decoder.launch(small.kernel, run, kGrid);
  EXPECT_NE(fault.find("without order"), std::string::npos) << fault;
}

INSTANTIATE_TEST_SUITE_P(Cases, FlawedBarrier, ::testing::ValuesIn(kFlaws),
                         [](const auto& row) { return std::string(row.param.name); });

// Product code depends only on formats and on rows per warp, so a few variants serve all shapes.
TEST(ProductVariants, AreOneForEachFormat) {
  for (const std::string& name : shape_names()) {
    const ModelShape shape = model_shape(name);
    const LaunchList list =
        launch_list(text_decoder(shape.config), shape.config, shape.formats, {PassKind::kDecode, 1, 8192});
    const auto [normed, output, gate_up, down] = product_variants(list);
    const bool is_dense = !list.first<RouteSpec>() && !list.first<DeltaKernelSpec>();
    EXPECT_LE(normed.size(), is_dense ? 4u : 6u) << name;
    EXPECT_EQ(output.size(), 1u) << name;
    EXPECT_LE(gate_up.size(), 2u) << name;
    EXPECT_EQ(down.size(), 2u) << name;
    for_each_launch(list, [&, &variants = normed](const KernelLaunch& launch, uint32_t) {
      const GemvSpec* spec = product_of(launch);
      if (spec == nullptr || group_of(launch) != ProductGroup::kNormed) return;
      const uint32_t which = variant_of(variants, *spec);
      if (launch.phase == PhaseKind::kLogits) {
        EXPECT_EQ(which, 0u) << name;
      }
      EXPECT_EQ(variants.at(which).weights, spec->weights) << name;
      EXPECT_EQ(plan_of(variants.at(which)).rows_per_warp, plan_of(*spec).rows_per_warp) << name;
    });
  }
}

TEST(PersistentDecoderShares, FollowTheBytes) {
  struct Case {
    const char* name;
    std::vector<uint64_t> bytes;
    uint32_t n_blocks;
    std::vector<std::pair<uint32_t, uint32_t>> shares;  // first block, blocks
  };
  const Case cases[] = {
      {"one_product_takes_all", {5}, 264, {{0, 264}}},
      {"in_proportion", {600, 200, 200}, 13, {{0, 7}, {7, 3}, {10, 3}}},
      {"a_small_one_has_a_block", {1'000'000, 1}, 10, {{0, 9}, {9, 1}}},
      {"as_many_blocks_as_products", {9, 1, 1}, 3, {{0, 1}, {1, 1}, {2, 1}}},
      {"too_few_blocks_serve_each_in_turn", {9, 1, 1}, 2, {{0, 2}, {0, 2}, {0, 2}}},
  };
  for (const Case& c : cases) {
    std::vector<ProductRow> rows(c.bytes.size());
    std::vector<ProductRow*> pointers;
    for (ProductRow& row : rows) pointers.push_back(&row);
    share_blocks(pointers, c.bytes, c.n_blocks);
    std::vector<std::pair<uint32_t, uint32_t>> shares;
    for (const ProductRow& row : rows) shares.emplace_back(row.first_block, row.n_blocks);
    EXPECT_EQ(shares, c.shares) << c.name;
  }
}
}  // namespace
}  // namespace warpchat
