// The decoder on a GPU against the float64 reference. Here the GPU is the emulator; ctest runs it with all checks.
#include "engine/gpu/gpu_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/device_sampler.h"
#include "engine/driver/context.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/profile.h"
#include "kernels/sampling/mask_logits.h"
#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/batch_walk.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/faulty_driver.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;
using namespace ptx::cuda;

std::unique_ptr<Steps> gpu_steps(const DecodableModel& model, uint32_t context = 64,
                                 const DeviceChoice& on = test_device(), LaunchMode launch = LaunchMode::kStream) {
  return make_gpu_steps(model.config, model.tensors, {on, {.context = context}, launch, {}});
}

constexpr KvTypes kCodes{KvType::kQ8_0, KvType::kQ8_0}, kFloats{KvType::kF32, KvType::kF32};

Decoder gpu_decoder(const DecodableModel& model, uint32_t context = 64) {
  return Decoder(model.config, gpu_steps(model, context));
}

class GpuDecoder : public testing::TestWithParam<DecoderCase> {};

TEST_P(GpuDecoder, MatchesTheReference) {
  const DecodableModel model = load(GetParam());
  const std::vector<Token> tokens = some_tokens(11);
  const std::vector<double> expected = reference_logits(model.file, tokens);
  const struct {
    const char* name;
    std::vector<uint32_t> passes;
  } ways[] = {{"prefill", {8}}, {"one by one", {1}}, {"odd passes", {5, 1, 2, 3}}};
  for (const auto& way : ways) {
    Decoder decoder = gpu_decoder(model);
    expect_accuracy(compare_logits(decode(decoder, tokens, way.passes), expected, model.config.n_vocab), GetParam().gpu,
                    std::string(GetParam().name) + " gpu, " + way.name);
  }
}

// Formats that the kernels do not read are refused by name.
const std::map<std::string, std::string> kRefused = {
    {"hidden_no_multiple_of_32", "head_dim is 14, expected a multiple of 8"},
    {"formats_mixed_in_one_step", "incompatible formats"}};

