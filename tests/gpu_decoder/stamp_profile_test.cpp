// The profile of a persistent launch: calls per phase and, with a trace, the work of each multiprocessor.
#include "engine/gpu/stamp_profile.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

class StampProfiles : public testing::Test {
 protected:
  // The sampler's kernel chooses the first token; the persistent decoder generates n_tokens more.
  std::vector<Token> generate(uint32_t n_tokens = kTokens) {
    const std::vector<Token> prompt = {5, 6, 7};
    decoder_.forward(prompt, 0, Logits::kLast);
    SamplingParams greedy;
    greedy.temperature = 0;
    const auto source = make_token_source(decoder_, {greedy, prompt, 3, 2, n_tokens + 1});
    std::vector<Token> tokens;
    while (tokens.size() <= n_tokens) tokens.push_back(*source->next(false));
    return tokens;
  }
  std::map<std::string, uint64_t> calls_of_phases() const {
    std::map<std::string, uint64_t> calls;
    for (const OperationProfile& row : profile_.rows()) {
      if (row.calls == 0 || !row.name.starts_with("persistent ")) continue;
      calls[row.name.substr(std::string("persistent ").size())] = row.calls;
      if (row.name != "persistent emit") {
        EXPECT_GT(row.bytes, 0u) << row.name;
      }
    }
    return calls;
  }

  static constexpr uint32_t kTokens = 4;
  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/2);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  Decoder decoder_{model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                 {test_device(), {.context = 192}, LaunchMode::kPersistent, {}})};
  Profile& profile_ = decoder_.steps().profile();
  const uint64_t of_layers_ = uint64_t{kTokens} * model_.config.n_layers;
  const std::map<std::string, uint64_t> every_phase_ = {
      {"embed", kTokens},     {"qkv", of_layers_},     {"attention", of_layers_},
      {"output", of_layers_}, {"gate_up", of_layers_}, {"down", of_layers_},
      {"logits", kTokens},    {"sample", kTokens},     {"emit", kTokens}};
};

TEST_F(StampProfiles, CountEveryPhase) {
  const std::vector<Token> tokens = generate();
  EXPECT_TRUE(calls_of_phases().empty()) << "off";
  profile_.set_enabled(true);
  EXPECT_EQ(generate(), tokens);
  EXPECT_EQ(calls_of_phases(), every_phase_);
}

// A launch ends when the stamps of a trace fill its rings. The next launch continues.
TEST_F(StampProfiles, CountEveryPhaseOfSeveralLaunches) {
  constexpr uint32_t kMany = 150;
  uint64_t stamps = 0;
  for (const auto& [phase, calls] : every_phase_) stamps += calls / kTokens * kMany * 2;
  ASSERT_GT(stamps, StampProfile::kStampsPerBlock);
  const std::vector<Token> first = generate(kTokens);
  profile_.set_enabled(true);
  profile_.keep_trace();
  const std::vector<Token> tokens = generate(kMany);
  EXPECT_TRUE(std::ranges::equal(std::span(tokens).first(first.size()), first));
  EXPECT_EQ(calls_of_phases()["embed"], kMany);
  EXPECT_EQ(calls_of_phases()["down"], uint64_t{kMany} * model_.config.n_layers);
}

// A phase lasts until the next one begins. Bytes are totals over all blocks, so the time must cover all blocks, too.
TEST_F(StampProfiles, LeaveNoTimeBetweenThem) {
  profile_.keep_trace();
  profile_.set_enabled(true);
  generate();
  std::vector<TraceSpan> phases;
  for (const TraceSpan& span : profile_.trace())
    if (span.lane == TraceSpan::kWhole && profile_.rows()[span.operation].name.starts_with("persistent "))
      phases.push_back(span);
  ASSERT_GT(phases.size(), 0u);
  for (size_t i = 1; i < phases.size(); ++i)
    EXPECT_NEAR(phases[i].start, phases[i - 1].start + phases[i - 1].seconds, 1e-9) << i;
}

// A phase consists of work and of the wait after it. Without a trace, only the first block records times.
TEST_F(StampProfiles, TellWaitingFromWork) {
  for (const bool with_trace : {false, true}) {
    profile_.reset();
    profile_.keep_trace(with_trace ? size_t{1} << 18 : 0);
    profile_.set_enabled(true);
    generate();
    double waited = 0;
    for (const OperationProfile& row : profile_.rows()) {
      EXPECT_GE(row.wait_seconds, 0) << row.name;
      EXPECT_LE(row.wait_seconds, row.seconds) << row.name;
      if (row.name.starts_with("persistent ")) {
        waited += row.wait_seconds;
      } else {
        EXPECT_EQ(row.wait_seconds, 0) << row.name << " waits at no barrier";
      }
    }
    EXPECT_GT(waited, 0) << with_trace;
  }
}

// Only one block publishes a token; the others just wait for it.
TEST_F(StampProfiles, WaitWhereOneBlockWorksAlone) {
  profile_.keep_trace();
  profile_.set_enabled(true);
  generate();
  for (const OperationProfile& row : profile_.rows()) {
    if (row.name != "persistent emit") continue;
    EXPECT_GT(row.wait_seconds, row.seconds / 2);
    return;
  }
  ADD_FAILURE() << "nothing was published";
}

TEST_F(StampProfiles, WithATraceShowWhatEachMultiprocessorDid) {
  const std::vector<Token> tokens = generate();
  profile_.set_enabled(true);
  profile_.keep_trace();
  EXPECT_EQ(generate(), tokens);
  EXPECT_EQ(calls_of_phases(), every_phase_) << "shares are not calls";
  uint64_t n_phases = 0;
  for (const auto& [phase, calls] : every_phase_) n_phases += calls;
  std::map<uint32_t, std::vector<TraceSpan>> lanes;
  for (const TraceSpan& span : profile_.trace())
    if (span.lane != TraceSpan::kWhole) lanes[span.lane].push_back(span);
  EXPECT_GT(lanes.size(), 1u);
  for (const auto& [sm, shares] : lanes) {
    ASSERT_EQ(shares.size(), n_phases) << "SM " << sm;
    for (size_t i = 0; i < shares.size(); ++i) {
      EXPECT_EQ(shares[i].operation, lanes.begin()->second[i].operation) << "the same phases on every one";
      EXPECT_GE(shares[i].seconds, 0);
      if (i > 0) {
        EXPECT_GE(shares[i].start, shares[i - 1].start + shares[i - 1].seconds - 1e-9) << "a barrier lies between";
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
