// Passes of a prefill on a device that only records: their lengths, when progress is reported, and what a stop leaves
// undone. The device has its own clock, so nothing depends on real time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/decoder.h"
#include "engine/profile.h"
#include "kernels/attention/kv_cache.h"

namespace warpchat {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Le;

// Takes a given time per token. A pass is computed when the host waits for it, or at once.
class AccountedSteps final : public Steps {
 public:
  struct Options {
    std::function<double(uint32_t position)> seconds_a_token;
    bool at_once = true, emulated = false;
    uint32_t max = 512;
  };
  explicit AccountedSteps(Options options) : options_(std::move(options)) {}

  uint32_t max_columns() const override { return options_.max; }
  uint32_t max_logits_columns() const override { return 1; }
  uint32_t max_sequences() const override { return 1; }
  uint32_t max_positions() const override { return 1 << 20; }
  uint32_t n_pages() const override { return pages_of(max_positions()); }
  void set_pages(uint32_t, std::span<const uint32_t>) override {}
  void copy_page(uint32_t, uint32_t) override {}
  std::string description() const override { return "accounts"; }
  Profile& profile() override { return profile_; }
  std::vector<MemoryUse> memory() const override { return {}; }
  uint64_t weight_bytes_per_token() const override { return 0; }
  bool is_emulated() const override { return options_.emulated; }

  void begin(std::span<const Run> runs) override {
    passes.push_back(runs[0].n_columns());
    seconds.push_back(0);
    for (uint32_t i = 0; i < runs[0].n_columns(); ++i) seconds.back() += options_.seconds_a_token(runs[0].position + i);
  }
  bool run(const Operation&) override { return true; }
  PassEnd end_pass() override {
    const size_t pass = passes.size() - 1;
    return [this, pass](bool wait) -> std::optional<double> {
      if (wait && on_wait) on_wait(pass);
      if (wait || options_.at_once) n_computed = std::max(n_computed, pass + 1);
      return pass < n_computed ? std::optional(seconds[pass]) : std::nullopt;
    };
  }
  void wait() override {}
  bool read_columns(Buffer, uint32_t, std::span<float>) override { return false; }
  bool write_columns(Buffer, uint32_t, std::span<const float>) override { return false; }
  std::span<const float> read_logits(uint32_t) override { return {}; }

  std::vector<uint32_t> passes;  // their lengths
  std::vector<double> seconds;   // duration of each pass
  size_t n_computed = 0;
  std::function<void(size_t pass)> on_wait;