std::vector<DecoderCase> cases_for_a_gpu() {
  std::vector<DecoderCase> cases;
  for (const DecoderCase& c : decoder_cases())
    if (!kRefused.contains(c.name)) cases.push_back(c);
  cases.push_back({"odd_sizes",
                   {.architecture = "qwen3",
                    .hidden = 84,
                    .ffn = 150,
                    .n_heads = 6,
                    .n_kv_heads = 3,
                    .head_dim = 24,
                    .formats = TinyFormats::all(TensorType::kF16)}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(EveryModel, GpuDecoder, testing::ValuesIn(cases_for_a_gpu()),
                         [](const auto& c) { return c.param.name; });

// Models with sliding windows have another RoPE base in those layers.
TEST(GpuLayers, RotateByTheirOwnBases) {
  const DecoderCase& c = decoder_cases()[0];
  DecodableModel model = load(c);
  rotate_last_layer_apart(model.config);
  const std::vector<Token> tokens = some_tokens(11);
  Decoder decoder = gpu_decoder(model);
  const std::vector<float> logits = decode(decoder, tokens, {5, 1, 2, 3});
  const std::vector<double> expected = reference_logits(model.file, model.config, tokens);
  expect_accuracy(compare_logits(logits, expected, model.config.n_vocab), c.gpu, "two bases, gpu");
}

DecoderCase decoder_case(std::string_view name) {
  return *std::ranges::find(decoder_cases(), name, &DecoderCase::name);
}

// A cut after a multiple of the chunk size, as a time limit makes it, changes no bit.
TEST(GpuDeltaNets, TakeAPromptInChunks) {
  const DecoderCase c = decoder_case("delta_nets");
  const DecodableModel model = load(c);
  const std::vector<Token> tokens = some_tokens(100);
  const std::vector<double> expected = reference_logits(model.file, tokens);
  std::vector<float> whole;
  for (const std::vector<uint32_t>& passes : {std::vector<uint32_t>{100}, {64, 36}}) {
    Decoder decoder = gpu_decoder(model, /*context=*/128);
    const std::vector<float> logits = decode(decoder, tokens, passes);
    expect_accuracy(compare_logits(logits, expected, model.config.n_vocab), c.gpu,
                    std::string("a prompt in chunks, gpu, first ") + std::to_string(passes[0]));
    if (whole.empty()) whole = logits;
    EXPECT_TRUE(logits == whole) << passes[0];
  }
}

// One pass advances a recurrent state by several tokens of a draft. Each token's logits, and the state after it, equal
// those of single-token passes.
TEST(GpuDeltaNets, HoldARunThatIsComputedOneByOne) {
  const std::vector<Token> tokens = some_tokens(24);
  const struct {
    const char* model;
    LaunchMode launch;
  } cases[] = {{"delta_nets", LaunchMode::kStream},
               {"delta_nets", LaunchMode::kGraph},
               {"delta_nets_and_experts", LaunchMode::kGraph}};
  for (const auto& [name, launch] : cases) {
    SCOPED_TRACE(std::string(name) + ", " + std::string(name_of(launch)));
    const DecodableModel model = load(decoder_case(name));
    const uint32_t n_vocab = model.config.n_vocab;
    const GpuOptions options{test_device(), {.context = 64, .sequences = 2, .state_checkpoints = 1}, launch};
    const auto decoder = [&] { return Decoder(model.config, make_gpu_steps(model.config, model.tensors, options)); };
    Decoder single = decoder(), several = decoder();
    for (Decoder* each : {&single, &several}) ASSERT_TRUE(each->forward(std::span(tokens).first(5), 0, Logits::kLast));
    const std::vector<float> expected = decode(single, std::span(tokens).subspan(5), {1}, 5);
    const uint32_t kept = several.steps().n_states() - 1;
    const struct {
      uint32_t position, n;
      bool needs_replay;
    } runs[] = {{5, 8, true},  {5, 3, false},  {8, 1, false}, {9, 2, false},
                {11, 7, true}, {11, 5, false}, {16, 8, false}};
    for (const auto& [position, n, needs_replay] : runs) {
      several.steps().copy_state(0, kept);
      const warpchat::Run run{0, position, std::span(tokens).subspan(position, n), Logits::kAll, /*verify_draft=*/true};
      ASSERT_TRUE(several.forward({&run, 1}));
      for (uint32_t i = 0; i < n; ++i)
        EXPECT_TRUE(std::ranges::equal(several.logits(i),
                                       std::span(expected).subspan((position + i - 5) * uint64_t{n_vocab}, n_vocab)))
            << position << ", " << i << " of " << n;
      if (needs_replay) several.steps().copy_state(kept, 0);
    }
  }
}

// With as many heads as a warp has rows, decay and beta of a prefill are products on tensor cores. Runs have any
// length.
TEST(GpuDeltaNets, MayHaveManyHeads) {
  DecoderCase c = decoder_case("delta_nets_of_older_files");
  c.name = "many_heads";
  c.spec.delta_net = {.n_k_heads = 4, .n_v_heads = 16, .head_dim = 32, .conv_kernel = 4};
  const DecodableModel model = load(c);
  const std::vector<Token> tokens = some_tokens(100);
  const std::vector<double> expected = reference_logits(model.file, tokens);
  for (const std::vector<uint32_t>& passes : {std::vector<uint32_t>{100}, {7, 1, 31, 61}}) {
    Decoder decoder = gpu_decoder(model, /*context=*/128);
    expect_accuracy(compare_logits(decode(decoder, tokens, passes), expected, model.config.n_vocab), c.gpu,
                    std::string("many heads, gpu, first ") + std::to_string(passes[0]));
  }
}

// Keys and values of different types, in prefill and decode, with pages per sequence.
TEST(GpuCaches, MayBeOfEitherTypeEach) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  const std::vector<Token> tokens = some_tokens(11);
  const std::vector<double> expected = reference_logits(model.file, tokens);
  for (const KvTypes types : {kCodes, KvTypes{KvType::kQ8_0, KvType::kF16}, KvTypes{KvType::kF16, KvType::kQ8_0}}) {
    Decoder decoder(model.config, make_gpu_steps(model.config, model.tensors,
                                                 {test_device(), {.context = 64, .sequences = 2, .cache = types}}));
    const Closeness closeness = compare_logits(decode(decoder, tokens, {5, 1, 2, 3}), expected, model.config.n_vocab);
    expect_accuracy(closeness, kTinyCodes, "tiny codes, gpu");
    EXPECT_GT(closeness.relative_error, kTinyCodes.relative_error / 100) << "as accurate as without q8_0";
  }
}

// Decoding rounds hardly anything. Flash attention rounds a prompt's values and weights to f16, as it does with f16
// caches.
TEST(GpuCaches, OfFloatsAreAtLeastAsNearAsOfHalves) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  const std::vector<Token> tokens = some_tokens(11);
  const std::vector<double> expected = reference_logits(model.file, tokens);
  const auto error_of_cache = [&](KvTypes types, const std::vector<uint32_t>& passes) {
    const GpuSizes sizes{.context = 64, .sequences = 2, .cache = types};
    Decoder decoder(model.config, make_gpu_steps(model.config, model.tensors, {test_device(), sizes}));
    const Closeness closeness = compare_logits(decode(decoder, tokens, passes), expected, model.config.n_vocab);
    if (std::getenv("WARPCHAT_PRINT_ACCURACY") != nullptr)
      std::printf("accuracy: tiny, %s and %s, passes of %u: %.1e\n", name_of(types.k).data(), name_of(types.v).data(),
                  passes[0], closeness.relative_error);
    return closeness.relative_error;
  };
  const double halves = error_of_cache({}, {1}), of_prompt = error_of_cache({}, {5, 1, 2, 3});
  EXPECT_LT(error_of_cache(kFloats, {1}), halves / 4);  // the rest comes from products with weights
  EXPECT_LT(error_of_cache({KvType::kF32, KvType::kF16}, {1}), halves);
  EXPECT_LT(error_of_cache({KvType::kF16, KvType::kF32}, {1}), halves);
  EXPECT_LE(error_of_cache(kFloats, {5, 1, 2, 3}), of_prompt);
}

TEST(GpuCaches, OfFloatsHaveNoPersistentLaunches) {
  const std::vector<std::byte> bytes = build_tiny_model(TinyModelSpec::smallest(1), /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  const auto steps = [&](std::optional<LaunchMode> launch, KvTypes types) {
    return make_gpu_steps(model.config, model.tensors, {test_device(), {.context = 64, .cache = types}, launch, {}});
  };
  const char* says = "launch mode persistent takes keys and values in f16 and q8_0, not in f32";
  EXPECT_EQ(error_of([&] { steps(LaunchMode::kPersistent, kFloats); }), says);
  const auto by_graph = steps(LaunchMode::kGraph, {KvType::kF16, KvType::kF32});
  EXPECT_FALSE(by_graph->can_launch(LaunchMode::kPersistent));
  EXPECT_EQ(error_of([&] { by_graph->set_launch_mode(LaunchMode::kPersistent); }), says);
  EXPECT_THAT(steps(std::nullopt, {KvType::kF32, KvType::kF16})->description(),
              HasSubstr("; not persistent: it takes no keys and values in f32)"));
}

TEST(GpuModels, RefusesWhatTheKernelsDoNotRead) {
  for (const DecoderCase& c : decoder_cases()) {
    if (!kRefused.contains(c.name)) continue;
    const DecodableModel model = load(c);
    EXPECT_THAT(error_of([&] { gpu_steps(model); }), HasSubstr(kRefused.at(c.name)));
  }
}

// Two launches: the second continues from the state that the first one left.
TEST(GpuModels, HaveTheBitsOfTheStreamInPersistentLaunches) {
  for (const DecoderCase& c : decoder_cases()) {
    if (kRefused.contains(c.name) || (c.spec.experts.n == 0 && c.spec.delta_net.n_v_heads == 0)) continue;
    const DecodableModel model = load(c);
    const std::vector<Token> tokens = some_tokens(7);
    const auto decoder = [&](LaunchMode launch) {
      return Decoder(model.config,
                     make_gpu_steps(model.config, model.tensors, {test_device(), {.context = 64}, launch}));
    };
    Decoder by_stream = decoder(LaunchMode::kStream), persistent = decoder(LaunchMode::kPersistent);
    std::vector<float> logits;
    const auto take = [&](std::span<const float> row) { logits.insert(logits.end(), row.begin(), row.end()); };
    ASSERT_TRUE(persistent.steps().teacher_force(std::span(tokens).first(4), 0, take));
    ASSERT_TRUE(persistent.steps().teacher_force(std::span(tokens).subspan(4), 4, take));
    EXPECT_TRUE(logits == decode(by_stream, tokens, {1})) << c.name;
  }
}

// Sequences decoded side by side, which join late and leave early, compared with each alone.
TEST(GpuBatches, GiveEachSequenceItsOwnLogits) {
  for (const DecoderCase& c : decoder_cases()) {
    const std::string name = c.name;
    if (name != "qwen2_tied" && name != "f32" && name != "shared_expert" && name != "delta_nets") continue;
    const DecodableModel model = load(c);
    Decoder decoder(model.config,
                    make_gpu_steps(model.config, model.tensors, {test_device(), {.context = 64, .sequences = 3}}));
    expect_batches_match_the_reference(decoder, model, c.gpu, std::string(c.name) + " gpu, batches");
  }
}

// More sequences than kFewSequences use the products of prefill.
TEST(GpuBatches, OfManyGiveEachSequenceItsOwnLogits) {
  constexpr uint32_t kSequences = kFewSequences + 2;
  const auto c = std::ranges::find(decoder_cases(), std::string_view("many_experts_of_odd_size"), &DecoderCase::name);
  const DecodableModel model = load(*c);
  const std::vector<Token> tokens = some_tokens(kSequences);
  std::vector<warpchat::Run> runs;
  std::vector<double> expected;
  for (uint32_t s = 0; s < kSequences; ++s) {
    runs.push_back({s, 0, std::span(tokens).subspan(s, 1), Logits::kLast});
    const std::vector<double> row = reference_logits(model.file, runs[s].tokens);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  for (const KvTypes types : {KvTypes{}, kFloats}) {
    const GpuSizes sizes{.context = 16, .sequences = kSequences, .cache = types};
    Decoder decoder(model.config,
                    make_gpu_steps(model.config, model.tensors, {test_device(), sizes, LaunchMode::kGraph}));
    ASSERT_TRUE(decoder.forward(runs));
    std::vector<float> logits;
    for (uint32_t s = 0; s < kSequences; ++s)
      logits.insert(logits.end(), decoder.logits(s).begin(), decoder.logits(s).end());
    expect_accuracy(compare_logits(logits, expected, model.config.n_vocab), c->gpu, "a large batch, gpu");
  }
}

// Attention handles several pages per block and writes f16. That output must survive until attention of the prompt
// beside it has run.
TEST(GpuBatches, OfManyGoOverPagesBesideAPrompt) {
  constexpr uint32_t kSequences = kFewSequences + 2, kLong = 150, kPrompt = 5;
  const DecoderCase& c = decoder_cases().front();
  const std::vector<std::byte> bytes = build_tiny_model(c.spec, /*seed=*/3);
  const DecodableModel model(GgufFile::view(bytes, c.name));
  const GpuSizes sizes{.context = 192, .sequences = kSequences};
  const LaunchList list = launch_list(text_decoder(model.config), model.config, formats_of(model.tensors),
                                      {PassKind::kBatch, kSequences, sizes.context});
  ASSERT_TRUE(list.writes_f16() && list.token_attention().pages_per_block > 1);
  Decoder decoder(model.config,
                  make_gpu_steps(model.config, model.tensors, {test_device(), sizes, LaunchMode::kStream}));
  const std::vector<Token> tokens = some_tokens(kLong + 1);
  const std::span<const Token> all(tokens);
  ASSERT_TRUE(decoder.forward(std::vector<warpchat::Run>{{0, 0, all.first(kLong), Logits::kLast}}));
  std::vector<warpchat::Run> runs{{0, kLong, all.last(1), Logits::kLast}};
  for (uint32_t s = 1; s + 1 < kSequences; ++s) runs.push_back({s, 0, all.subspan(s, 1), Logits::kLast});
  runs.push_back({kSequences - 1, 0, all.first(kPrompt), Logits::kLast});
  ASSERT_TRUE(decoder.forward(runs));
  const auto check = [&](uint32_t column, std::span<const Token> of_sequence) {
    const std::vector<double> rows = reference_logits(model.file, of_sequence);
    const std::span<const float> found = decoder.logits(column);
    expect_accuracy(compare_logits({found.begin(), found.end()}, {rows.end() - model.config.n_vocab, rows.end()},
                                   model.config.n_vocab),
                    c.gpu, "column " + std::to_string(column));
  };
  check(0, all), check(1, all.subspan(1, 1)), check(kSequences - 2, all.subspan(kSequences - 2, 1));
  check(kSequences - 1 + kPrompt - 1, all.first(kPrompt));
}

// An assignment gets the same bits beside any others.
TEST(GpuExperts, GiveTheSameBitsHoweverTokensAreCut) {
  for (const DecoderCase& c : decoder_cases()) {
    if (c.spec.experts.n == 0 || c.spec.delta_net.n_v_heads > 0) continue;
    const DecodableModel model = load(c);
    const std::vector<Token> tokens = some_tokens(19);
    Decoder once = gpu_decoder(model), other = gpu_decoder(model, 19);  // with smaller tiles
    EXPECT_EQ(decode(once, tokens, {19}), decode(other, tokens, {3, 5, 2, 9})) << c.name;
  }
}

class GpuRuns : public testing::Test {
 protected:
  Decoder decoder() const {
    return Decoder(model_.config,
                   make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = 64, .sequences = 4}}));
  }
  static std::vector<float> logits_of(Decoder& decoder, uint32_t column) {
    const std::span<const float> row = decoder.logits(column);
    return {row.begin(), row.end()};
  }

  // The i-th of n masks allows tokens i, i + n, i + 2n and so on.
  std::vector<std::vector<uint32_t>> masks(uint32_t n) const {
    std::vector<std::vector<uint32_t>> all(n, std::vector<uint32_t>(mask_words(model_.config.n_vocab)));
    for (uint32_t token = 0; token < model_.config.n_vocab; ++token) all[token % n][token / 32] |= 1u << token % 32;
    return all;
  }
  static bool allows(std::span<const uint32_t> mask, Token token) {  // an empty mask allows every token
    return mask.empty() || (mask[static_cast<size_t>(token) / 32] >> token % 32 & 1) != 0;
  }
  static Token best_of(const std::vector<float>& logits, std::span<const uint32_t> mask) {
    Token best = -1;
    for (Token token = 0; token < static_cast<Token>(logits.size()); ++token)
      if (allows(mask, token) && (best < 0 || logits[static_cast<size_t>(token)] > logits[static_cast<size_t>(best)]))
        best = token;
    return best;
  }
  static uint64_t calls_of(Decoder& decoder, std::string_view family) {
    uint64_t calls = 0;
    for (const OperationProfile& row : decoder.steps().profile().rows())
      if (row.name.starts_with(family)) calls += row.calls;
    return calls;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({.n_layers = 1}, /*seed=*/3);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  const std::vector<Token> tokens_ = some_tokens(30);
  const SamplingParams greedy_{.temperature = 0}, warm_{.top_k = 0, .top_p = 1, .min_p = 0, .temperature = 100};
};

// The bits of an answer do not depend on the prompts of others.
TEST_F(GpuRuns, GiveATokenTheSameBitsBesideAnyPrompt) {
  for (const uint32_t n_tokens : {1u, 2u}) {  // one and two tokens use different kernels
    Decoder without = decoder(), with = decoder();
    std::vector<warpchat::Run> runs;
    for (uint32_t s = 0; s < n_tokens; ++s) {
      without.forward(std::span(tokens_).first(5 + s), 0, Logits::kNone, nullptr, s);
      with.forward(std::span(tokens_).first(5 + s), 0, Logits::kNone, nullptr, s);
      runs.push_back({s, 5 + s, std::span(tokens_).subspan(20 + s, 1), Logits::kLast});
    }
    without.forward(runs);
    runs.insert(runs.begin(), {2, 0, std::span(tokens_).first(9), Logits::kLast});
    runs.push_back({3, 0, std::span(tokens_).first(3), Logits::kNone});
    with.forward(runs);
    for (uint32_t s = 0; s < n_tokens; ++s)
      EXPECT_EQ(logits_of(with, 9 + s), logits_of(without, s)) << "sequence " << s;
    without.forward(std::span(tokens_).first(9), 0, Logits::kLast, nullptr, 2);
    EXPECT_EQ(logits_of(with, 8), logits_of(without, 8)) << "nor do the prompt's depend on them";
  }
}

// Nor do they depend on other answers: products for one token and for a few give the same bits.
TEST_F(GpuRuns, GiveATokenTheSameBitsBesideOtherTokens) {
  constexpr uint32_t kTokens = kFewSequences;
  const auto make = [&] {
    return Decoder(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                 {test_device(), {.context = 64, .sequences = kTokens}}));
  };
  Decoder alone = make(), together = make();
  std::vector<warpchat::Run> runs;
  std::vector<std::vector<float>> expected;
  for (uint32_t s = 0; s < kTokens; ++s) {
    runs.push_back({s, 1 + s, std::span(tokens_).subspan(15 + s, 1), Logits::kLast});
    for (Decoder* each : {&alone, &together})
      each->forward(std::span(tokens_).first(1 + s), 0, Logits::kNone, nullptr, s);
    alone.forward({&runs.back(), 1});
    expected.push_back(logits_of(alone, 0));
  }
  for (const uint32_t n : {2u, 7u, kTokens}) {
    together.forward(std::span(runs).first(n));
    for (uint32_t s = 0; s < n; ++s) EXPECT_EQ(logits_of(together, s), expected[s]) << s << " of " << n;
  }
}

