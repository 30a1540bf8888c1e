// Passes of several sequences on the CPU: prompts, chunks of prompts and single tokens side by side. Each sequence gets
// the same bits as alone.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/cpu/cpu_steps.h"
#include "engine/decoder.h"
#include "tests/engine/cpu_problems.h"
#include "tests/support/decoder_cases.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 100;

struct PlannedRun {
  uint32_t n_tokens;
  Logits wanted;
};

// A conversation: a prompt in one or more chunks, decoded tokens, another prompt, tokens.
struct Sequence {
  std::vector<Token> tokens;
  std::vector<PlannedRun> runs;
  std::vector<float> logits;  // all that were wanted, in order

  explicit Sequence(uint32_t seed) {
    std::mt19937 random(seed);
    const auto add = [&](uint32_t n) {
      constexpr Logits kWanted[] = {Logits::kNone, Logits::kLast, Logits::kAll};
      runs.push_back({n, kWanted[random() % 3]});
      for (uint32_t i = 0; i < n; ++i) tokens.push_back(static_cast<Token>(random() % 256));
    };
    for (const uint32_t max : {40u, 20u}) {
      add(1 + random() % max);
      if (random() % 2 == 0) add(2 + random() % 10);
      for (uint32_t n = random() % 8; n > 0; --n) add(1);
    }
  }
};

class Runs {
 public:
  Runs(const DecodableModel& model, const std::string& simd, uint32_t sequences, uint32_t threads)
      : decoder_(model.config, make_cpu_steps(model.config, model.tensors, options(simd, sequences, threads))) {}

  // The next run of each of these sequences, as one pass. Keys are sequence numbers of the decoder.
  void pass(const std::vector<std::pair<uint32_t, Sequence*>>& sequences) {
    std::vector<Run> runs;
    for (const auto& [number, s] : sequences) {
      Progress& at = progress_[number];
      const PlannedRun& planned = s->runs[at.runs++];
      runs.push_back(
          {number, at.position, std::span(s->tokens).subspan(at.position, planned.n_tokens), planned.wanted});
      at.position += planned.n_tokens;
    }
    ASSERT_TRUE(decoder_.forward(runs));
    uint32_t end = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      end += runs[i].n_columns();
      for (uint32_t column = end - runs[i].n_wanted(); column < end; ++column) {
        const std::span<const float> row = decoder_.logits(column);
        sequences[i].second->logits.insert(sequences[i].second->logits.end(), row.begin(), row.end());
      }
    }
  }
  bool has_more(uint32_t number, const Sequence& s) { return progress_[number].runs < s.runs.size(); }
  uint32_t next_tokens(uint32_t number, const Sequence& s) { return s.runs[progress_[number].runs].n_tokens; }
  const Decoder& decoder() const { return decoder_; }

 private:
  struct Progress {
    size_t runs = 0;
    uint32_t position = 0;
  };
  static CpuOptions options(const std::string& simd, uint32_t sequences, uint32_t threads) {
    CpuOptions options;
    options.threads = threads, options.context = kContext, options.max_columns = 64;
    options.sequences = sequences, options.simd = simd;
    return options;
  }
  Decoder decoder_;
  std::map<uint32_t, Progress> progress_;
};

void expect_batched_like_single(const DecoderCase& c, const std::string& simd, uint32_t n_sequences) {
  SCOPED_TRACE(std::string(c.name) + ", " + simd + ", " + std::to_string(n_sequences) + " sequences");
  const DecodableModel model = load(c);
  std::vector<Sequence> alone, together;
  for (uint32_t i = 0; i < n_sequences; ++i) alone.emplace_back(i), together.emplace_back(i);
  for (Sequence& s : alone) {
    Runs runs(model, simd, 1, 1);
    while (runs.has_more(0, s)) runs.pass({{0, &s}});
  }
  Runs runs(model, simd, n_sequences, 3);
  for (std::mt19937 random(n_sequences);;) {
    std::vector<std::pair<uint32_t, Sequence*>> left, joined;
    for (uint32_t i = 0; i < n_sequences; ++i)
      if (runs.has_more(i, together[i])) left.emplace_back(i, &together[i]);
    if (left.empty()) break;
    std::shuffle(left.begin(), left.end(), random);
    left.resize(1 + random() % left.size());
    uint32_t room = runs.decoder().max_columns();
    for (const auto& [number, s] : left) {
      if (runs.next_tokens(number, *s) > room) continue;
      room -= runs.next_tokens(number, *s);
      joined.emplace_back(number, s);
    }
    runs.pass(joined);
  }
  for (uint32_t i = 0; i < n_sequences; ++i) EXPECT_EQ(alone[i].logits, together[i].logits) << "sequence " << i;
}

