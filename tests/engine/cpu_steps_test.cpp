// The whole decoder on the CPU against the float64 reference: architectures, formats, instruction sets, pass lengths
// and thread counts.
#include "engine/cpu/cpu_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/decoder.h"
#include "engine/memory_budget.h"
#include "engine/profile.h"
#include "models/error.h"
#include "tests/engine/cpu_problems.h"
#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/batch_walk.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/exact_models.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

Decoder cpu_decoder(const DecodableModel& model, const std::string& simd = "", uint32_t threads = 2,
                    uint32_t max_columns = 64, uint32_t context = 256, KvTypes cache = {}) {
  CpuOptions options;
  options.cache = cache;
  options.simd = simd, options.threads = threads, options.max_columns = max_columns, options.context = context;
  return Decoder(model.config, make_cpu_steps(model.config, model.tensors, options));
}

class CpuDecoder : public testing::TestWithParam<std::tuple<std::string, DecoderCase>> {
 protected:
  // Computed once for all instruction sets, because the reference is slow.
  static const std::vector<double>& reference(const DecoderCase& model, const GgufFile& file,
                                              std::span<const Token> tokens) {
    static std::map<std::string, std::vector<double>> known;
    auto [entry, is_new] = known.try_emplace(model.name);
    if (is_new) entry->second = reference_logits(file, tokens);
    return entry->second;
  }
};

TEST_P(CpuDecoder, MatchesTheReference) {
  const auto& [simd, model] = GetParam();
  const DecodableModel loaded = load(model);
  const std::vector<Token> tokens = some_tokens(70);
  const std::vector<double>& expected = reference(model, loaded.file, tokens);
  const struct {
    const char* name;
    std::vector<uint32_t> passes;
  } ways[] = {{"prefill", {64}}, {"one by one", {1}}, {"odd passes", {9, 1, 2, 31, 5, 3}}};
  for (const auto& way : ways) {
    Decoder decoder = cpu_decoder(loaded, simd);
    expect_accuracy(compare_logits(decode(decoder, tokens, way.passes), expected, loaded.config.n_vocab), model.cpu,
                    std::string(model.name) + " cpu, " + simd + ", " + way.name);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryModel, CpuDecoder,
                         testing::Combine(testing::ValuesIn(instruction_sets()),
                                          testing::ValuesIn(decoder_cases().begin(), decoder_cases().end())),
                         [](const auto& c) { return std::get<0>(c.param) + "_" + std::get<1>(c.param).name; });

// Models with sliding windows have another RoPE base in those layers.
TEST(CpuDecoderLayers, RotateByTheirOwnBases) {
  const DecoderCase& model = decoder_cases()[0];
  DecodableModel loaded = load(model);
  rotate_last_layer_apart(loaded.config);
  const std::vector<Token> tokens = some_tokens(70);
  Decoder decoder = cpu_decoder(loaded);
  const std::vector<float> logits = decode(decoder, tokens, {9, 1, 2, 31});
  const auto difference = [&](const std::vector<double>& from) {
    return compare_logits(logits, from, loaded.config.n_vocab);
  };
  expect_accuracy(difference(reference_logits(loaded.file, loaded.config, tokens)), model.cpu, "two bases");
  EXPECT_GT(difference(reference_logits(loaded.file, tokens)).relative_error, 10 * model.cpu.relative_error);
}

TEST(CpuDecoderOnRealFiles, MatchesExactLogits) {
  for_each_exact_model([](const ExactModel& model, const DecodableModel& loaded, const std::vector<double>& expected) {
    for (const std::string& simd : instruction_sets())
      for (uint32_t pass : {64u, 1u}) {
        Decoder decoder = cpu_decoder(loaded, simd);
        expect_accuracy(compare_logits(decode(decoder, kExactTokens, {pass}), expected, loaded.config.n_vocab),
                        model.cpu, model.name + " cpu, " + simd + ", passes of " + std::to_string(pass));
      }
  });
}

// Arithmetic is exact over keys and values in q8_0, so only their rounding error shows.
TEST(CpuDecoderOnRealFiles, StatesTheErrorOfCachesInQ8) {
  for_each_exact_model([](const ExactModel& model, const DecodableModel& loaded, const std::vector<double>& expected) {
    for (uint32_t pass : {64u, 1u}) {
      Decoder decoder = cpu_decoder(loaded, "", 2, 64, 256, {KvType::kQ8_0, KvType::kQ8_0});
      expect_accuracy(compare_logits(decode(decoder, kExactTokens, {pass}), expected, loaded.config.n_vocab),
                      model.codes, model.name + " codes, cpu, passes of " + std::to_string(pass));
    }
  });
}

TEST(CpuCaches, MayBeOfEitherTypeEach) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const DecodableModel loaded(GgufFile::view(bytes, "tiny"));
  const std::vector<Token> tokens = some_tokens(40);
  const std::vector<double> expected = reference_logits(loaded.file, tokens);
  const auto q8 = KvType::kQ8_0, f16 = KvType::kF16;
  for (const KvTypes types : {KvTypes{q8, q8}, KvTypes{q8, f16}, KvTypes{f16, q8}}) {
    Decoder decoder = cpu_decoder(loaded, "", 2, 64, 256, types);
    const Closeness closeness =
        compare_logits(decode(decoder, tokens, {20, 1, 2, 17}), expected, loaded.config.n_vocab);
    expect_accuracy(closeness, kTinyCodes, "tiny codes, cpu");
    EXPECT_GT(closeness.relative_error, kTinyCodes.relative_error / 100) << "as accurate as without q8_0";
  }
}