TEST_F(GpuRuns, AreSampledTogetherInTheirOrder) {
  Decoder sampled = decoder(), given = decoder();
  const auto prompt = [&](size_t n) { return std::span(tokens_).first(n); };
  sampled.forward(prompt(5), 0, Logits::kNone, nullptr, 1);
  const std::vector<warpchat::Run> runs = {{0, 0, prompt(7), Logits::kLast},
                                           {1, 5, prompt(1), Logits::kLast},
                                           {2, 0, prompt(6), Logits::kNone},
                                           {3, 0, prompt(4), Logits::kLast}};
  sampled.forward(runs);
  std::vector<Token> best;
  for (const uint32_t column : {6u, 7u, 17u}) {
    const std::vector<float> row = logits_of(sampled, column);
    best.push_back(static_cast<Token>(std::ranges::max_element(row) - row.begin()));
  }
  DeviceSampler& sampler = *sampled.steps().sampler();
  SamplingParams greedy;
  greedy.temperature = 0;
  sampler.start(std::vector<DeviceSampler::Start>(3, {greedy, {}}));
  sampler.sample();
  sampled.forward_sampled();
  EXPECT_TRUE(std::ranges::equal(sampler.read(), best));
  given.forward(prompt(7), 0, Logits::kNone, nullptr, 0);
  given.forward(prompt(5), 0, Logits::kNone, nullptr, 1);
  given.forward(prompt(1), 5, Logits::kNone, nullptr, 1);
  given.forward(prompt(4), 0, Logits::kNone, nullptr, 3);
  given.forward(std::vector<warpchat::Run>{{0, 7, {&best[0], 1}, Logits::kLast},
                                           {1, 6, {&best[1], 1}, Logits::kLast},
                                           {3, 4, {&best[2], 1}, Logits::kLast}});
  for (const uint32_t column : {0u, 1u, 2u}) EXPECT_EQ(logits_of(sampled, column), logits_of(given, column)) << column;
}