TEST(CpuRuns, GiveEachSequenceItsBitsInAnyBatch) {
  for (const DecoderCase& c : decoder_cases()) expect_batched_like_single(c, "", 3);
  for (const uint32_t n : {1u, 2u, 8u}) expect_batched_like_single(decoder_cases()[0], "", n);
}

TEST(CpuRuns, GiveThemOnEveryInstructionSet) {
  for (const std::string& simd : instruction_sets())
    for (const DecoderCase& c : decoder_cases())
      if (std::string(c.name) == "formats_mixed_in_one_step") expect_batched_like_single(c, simd, 20);
}

class CpuPages : public testing::TestWithParam<KvType> {
 protected:
  Decoder decoder(uint32_t sequences = 1, uint32_t pages = 0) const {
    CpuOptions options;
    options.threads = 2, options.context = 300, options.sequences = sequences, options.pages = pages;
    options.cache = {GetParam(), GetParam()};
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  // The logits of tokens_[first..end), as one run.
  std::vector<float> run(Decoder& decoder, uint32_t first, uint32_t end, uint32_t sequence = 0) const {
    const std::span<const Token> tokens = std::span(tokens_).subspan(first, end - first);
    EXPECT_TRUE(decoder.forward(tokens, first, Logits::kLast, nullptr, sequence));
    const std::span<const float> row = decoder.logits(end - first - 1);
    return {row.begin(), row.end()};
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/5);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  const std::vector<Token> tokens_ = some_tokens(300);
};

TEST_P(CpuPages, MayLieInAnyOrder) {
  Decoder in_order = decoder(), shuffled = decoder(1, 9);
  EXPECT_EQ(in_order.steps().n_pages(), 5u) << "of 64 positions";
  EXPECT_EQ(shuffled.steps().n_pages(), 9u);
  shuffled.steps().set_pages(0, std::vector<uint32_t>{7, 0, 8, 3, 4});
  for (const auto& [first, end] : {std::pair(0u, 150u), {150u, 151u}, {151u, 299u}, {299u, 300u}})
    EXPECT_EQ(run(in_order, first, end), run(shuffled, first, end)) << first;
}

// A sequence gets pages one by one; they may have held another sequence's data.
TEST_P(CpuPages, MayComeLateAndHaveHeldAnything) {
  Decoder fresh = decoder(), used = decoder(2, 5);
  run(used, 0, 300, 0);
  const std::vector<uint32_t> pages = {4, 1, 3, 0, 2};
  for (uint32_t first = 0; first < 300; first += 60) {
    used.steps().set_pages(1, std::span(pages).first((first + 60 + 63) / 64));
    EXPECT_EQ(run(fresh, first, first + 60), run(used, first, first + 60, 1)) << first;
  }
}

// As in a fork: full pages are shared, the last one is copied, and both sequences continue.
TEST_P(CpuPages, MayBeSharedAndCopied) {
  Decoder alone = decoder(), forked = decoder(2, 9);
  Steps& steps = forked.steps();
  steps.set_pages(0, std::vector<uint32_t>{0, 1, 2, 3, 4});
  run(alone, 0, 150), run(forked, 0, 150);
  steps.copy_page(2, 6);
  steps.set_pages(1, std::vector<uint32_t>{0, 1, 6, 5, 7});
  const std::vector<Token> other(20, 9);
  ASSERT_TRUE(forked.forward(other, 150, Logits::kNone, nullptr, 0));
  EXPECT_EQ(run(alone, 150, 160), run(forked, 150, 160, 1));
  EXPECT_EQ(run(alone, 160, 161), run(forked, 160, 161, 1));
  EXPECT_EQ(run(alone, 150, 160), run(forked, 150, 160, 0)) << "nor has it lost the positions that it rewinds";
}

std::string type_name(const testing::TestParamInfo<KvType>& info) {
  constexpr const char* kNames[] = {"f16", "q8_0", "f32"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(EveryType, CpuPages, testing::Values(KvType::kF16, KvType::kQ8_0, KvType::kF32), type_name);

}  // namespace
}  // namespace warpchat