TEST(CpuCaches, OfFloatsAreNearerThanOfHalves) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const DecodableModel loaded(GgufFile::view(bytes, "tiny"));
  const std::vector<Token> tokens = some_tokens(40);
  const std::vector<double> expected = reference_logits(loaded.file, tokens);
  const auto error_of_cache = [&](KvTypes types) {
    Decoder decoder = cpu_decoder(loaded, "", 2, 64, 256, types);
    return compare_logits(decode(decoder, tokens, {20, 1, 2, 17}), expected, loaded.config.n_vocab).relative_error;
  };
  const auto f16 = KvType::kF16, f32 = KvType::kF32;
  const double of_halves = error_of_cache({}), of_floats = error_of_cache({f32, f32});
  if (std::getenv("WARPCHAT_PRINT_ACCURACY") != nullptr)
    std::printf("accuracy: tiny, cpu: %.1e with caches in f16, %.1e in f32\n", of_halves, of_floats);
  EXPECT_LT(of_floats, of_halves / 4);  // the rest comes from products with weights
  EXPECT_LT(error_of_cache({f32, f16}), of_halves);
  EXPECT_LT(error_of_cache({f16, f32}), of_halves);
}

TEST(CpuCaches, AreProfiledWithTheBytesOfTheirTypes) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/1);
  const DecodableModel loaded(GgufFile::view(bytes, "tiny"));
  const auto bytes_of_attention = [&](KvTypes types) {
    Decoder decoder = cpu_decoder(loaded, "", 2, 64, 256, types);
    decoder.steps().set_measuring(true);
    decode(decoder, some_tokens(8), {4});
    const std::vector<OperationProfile> rows = decoder.steps().profile().rows();
    return std::ranges::find(rows, "attention", &OperationProfile::name)->bytes;
  };
  const auto q8 = KvType::kQ8_0, f16 = KvType::kF16, f32 = KvType::kF32;
  const uint64_t of_f16 = bytes_of_attention({f16, f16});
  // Two passes of four tokens, each of which reads the positions up to its end: 4 + 8 keys.
  const uint64_t values =
      (4 + 8) * uint64_t{loaded.config.n_layers} * loaded.config.n_kv_heads * loaded.config.head_dim;
  EXPECT_EQ(bytes_of_attention({f32, f32}), of_f16 + values * 2 * (sizeof(float) - sizeof(uint16_t)));
  EXPECT_EQ(bytes_of_attention({f32, f16}), of_f16 + values * (sizeof(float) - sizeof(uint16_t)));
  EXPECT_LT(bytes_of_attention({q8, q8}), of_f16);
}

class CpuDecoderOnOneModel : public testing::Test {
 protected:
  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/2);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

TEST_F(CpuDecoderOnOneModel, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Token> tokens = some_tokens(40);
  Decoder alone = cpu_decoder(model_, "", 1);
  const std::vector<float> expected = decode(alone, tokens, {25, 1, 1, 4});
  for (uint32_t threads : {2u, 3u, 5u}) {
    Decoder decoder = cpu_decoder(model_, "", threads);
    EXPECT_EQ(decode(decoder, tokens, {25, 1, 1, 4}), expected) << threads << " threads";
  }
}

// A conversation is rewound and continues differently. What lay beyond must leave no trace.
TEST_F(CpuDecoderOnOneModel, ForgetsWhatLiesBeyondThePosition) {
  const std::vector<Token> tokens = some_tokens(90), other = {7, 9, 11, 13, 15};
  Decoder fresh = cpu_decoder(model_), used = cpu_decoder(model_);
  decode(fresh, std::span(tokens).first(20), {20});
  const std::vector<float> expected = decode(fresh, other, {2, 1}, 20);
  decode(used, std::span(tokens).first(20), {20});
  decode(used, std::span(tokens).subspan(20), {33}, 20);
  EXPECT_EQ(decode(used, other, {2, 1}, 20), expected);
}

TEST_F(CpuDecoderOnOneModel, FillsTheContextToTheLastPosition) {
  Decoder small = cpu_decoder(model_, "", 2, 16, 37), large = cpu_decoder(model_, "", 2, 16, 256);
  const std::vector<Token> tokens = some_tokens(37);
  EXPECT_EQ(small.max_positions(), 37u);
  EXPECT_EQ(decode(small, tokens, {16}), decode(large, tokens, {16}));
}