// One sequence, then several, of which some have masks.
TEST_F(GpuRuns, ChooseAmongTheTokensThatTheirMasksAllow) {
  Decoder sampled = decoder();
  DeviceSampler& sampler = *sampled.steps().sampler();
  sampled.steps().set_measuring(true);
  const std::vector<std::vector<uint32_t>> masks = this->masks(3);
  const std::span<const uint32_t> masks_of[] = {masks[0], {}, masks[2], masks[1]};  // by sequence
  for (const uint32_t n : {1u, 4u}) {
    std::vector<warpchat::Run> runs;
    for (uint32_t s = 0; s < n; ++s) runs.push_back({s, 0, std::span(tokens_).subspan(s, 5), Logits::kLast});
    for (const SamplingParams& params : {greedy_, warm_}) {
      SCOPED_TRACE(std::to_string(n) + " sequences, temperature " + std::to_string(params.temperature));
      sampled.forward(runs);
      std::vector<DeviceSampler::Start> starts;
      std::vector<Token> best;
      for (uint32_t s = 0; s < n; ++s) {
        starts.push_back({params, {}, masks_of[s]});
        best.push_back(best_of(logits_of(sampled, 5 * s + 4), masks_of[s]));
      }
      sampler.start(starts);
      sampler.sample();
      const std::span<const Token> tokens = sampler.read();
      for (uint32_t s = 0; s < n; ++s) {
        EXPECT_TRUE(allows(masks_of[s], tokens[s])) << "sequence " << s << ", token " << tokens[s];
        if (params == greedy_) {
          EXPECT_EQ(tokens[s], best[s]) << "sequence " << s;
        }
      }
    }
  }
  EXPECT_EQ(calls_of(sampled, "mask_logits_"), 4u);
  EXPECT_EQ(calls_of(sampled, "sample_"), 4u);
}

