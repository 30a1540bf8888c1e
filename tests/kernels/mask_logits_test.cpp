// The mask of allowed tokens: the kernel against a loop, and the sampler after it, which never draws a forbidden token.
#include "kernels/sampling/mask_logits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "emulated_kernel.h"
#include "engine/gpu/sampler_state.h"
#include "kernels/common/error_word.h"
#include "models/error.h"
#include "sampling_reference.h"

namespace warpchat {
namespace {

using ::testing::Contains;
using ::testing::Each;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal_logits(uint64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

std::vector<uint32_t> mask_of(uint32_t n_vocab, const std::set<uint32_t>& allowed) {
  std::vector<uint32_t> mask(mask_words(n_vocab));
  for (const uint32_t token : allowed) mask[token / 32] |= 1u << token % 32;
  return mask;
}

bool allows(const std::vector<uint32_t>& masks, uint32_t n_vocab, uint32_t column, uint32_t token) {
  return masks[uint64_t{column} * mask_words(n_vocab) + token / 32] >> token % 32 & 1;
}

// The first n_columns after the mask, the others as they are.
std::vector<float> masked(const MaskLogitsSpec& spec, std::vector<float> logits, const std::vector<uint32_t>& masks,
                          uint32_t n_columns) {
  for (uint32_t column = 0; column < n_columns; ++column)
    for (uint32_t token = 0; token < spec.n_vocab; ++token) {
      float& logit = logits[uint64_t{column} * spec.n_vocab + token];
      if (std::isfinite(logit) && !allows(masks, spec.n_vocab, column, token)) logit = masked_logit(token);
    }
  return logits;
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {  // NaNs are equal
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

struct MaskCase {
  const char* name;
  MaskLogitsSpec spec;
  uint32_t n_columns;  // of the launch
  double allowed;      // share of the tokens
};
std::ostream& operator<<(std::ostream& out, const MaskCase& c) { return out << c.name; }

const MaskCase kCases[] = {
    {"one_token", {1}, 1, 0},
    {"a_whole_word", {32}, 1, 0.5},
    {"part_of_a_second_word", {37, 3}, 3, 0.5},
    {"no_multiple_of_a_word", {1003}, 1, 0.1},
    {"columns", {1003, 5}, 5, 0.5},
    {"fewer_columns_than_supported", {1003, 5}, 2, 0.5},
    {"one_of_several_columns", {37, 4}, 1, 0.2},
    {"nothing_allowed", {300, 2}, 2, 0},
    {"everything_allowed", {300, 2}, 2, 1},
    {"qwen", {151936, 2}, 2, 0.01},
};

class MaskLogits : public ::testing::TestWithParam<MaskCase> {};

TEST_P(MaskLogits, ChangesOnlyWhatIsForbidden) {
  const auto& [name, spec, n_columns, allowed] = GetParam();
  std::mt19937 random(5);
  std::bernoulli_distribution is_allowed(allowed), is_odd(0.02);
  std::vector<float> logits = normal_logits(uint64_t{spec.n_vocab} * spec.columns, 1);
  for (float& logit : logits)
    if (is_odd(random))
      logit = std::array{kNan, -kNan, kInfinity, -kInfinity, -0.0f, 1e38f, -1e38f, 1e-45f}[random() % 8];
  std::vector<uint32_t> masks;  // bits beyond the vocabulary are random, too
  for (uint64_t word = 0; word < uint64_t{mask_words(spec.n_vocab)} * spec.columns; ++word) {
    masks.push_back(0);
    for (uint32_t bit = 0; bit < 32; ++bit) masks.back() |= uint32_t{is_allowed(random)} << bit;
  }
  const ptx::Kernel kernel = mask_logits(spec, ptx::sm_75);
  EXPECT_EQ(kernel.name, name_of(spec));
  for (const uint64_t seed : {0, 1, 2}) {
    GuardedDevice device(ptx::sm_75);
    float* on_device = device.upload(logits);
    const auto launch = [&](auto... more) {
      return device.run_as(seed == 0 ? kAllChecks : reordered(seed), kernel, kernel.launch.blocks, on_device,
                           device.upload(masks), more...);
    };
    ASSERT_EQ(spec.columns > 1 ? launch(n_columns) : launch(), "");
    EXPECT_EQ(bits_of(device.download(on_device, logits.size())), bits_of(masked(spec, logits, masks, n_columns)));
    if (spec.n_vocab > 10000) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MaskLogits, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(MaskedLogits, AreFiniteDistinctInASlotOfEachThreadAndBelowTheFirst) {
  std::set<float> seen;
  for (uint32_t token = 0; token < kMaskedRanks; ++token) {
    const float logit = masked_logit(token);
    EXPECT_LE(logit, kMaskedLogit);
    EXPECT_GE(logit, 2 * kMaskedLogit);
    EXPECT_EQ(logit, masked_logit(token + 3 * kMaskedRanks));
    EXPECT_TRUE(std::isfinite(logit * 1e8f));  // a repeat penalty far beyond what settings allow
    seen.insert(logit);
  }
  EXPECT_EQ(seen.size(), kMaskedRanks);
}

SamplingParams params(float temperature, uint32_t top_k, float top_p, float min_p, float repeat = 1) {
  SamplingParams p;
  p.temperature = temperature, p.top_k = top_k, p.top_p = top_p, p.min_p = min_p, p.repeat_penalty = repeat;
  p.seed = 42;
  return p;
}

// The mask's kernel, then the sampler's; each column draws from the same logits at another position.
class MaskedSampling {
 public:
  MaskedSampling(const SampleSpec& spec, const std::vector<float>& logits, const std::vector<uint32_t>& mask,
                 const SamplingParams& p, const std::vector<uint32_t>& recent = {})
      : spec_(spec), device_(ptx::sm_75) {
    std::vector<float> all;
    std::vector<uint32_t> masks, positions;
    std::vector<uint8_t> states, state = packed_sampler_state(spec, sampler_state(p), recent);
    state.resize(sampler_state_stride(spec), 0xff);
    for (uint32_t column = 0; column < spec.columns; ++column) {
      all.insert(all.end(), logits.begin(), logits.end());
      masks.insert(masks.end(), mask.begin(), mask.end());
      states.insert(states.end(), state.begin(), state.end());
      positions.push_back(column);
    }
    logits_ = device_.upload(all), masks_ = device_.upload(masks), states_ = device_.upload(states);
    tokens_ = device_.upload(std::vector<uint32_t>(spec.columns, UINT32_MAX));
    positions_ = device_.upload(positions), error_ = device_.zeros<uint32_t>(kErrorWords);
  }

  std::string run(ptx::emulator::LaunchOptions options = kAllChecks) {
    const auto launch = [&](const ptx::Kernel& kernel, auto... arguments) {
      return spec_.columns == 1 ? device_.run_as(options, kernel, kernel.launch.blocks, arguments...)
                                : device_.run_as(options, kernel, kernel.launch.blocks, arguments..., spec_.columns);
    };
    const std::string fault = launch(mask_logits({spec_.n_vocab, spec_.columns}, ptx::sm_75), logits_, masks_);
    return fault.empty() ? launch(sample(spec_, ptx::sm_75), logits_, states_, tokens_, positions_, error_) : fault;
  }
  std::vector<uint32_t> tokens() const { return device_.download(tokens_, spec_.columns); }
  ErrorWord error() const { return {static_cast<KernelError>(error_[0]), error_[1], error_[2], error_[3]}; }
  const GuardedDevice& device() const { return device_; }

 private:
  SampleSpec spec_;
  GuardedDevice device_;
  float* logits_;
  uint8_t* states_;
  uint32_t *masks_, *tokens_, *positions_, *error_;
};

// Draws as the rules say for a vocabulary of the allowed tokens alone.
void expect_draws(const SampleSpec& spec, const std::vector<float>& logits, const std::set<uint32_t>& allowed,
                  const SamplingParams& p, const std::vector<uint32_t>& recent = {}) {
  SCOPED_TRACE(std::to_string(allowed.size()) + " of " + std::to_string(spec.n_vocab) + " allowed, top_k " +
               std::to_string(p.top_k) + ", top_p " + std::to_string(p.top_p) + ", min_p " + std::to_string(p.min_p) +
               ", temperature " + std::to_string(p.temperature) + ", threads " + std::to_string(spec.threads));
  MaskedSampling run(spec, logits, mask_of(spec.n_vocab, allowed), p, recent);
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.error().code, KernelError::kNone);
  const std::vector<uint32_t> ids(allowed.begin(), allowed.end());
  std::vector<float> of_allowed;
  for (const uint32_t id : ids) of_allowed.push_back(logits[id]);
  std::vector<uint32_t> recent_of_allowed;  // as indices of ids, in a window of the same tokens
  for (const uint32_t token : recent) {
    const auto found = std::ranges::find(ids, token);
    recent_of_allowed.push_back(found == ids.end() ? UINT32_MAX : static_cast<uint32_t>(found - ids.begin()));
  }
  const std::vector<Share> shares = sampling_shares(of_allowed, p, recent_of_allowed);
  for (uint32_t column = 0; column < spec.columns; ++column) {
    std::vector<uint32_t> expected;
    for (const uint32_t index : drawn_tokens(shares, philox(p.seed, column))) expected.push_back(ids[index]);
    EXPECT_THAT(expected, Contains(run.tokens()[column])) << "column " << column;
  }
}

// With all filters, each alone and none. Blocks of 32 threads search all logits, of 1,024 a few candidates.
TEST(MaskedTokens, AreNeverDrawn) {
  constexpr uint32_t kVocab = 1003;
  const std::vector<float> logits = normal_logits(kVocab, 2);
  std::set<uint32_t> many;
  for (uint32_t token = 1; token < kVocab; token += 3) many.insert(token);
  for (const uint32_t threads : {32u, 1024u})
    for (const std::set<uint32_t>& allowed : {std::set<uint32_t>{77}, {0, 500, 501, 1002}, many})
      for (const SamplingParams& p : {params(0.8f, 40, 0.95f, 0.05f), params(1, 40, 1, 0), params(1e6f, 40, 1, 0),
                                      params(1e6f, 4, 0.5f, 0), params(100, 0, 0.95f, 0), params(100, 0, 1, 0.01f),
                                      params(1e6f, 0, 1, 0), params(0, 40, 0.95f, 0.05f), params(1e-30f, 40, 0.95f, 0)})
        expect_draws({kVocab, threads == 32 ? 12u : 3u, threads}, logits, allowed, p);
}

// Penalties change forbidden logits, too.
TEST(MaskedTokens, StayBelowTheOthersWithPenalties) {
  constexpr uint32_t kVocab = 300;
  std::vector<float> logits = normal_logits(kVocab, 3);
  const std::set<uint32_t> allowed = {3, 40, 41, 200};
  for (const uint32_t token : allowed) logits[token] = -20 - static_cast<float>(token) / 50;  // far below the best
  const std::vector<uint32_t> recent = {3, 5, 40, 40, 9, 3, 128, 0};
  for (const float temperature : {0.0f, 0.8f, 100.0f})
    for (const float repeat : {2.0f, 100.0f, 0.01f})
      for (const float frequency : {0.0f, 100.0f, -100.0f}) {
        SamplingParams p = params(temperature, 40, 0.95f, 0.05f, repeat);
        p.frequency_penalty = p.presence_penalty = frequency;
        for (const uint32_t threads : {32u, 512u}) expect_draws({kVocab, 3, threads}, logits, allowed, p, recent);
      }
}

TEST(MaskedTokens, AreNeverDrawnFromARealVocabulary) {
  const std::vector<float> logits = normal_logits(151936, 4);
  const std::set<uint32_t> one_warp = {1, 7, 8, 220, 4000};  // the lanes of all other warps have forbidden tokens only
  for (const SamplingParams& p :
       {params(0.8f, 40, 0.95f, 0.05f), params(0.8f, 3, 1, 0), params(0, 40, 0.95f, 0.05f, 2)})
    expect_draws({151936, 1}, logits, one_warp, p, {7, 9, 100000});
}

// Otherwise one block would pass over all logits for each digit of a search.
TEST(MaskedTokens, AreFewCandidates) {
  const std::vector<float> logits = normal_logits(151936, 5);
  std::set<uint32_t> all, few, some;
  for (uint32_t token = 0; token < 151936; ++token) all.insert(all.end(), token);
  for (uint32_t token = 10; token < 15; ++token) few.insert(token);
  for (uint32_t token = 0; token < 800; ++token) some.insert(token);
  ptx::emulator::LaunchOptions options = kAllChecks;
  options.count = true;
  const auto instructions = [&](const std::set<uint32_t>& allowed, uint32_t top_k) {
    MaskedSampling run({151936, 1}, logits, mask_of(151936, allowed), params(0.8f, top_k, 0.95f, 0.05f));
    EXPECT_EQ(run.run(options), "");
    EXPECT_TRUE(allowed.contains(run.tokens()[0]));
    return run.device().counters().instructions;
  };
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "only the emulator counts instructions";
  for (const uint32_t top_k : {20u, 40u, 100u}) {
    const uint64_t unmasked = instructions(all, top_k);
    for (const std::set<uint32_t>& allowed : {few, some})
      EXPECT_LT(instructions(allowed, top_k), 2 * unmasked) << allowed.size() << " allowed, top_k " << top_k;
  }
}

TEST(MaskLogitsErrors, AreReportedForForbiddenTokensToo) {
  for (const float wrong : {kNan, kInfinity, -kInfinity}) {
    std::vector<float> logits = normal_logits(300, 6);
    logits[77] = wrong;
    MaskedSampling run({300, 1, 64}, logits, mask_of(300, {5, 6}), params(0.8f, 40, 0.95f, 0.05f));
    ASSERT_EQ(run.run(), "");
    EXPECT_EQ(run.error().code, KernelError::kLogitNotFinite);
    EXPECT_EQ(run.error().value, 77u);
    EXPECT_THAT(run.tokens(), Each(UINT32_MAX));
  }
}

TEST(MaskLogitsSpecs, AreCheckedByName) {
  const std::pair<MaskLogitsSpec, const char*> wrong[] = {
      {{0}, "mask_logits: n_vocab is 0, expected 1 to 2147483647"},
      {{8, 0}, "mask_logits: columns is 0, expected 1 to 65535"},
      {{8, 65536}, "mask_logits: columns is 65536, expected 1 to 65535"},
  };
  for (const auto& [spec, message] : wrong) {
    try {
      mask_logits(spec, ptx::sm_75);
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace warpchat