TEST_F(CpuDecoderOnOneModel, WritesOnlyTheLogitsAskedFor) {
  const std::vector<Token> tokens = some_tokens(12);
  Decoder all = cpu_decoder(model_), last = cpu_decoder(model_);
  const std::vector<float> expected = decode(all, tokens, {12});
  ASSERT_TRUE(last.forward(tokens, 0, Logits::kLast));
  const std::span<const float> got = last.logits(11);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.end() - static_cast<ptrdiff_t>(got.size())));
}

// So a time limit may decide how a prompt is cut (PassLength), and decoded tokens can be read again as a prompt.
TEST(CpuDecoderPasses, OfAnyLengthGiveTheSameBits) {
  const std::vector<Token> tokens = some_tokens(100);
  for (const DecoderCase& c : decoder_cases()) {
    const DecodableModel model = load(c);
    std::vector<float> whole;
    for (const std::vector<uint32_t>& passes :
         {std::vector<uint32_t>{100}, {64, 36}, {16, 84}, {93, 1, 2, 4}, {1, 2, 3, 5, 89}}) {
      Decoder decoder = cpu_decoder(model, "", 2, /*max_columns=*/100);
      const std::vector<float> logits = decode(decoder, tokens, passes);
      if (whole.empty()) whole = logits;
      EXPECT_EQ(logits, whole) << c.name << ", passes of " << passes[0];
    }
  }
}

TEST_F(CpuDecoderOnOneModel, StopsBeforeALayer) {
  Decoder decoder = cpu_decoder(model_);
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(decoder.forward(some_tokens(3), 0, Logits::kLast, &stop));
}

TEST_F(CpuDecoderOnOneModel, RecordsEveryStep) {
  Decoder decoder = cpu_decoder(model_);
  decode(decoder, some_tokens(8), {4});
  for (const OperationProfile& row : decoder.steps().profile().rows()) EXPECT_EQ(row.calls, 0u) << "off at first";
  decoder.steps().set_measuring(true);
  decode(decoder, some_tokens(8), {4});
  const std::vector<OperationProfile> rows = decoder.steps().profile().rows();
  const std::map<std::string, uint64_t> calls = {{"embed", 2},         {"norm_qkv", 4},        {"rope_scatter", 4},
                                                 {"attention", 4},     {"output_residual", 4}, {"norm_gate_up", 4},
                                                 {"down_residual", 4}, {"norm_logits", 2}};
  ASSERT_EQ(rows.size(), calls.size());
  for (const OperationProfile& row : rows) {
    ASSERT_TRUE(calls.contains(row.name)) << row.name;
    EXPECT_EQ(row.calls, calls.at(row.name)) << row.name;
    EXPECT_GT(row.bytes, 0u) << row.name;
    EXPECT_GT(row.seconds, 0.0) << row.name;
  }
}

TEST_F(CpuDecoderOnOneModel, ReportsProgressAndDescribesItself) {
  CpuOptions options;
  options.context = 64, options.threads = 3, options.simd = "portable";
  double last = 0;
  bool rising = true;
  options.progress = [&](double done) { rising &= done >= std::exchange(last, done); };
  const std::unique_ptr<Steps> steps = make_cpu_steps(model_.config, model_.tensors, options);
  EXPECT_TRUE(rising);
  EXPECT_DOUBLE_EQ(last, 1.0);
  EXPECT_EQ(steps->description(), "cpu: 3 threads, portable");
}

TEST_F(CpuDecoderOnOneModel, GivesEachSequenceOfABatchItsOwnLogits) {
  CpuOptions options;
  options.threads = 2, options.context = 64, options.sequences = 3;
  Decoder decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  expect_batches_match_the_reference(decoder, model_, decoder_cases()[0].cpu, "qwen2_tied cpu, batches");
}

TEST_F(CpuDecoderOnOneModel, KnowsHowLargeAContextThereIsRoomFor) {
  CpuOptions options;
  options.threads = 1, options.context = 64;
  const uint32_t fits = make_cpu_steps(model_.config, model_.tensors, options)->context_that_fits();
  EXPECT_GT(fits, 64u);
  options.context = fits / 2;  // other processes use that memory, too
  EXPECT_NO_THROW(make_cpu_steps(model_.config, model_.tensors, options));
}

TEST_F(CpuDecoderOnOneModel, RefusesAContextBeyondTheMemory) {
  CpuOptions options;
  options.context = 2'000'000'000;
  try {
    make_cpu_steps(model_.config, model_.tensors, options);
    FAIL() << "2,000,000,000 positions of 1,024 bytes were granted";
  } catch (const MemoryShortage& error) {
    EXPECT_EQ(error.remedy.kind, Remedy::Kind::kSmallerContext);
    EXPECT_GT(error.remedy.context, 64u);
  }
}

TEST_F(CpuDecoderOnOneModel, NamesTheInstructionSetsItHas) {
  CpuOptions options;
  options.context = 64, options.simd = "sse9";
  try {
    make_cpu_steps(model_.config, model_.tensors, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'sse9'"), testing::HasSubstr("portable")));
  }
}

}  // namespace
}  // namespace warpchat