TEST_F(GpuRuns, LaunchNothingMoreWithoutMasks) {
  Decoder sampled = decoder();
  DeviceSampler& sampler = *sampled.steps().sampler();
  sampled.steps().set_measuring(true);
  const std::vector<std::vector<uint32_t>> masks = this->masks(2);
  const auto names = [&] {
    std::string all;
    for (const KernelText& text : sampled.steps().kernels()) all += text.name + "\n";
    return all;
  };
  const auto choose = [&](std::span<const uint32_t> mask) {
    sampled.forward(std::span(tokens_).first(5), 0, Logits::kLast);
    const std::vector<float> logits = logits_of(sampled, 4);
    const DeviceSampler::Start column{greedy_, {}, mask};
    sampler.start({&column, 1});
    sampler.sample();
    EXPECT_EQ(sampler.read()[0], best_of(logits, mask));
  };
  choose({});
  EXPECT_THAT(names(), testing::Not(HasSubstr("mask_logits_")));
  choose(masks[0]);
  EXPECT_THAT(names(), HasSubstr("mask_logits_"));
  choose({});
  EXPECT_EQ(calls_of(sampled, "mask_logits_"), 1u);
  EXPECT_EQ(calls_of(sampled, "sample_"), 3u);
}

TEST_F(GpuRuns, HaveMasksForOneTokenOnly) {
  Decoder sampled = decoder();
  DeviceSampler& sampler = *sampled.steps().sampler();
  const std::vector<std::vector<uint32_t>> masks = this->masks(2);
  const auto start = [&](std::span<const uint32_t> mask) {
    const DeviceSampler::Start column{greedy_, {}, mask};
    sampler.start({&column, 1});
  };
  sampled.forward(std::span(tokens_).first(5), 0, Logits::kLast);
  EXPECT_THAT(error_of([&] { start(std::span(masks[0]).first(1)); }), HasSubstr("one bit per token"));
  EXPECT_THAT(error_of([&] { start(std::vector<uint32_t>(masks[0].size())); }), HasSubstr("allows no token"));
  start(masks[1]);
  sampler.sample();
  sampler.read();
  sampled.forward_sampled();
  EXPECT_THAT(error_of([&] { sampler.sample(); }), HasSubstr("a second time with the masks of one token"));
  const std::vector<float> logits = logits_of(sampled, 0);
  start(masks[0]);
  sampler.sample();
  EXPECT_EQ(sampler.read()[0], best_of(logits, masks[0]));
}