 private:
  Options options_;
  Profile profile_;
};

struct Prefill {
  explicit Prefill(AccountedSteps::Options options, const ExpertsConfig& experts = {})
      : decoder({.n_layers = 1, .layers = {{}}, .experts = experts},
                std::make_unique<AccountedSteps>(std::move(options))),
        steps(dynamic_cast<AccountedSteps&>(decoder.steps())) {}
  std::optional<uint32_t> run(uint32_t n_tokens, const PrefillWatch& watch = {}) {
    steps.passes.clear(), steps.seconds.clear(), steps.n_computed = 0;
    return decoder.prefill(std::vector<Token>(n_tokens), 0, 0, watch);
  }
  Decoder decoder;
  AccountedSteps& steps;
};

AccountedSteps::Options at_speed(double tokens_per_second) {
  return {[=](uint32_t) { return 1 / tokens_per_second; }};
}

TEST(Prefill, IsCutIntoPassesOfASixthOfASecond) {
  Prefill on(at_speed(1300));
  EXPECT_EQ(on.run(1000), 103u) << "the column of the last token's logits";
  EXPECT_THAT(on.steps.passes, ElementsAre(128, 192, 192, 192, 192, 104));
}

TEST(Prefill, NeverTakesLongerThanItMayOnceTheSpeedIsKnown) {
  for (const double speed : {300.0, 500.0, 1e3, 3e3, 1e4, 1e6}) {
    Prefill on({[=](uint32_t position) { return (1 + position / 2000.0) / speed; }});  // attention's cost grows
    on.run(5000);
    for (size_t i = 0; i < on.steps.passes.size(); ++i) {
      EXPECT_TRUE(on.steps.seconds[i] <= 0.2 || on.steps.passes[i] <= PassLength::kMin) << speed << ", pass " << i;
    }
    EXPECT_EQ(std::accumulate(on.steps.passes.begin(), on.steps.passes.end(), 0u), 5000u);
  }
}

// Shorter passes would mostly read weights.
TEST(Prefill, OfASlowModelHasPassesOfAFewTokens) {
  Prefill on(at_speed(10));
  on.run(392);
  EXPECT_THAT(on.steps.passes, ElementsAre(128, 128, 112, 24));
}

// 16 columns for each expert.
TEST(Prefill, OfAMixtureOfExpertsHasLongerOnes) {
  Prefill on(at_speed(10), {.n = 64, .n_used = 4});
  on.run(600);
  EXPECT_THAT(on.steps.passes, ElementsAre(256, 256, 88));
  Prefill of_many(at_speed(10), {.n = 512, .n_used = 10});
  of_many.run(600);
  EXPECT_THAT(of_many.steps.passes, ElementsAre(512, 88));
}

TEST(Prefill, RemembersTheSpeed) {
  Prefill on(at_speed(1e5));
  on.run(1100);
  EXPECT_THAT(on.steps.passes, ElementsAre(128, 512, 460));
  on.run(1100);
  EXPECT_THAT(on.steps.passes, ElementsAre(512, 512, 76));
}

TEST(Prefill, OfAnEmulatorHasWholePasses) {
  AccountedSteps::Options slow = at_speed(1);
  slow.emulated = true;
  Prefill on(slow);
  on.run(1025);
  EXPECT_THAT(on.steps.passes, ElementsAre(512, 512, 1));
}

TEST(Prefill, HasShortPassesOnlyWhereItIsShort) {
  for (const uint32_t max : {16u, 128u, 200u, 512u}) {
    for (const double speed : {10.0, 1e4}) {
      AccountedSteps::Options options = at_speed(speed);
      options.max = max;
      Prefill on(options);
      for (uint32_t n = 1; n < 700; n += 3) {
        on.run(n);
        EXPECT_EQ(std::accumulate(on.steps.passes.begin(), on.steps.passes.end(), 0u), n);
        EXPECT_THAT(on.steps.passes, Each(Le(max)));
        if (max <= PassLength::kMin) continue;  // then the time limit has no effect
        for (const uint32_t pass : on.steps.passes) EXPECT_GE(pass, std::min(n, PassLength::kUnit)) << n;
        on.steps.passes.pop_back();
        for (const uint32_t pass : on.steps.passes) EXPECT_EQ(pass % PassLength::kUnit, 0u) << n;
      }
    }
  }
}

TEST(PassLengths, OfAPromptThatOthersWaitBesideAreAsShortAsTheyWish) {
  const PassLength cpu(512, /*fixed=*/false, /*in_units=*/false), gpu(512, false, true);
  for (const uint32_t max : {1u, 2u, 15u}) {
    EXPECT_EQ(cpu.next(100, max), max);
    EXPECT_EQ(cpu.next(1, max), 1u);
    EXPECT_EQ(gpu.next(100, max), PassLength::kUnit);
  }
  for (const PassLength* length : {&cpu, &gpu}) EXPECT_EQ(length->next(100, 40), 32u);
}

// Chunks begin at the same positions for any clock, and the last pass is long enough.
TEST(PassLengths, OfAStateThatGoesInChunksAreMultiplesOfThose) {
  for (const double seconds : {0.01, 0.2, 1.0, 5.0}) {
    PassLength length(500, /*fixed=*/false, /*in_units=*/true, PassLength::kChunk);
    for (uint32_t left = 1; left < 1500; left += 7) {
      for (const uint32_t max : {1u, 100u, UINT32_MAX}) {
        const uint32_t n = length.next(left, max);
        EXPECT_TRUE(n == left || n % PassLength::kChunk == 0) << n << " of " << left;
        EXPECT_TRUE(n == left || left - n >= PassLength::kChunk) << n << " of " << left;
      }
      length.record_time(300, seconds);
    }
  }
}

TEST(Prefill, TellsOfAPassWhenItHasBeenComputed) {
  AccountedSteps::Options later = at_speed(500);
  later.at_once = false;
  Prefill on(later);
  size_t n_told = 0;
  const auto told = [&](std::span<const Token> pass) {
    EXPECT_EQ(pass.size(), on.steps.passes[n_told]);
    EXPECT_EQ(on.steps.n_computed, ++n_told);
    EXPECT_LE(on.steps.passes.size(), n_told + 1) << "exactly one is under way meanwhile";
  };
  EXPECT_TRUE(on.run(1280, {nullptr, told}));
  EXPECT_EQ(n_told, 10u);
  EXPECT_EQ(on.steps.n_computed, n_told) << "all of it when it returns";
}

TEST(Prefill, WaitsForOnePassAtMostAfterAStop) {
  for (size_t stopped_at = 0; stopped_at < 10; ++stopped_at) {
    AccountedSteps::Options later = at_speed(500);
    later.at_once = false;
    Prefill on(later);
    std::atomic<bool> stop = false;
    size_t n_waits = 0, n_told = 0;
    on.steps.on_wait = [&](size_t pass) {
      n_waits += stop;
      if (pass == stopped_at) stop = true;  // while the host waits for this pass
    };
    const std::optional<uint32_t> column = on.run(1280, {&stop, [&](auto) { ++n_told; }});
    EXPECT_EQ(column.has_value(), stopped_at == 9) << "all was computed by then";
    EXPECT_EQ(n_waits, 0u);
    EXPECT_EQ(n_told, stopped_at + 1);
  }
}

TEST(Prefill, DoesNothingOnceItIsStopped) {
  Prefill on(at_speed(500));
  const std::atomic<bool> stop = true;
  EXPECT_EQ(on.run(640, {&stop, [](auto) { ADD_FAILURE() << "nothing has been computed"; }}), std::nullopt);
  EXPECT_EQ(on.run(10), 9u) << "and continues when asked again";
}

}  // namespace
}  // namespace warpchat