// Each token of a draft has a mask of its own.
TEST_F(GpuRuns, VerifyDraftsWithMasks) {
  Decoder sampled = decoder();
  DeviceSampler& sampler = *sampled.steps().sampler();
  sampled.forward(std::span(tokens_).first(5), 0, Logits::kNone);
  const warpchat::Run run{0, 5, std::span(tokens_).subspan(5, 5), Logits::kAll, /*verify_draft=*/true};
  sampled.forward({&run, 1});
  const std::vector<std::vector<uint32_t>> masks = this->masks(5);
  std::vector<DeviceSampler::Start> starts;
  std::vector<Token> best;
  for (uint32_t i = 0; i < 5; ++i) {
    starts.push_back({greedy_, std::span(tokens_).first(6 + i)});
    if (i != 3) starts.back().mask = masks[4 - i];
    best.push_back(best_of(logits_of(sampled, i), starts.back().mask));
  }
  sampler.start(starts);
  sampler.sample();
  EXPECT_TRUE(std::ranges::equal(sampler.read(), best));
}

constexpr const char* kKeepsMemory = "a driver keeps memory of its own: only the emulator's counters are exact";

class GpuDecoderOnOneModel : public testing::Test {
 protected:
  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/2);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

// A column's sums do not depend on its neighbours, so the bits do not depend on how a prompt is cut. Only passes of one
// column have their own product.
TEST_F(GpuDecoderOnOneModel, GivesTheSameBitsHoweverTokensAreCut) {
  const std::vector<Token> tokens = some_tokens(19);
  Decoder once = gpu_decoder(model_), again = gpu_decoder(model_), other = gpu_decoder(model_);
  const std::vector<float> expected = decode(once, tokens, {8});
  EXPECT_EQ(decode(again, tokens, {8}), expected);
  EXPECT_EQ(decode(other, tokens, {3, 5, 2, 9}), expected);
}

TEST_F(GpuDecoderOnOneModel, GivesTheSameBitsFromAGraph) {
  const std::vector<Token> tokens = some_tokens(40);
  Decoder streamed = gpu_decoder(model_);
  Decoder graphed(model_.config, gpu_steps(model_, 64, test_device(), LaunchMode::kGraph));
  EXPECT_THAT(graphed.steps().description(), HasSubstr("launch graph"));
  EXPECT_EQ(decode(graphed, tokens, {5, 1, 1, 1, 8, 1}), decode(streamed, tokens, {5, 1, 1, 1, 8, 1}));
  const Token again[] = {3};  // back to an earlier position
  EXPECT_EQ(decode(graphed, again, {1}, 7), decode(streamed, again, {1}, 7));
}

TEST_F(GpuDecoderOnOneModel, StopsWhileAGraphIsRecorded) {
  Decoder decoder(model_.config, gpu_steps(model_, 64, test_device(), LaunchMode::kGraph));
  Decoder fresh = gpu_decoder(model_);
  const std::vector<Token> tokens = some_tokens(4);
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(decoder.forward(std::span(tokens).first(1), 0, Logits::kLast, &stop)) << "while it is recorded";
  EXPECT_EQ(decode(decoder, tokens, {1}), decode(fresh, tokens, {1}));
  EXPECT_FALSE(decoder.forward(std::span(tokens).first(1), 0, Logits::kLast, &stop)) << "while it is replayed";
  EXPECT_EQ(decode(decoder, tokens, {1}), decode(fresh, tokens, {1}));
}

TEST_F(GpuDecoderOnOneModel, ForgetsWhatLiesBeyondThePosition) {
  const std::vector<Token> tokens = some_tokens(30), other = {7, 9, 11, 13, 15};
  Decoder fresh = gpu_decoder(model_), used = gpu_decoder(model_);
  decode(fresh, std::span(tokens).first(10), {8});
  const std::vector<float> expected = decode(fresh, other, {2, 1}, 10);
  decode(used, tokens, {8});
  EXPECT_EQ(decode(used, other, {2, 1}, 10), expected);
}

TEST_F(GpuDecoderOnOneModel, FillsTheContextToTheLastPosition) {
  Decoder small = gpu_decoder(model_, 19), large = gpu_decoder(model_, 256);
  const std::vector<Token> tokens = some_tokens(19);
  EXPECT_EQ(small.max_positions(), 19u);
  EXPECT_EQ(decode(small, tokens, {8}), decode(large, tokens, {8}));
}

TEST_F(GpuDecoderOnOneModel, GivesTheLogitsAskedFor) {
  const std::vector<Token> tokens = some_tokens(6);
  Decoder all = gpu_decoder(model_), last = gpu_decoder(model_), cut = gpu_decoder(model_);
  const uint32_t n_vocab = model_.config.n_vocab;
  const std::vector<float> of_all = decode(all, tokens, {6});
  ASSERT_TRUE(last.forward(tokens, 0, Logits::kLast));
  const std::vector<float> of_last(last.logits(5).begin(), last.logits(5).end());
  const std::vector<double> expected(of_all.end() - n_vocab, of_all.end());
  EXPECT_LE(compare_logits(of_last, expected, n_vocab).relative_error, 1e-3) << "another product, of one column";
  ASSERT_TRUE(cut.forward(std::span(tokens).first(4), 0, Logits::kNone));
  ASSERT_TRUE(cut.forward(std::span(tokens).subspan(4), 4, Logits::kLast));
  EXPECT_TRUE(std::equal(of_last.begin(), of_last.end(), cut.logits(1).begin()));
}

TEST_F(GpuDecoderOnOneModel, StopsBeforeALayer) {
  Decoder decoder = gpu_decoder(model_);
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(decoder.forward(some_tokens(3), 0, Logits::kLast, &stop));
  EXPECT_TRUE(decoder.forward(some_tokens(3), 0, Logits::kLast)) << "and continues when asked again";
}

// Launching does not wait for the GPU, so a launched pass may be computed much later.
TEST_F(GpuDecoderOnOneModel, TellsOfAPromptsPassesWhenTheyAreComputed) {
  static uint64_t n_waits;
  FaultyDriver driver;
  driver.table().cuEventQuery = [](CUevent) { return CUDA_ERROR_NOT_READY; };  // progress is seen by waiting only
  driver.table().cuEventSynchronize = [](CUevent event) {
    ++n_waits;
    return emulator_table().cuEventSynchronize(event);
  };
  Decoder decoder(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                {driver.device(), {.context = 64, .batch = 8}, LaunchMode::kStream}));
  std::vector<uint64_t> waits;
  n_waits = 0;
  EXPECT_EQ(decoder.prefill(some_tokens(24), 0, 0, {nullptr, [&](auto) { waits.push_back(n_waits); }}), 7u);
  EXPECT_THAT(waits, testing::ElementsAre(2 + 1, 3 + 2, 3 + 3)) << "one for each pass begun, and one for each reported";
}

// Therefore a time limit may decide how a prompt is cut: see PassLength.
TEST_F(GpuDecoderOnOneModel, GivesTheSameBitsHoweverAPromptIsCut) {
  const std::vector<Token> tokens = some_tokens(60);
  std::vector<float> whole;
  for (const uint32_t first : {0u, 16u, 32u}) {
    Decoder decoder(model_.config, make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = 64}}));
    if (first > 0) decoder.forward(std::span(tokens).first(first), 0, Logits::kNone);
    const auto rest = static_cast<uint32_t>(tokens.size()) - first;
    decoder.forward(std::span(tokens).subspan(first), first, Logits::kLast);
    const std::span<const float> logits = decoder.logits(rest - 1);
    if (whole.empty()) whole.assign(logits.begin(), logits.end());
    EXPECT_TRUE(std::ranges::equal(logits, whole)) << first;
  }
}

TEST_F(GpuDecoderOnOneModel, RefusesATokenOutsideTheVocabulary) {
  Decoder decoder = gpu_decoder(model_);
  const std::vector<Token> tokens = some_tokens(3);
  const std::vector<float> expected = decode(decoder, tokens, {3});
  const Token wrong[] = {5, static_cast<Token>(model_.config.n_vocab)};
  ASSERT_TRUE(decoder.forward(wrong, 3, Logits::kLast));
  const std::string n_vocab = std::to_string(model_.config.n_vocab);
  EXPECT_EQ(error_of([&] { decoder.logits(1); }),
            "the GPU refuses a pass: token " + n_vocab + " in column 1, the vocabulary ends before " + n_vocab);
  EXPECT_EQ(decode(decoder, tokens, {3}), expected) << "the next pass works";
}

TEST_F(GpuDecoderOnOneModel, GivesItsMemoryBack) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << kKeepsMemory;
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const uint64_t before = context->memory().free_bytes;
  for (int i = 0; i < 3; ++i) {
    Decoder decoder = gpu_decoder(model_);
    decode(decoder, some_tokens(2), {2});
    context->make_current();
    EXPECT_LT(context->memory().free_bytes, before);
  }
  EXPECT_EQ(context->memory().free_bytes, before);
}

TEST_F(GpuDecoderOnOneModel, PlansWhatItAllocates) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << kKeepsMemory;
  for (const KvTypes types : {KvTypes{}, kCodes, kFloats}) {
    const GpuSizes sizes{.context = 100, .cache = types};
    const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
    const uint64_t before = context->memory().free_bytes;
    const std::unique_ptr<Steps> steps = make_gpu_steps(model_.config, model_.tensors, {test_device(), sizes});
    const uint64_t used = before - context->memory().free_bytes;
    const uint64_t planned = gpu_memory_budget(model_.config, model_.tensors, sizes).total(100);
    EXPECT_LE(used, planned);
    EXPECT_GE(used + (17 << 20), planned) << "16 MiB of the plan are for compiled kernels";
  }
}

// Two layers, two KV heads of 64, in f32, f16, or q8_0 with two scales per head.
TEST_F(GpuDecoderOnOneModel, PlansCachesByTheirTypes) {
  const auto bytes = [&](KvTypes types) {
    return CachePlan(model_.config, {.context = 100, .cache = types}).page_bytes() / kPagePositions;
  };
  EXPECT_EQ(bytes({}), 2 * 2 * (128 + 128));
  EXPECT_EQ(bytes({KvType::kQ8_0, KvType::kF16}), 2 * 2 * (68 + 128));
  EXPECT_EQ(bytes(kCodes), 2 * 2 * (68 + 68));
  EXPECT_EQ(bytes({KvType::kF32, KvType::kQ8_0}), 2 * 2 * (256 + 68));
}

TEST_F(GpuDecoderOnOneModel, RefusesAContextThatDoesNotFit) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << kKeepsMemory;
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const uint64_t before = context->memory().free_bytes;
  uint32_t fits = 0;
  ModelConfig config = model_.config;
  config.context_length = UINT32_MAX;  // otherwise no larger context would be offered
  try {
    make_gpu_steps(config, model_.tensors, {test_device(), {.context = 1 << 30}});
  } catch (const MemoryShortage& shortage) {
    EXPECT_THAT(shortage.what(), HasSubstr("GiB of GPU memory"));
    fits = shortage.remedy.context;
  }
  EXPECT_GT(fits, 64u);
  EXPECT_NEAR(gpu_steps(model_, 64)->context_that_fits(), fits, 0.05 * fits) << "each planned with its own rings";
  EXPECT_EQ(context->memory().free_bytes, before);
}

// Memory runs out at each allocation in turn, as if another program took it between the plan and the allocation.
TEST_F(GpuDecoderOnOneModel, SurvivesRunningOutOfMemoryAnywhere) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << kKeepsMemory;
  static int left;
  static const DriverTable* real;
  DriverTable table = *test_device().table;
  real = test_device().table;
  table.cuMemAlloc = [](ptx::cuda::CUdeviceptr* address, size_t bytes) {
    return --left < 0 ? ptx::cuda::CUDA_ERROR_OUT_OF_MEMORY : real->cuMemAlloc(address, bytes);
  };
  table.cuMemHostAlloc = [](void** address, size_t bytes, unsigned flags) {
    return --left < 0 ? ptx::cuda::CUDA_ERROR_OUT_OF_MEMORY : real->cuMemHostAlloc(address, bytes, flags);
  };
  DeviceChoice choice = test_device();
  choice.table = &table;
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const uint64_t before = context->memory().free_bytes;
  int allocations = 0;
  for (bool failed = true; failed; ++allocations) {
    left = allocations;
    const std::string error = error_of([&] { gpu_steps(model_, 64, choice); });
    failed = error != "no error";
    if (failed) {
      EXPECT_THAT(error, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
    }
    EXPECT_EQ(context->memory().free_bytes, before) << "after allocation " << allocations;
  }
  EXPECT_GE(allocations, 8);
}

}  // namespace
}  // namespace warpchat
