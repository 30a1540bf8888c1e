#include "engine/token_source.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/device_sampler.h"
#include "engine/profile.h"

namespace warpchat {

namespace {

// Samples on the host: copies logits down and sends the token back.
class HostTokens final : public TokenSource {
 public:
  HostTokens(Decoder& decoder, TokenRun run)
      : decoder_(decoder), sampler_(run.sampling), position_(run.position), column_(run.last_column) {
    for (const Token token : run.recent) sampler_.accept(token);
  }

  std::optional<Token> next(const std::atomic<bool>& stop) override {
    if (stop) return std::nullopt;
    if (last_) {
      if (!decoder_.forward({&*last_, 1}, position_, Logits::kLast, &stop)) {
        is_broken_ = true;
        return std::nullopt;
      }
      ++position_;
      column_ = 0;
    }
    last_ = sampler_.sample(decoder_.logits(column_));
    sampler_.accept(*last_);
    return last_;
  }

  std::optional<std::vector<Token>> end() override {
    if (is_broken_) return std::nullopt;
    return std::vector<Token>();
  }

 private:
  Decoder& decoder_;
  Sampler sampler_;
  uint32_t position_, column_;
  std::optional<Token> last_;
  bool is_broken_ = false;  // a pass was interrupted
};

// Launches the next pass before the host has read the token, except for the first one, to keep time to first token low.
class DeviceTokens final : public TokenSource {
 public:
  DeviceTokens(Decoder& decoder, DeviceSampler& sampler, const TokenRun& run)
      : decoder_(decoder), sampler_(sampler), position_(run.position), tokens_left_(run.max_tokens) {
    const DeviceSampler::Start start{run.sampling, run.recent};
    sampler_.start({&start, 1});
    sampler_.sample();
  }

  std::optional<Token> next(const std::atomic<bool>& stop) override {
    if (stop) return std::nullopt;
    assert(tokens_left_ > 0);
    const uint64_t wanted = is_first_ ? 1 : std::min<uint64_t>(tokens_left_, 2);
    while (n_chosen_ < wanted) {
      if (position_ == decoder_.max_positions()) break;
      if (!decoder_.forward_sampled(&stop)) {
        is_broken_ = true;
        return std::nullopt;
      }
      sampler_.sample();
      ++position_, ++n_chosen_;
    }
    is_first_ = false;
    --tokens_left_, --n_chosen_;
    return sampler_.read()[0];
  }

  std::optional<std::vector<Token>> end() override {
    if (is_broken_) return std::nullopt;
    std::vector<Token> ahead;
    if (!is_first_ && n_chosen_ > 0) ahead.push_back(sampler_.read()[0]);
    n_chosen_ = 0;
    return ahead;
  }

 private:
  Decoder& decoder_;
  DeviceSampler& sampler_;
  uint32_t position_;      // the next pass's position
  uint64_t tokens_left_;   // that next() may still return
  uint32_t n_chosen_ = 1;  // sampled tokens not yet read
  bool is_first_ = true, is_broken_ = false;
};

}  // namespace

std::unique_ptr<TokenSource> Steps::token_source(Decoder&, const TokenRun&) { return nullptr; }

void Steps::copy_state(uint32_t, uint32_t) { assert(false && "a device without states"); }

void Steps::set_measuring(bool on) { profile().set_enabled(on); }

void Steps::set_launch_mode(LaunchMode) { throw Error(description() + " has no launch modes; a GPU has"); }

bool Steps::teacher_force(std::span<const Token>, uint32_t, const std::function<void(std::span<const float>)>&) {
  return false;
}

std::unique_ptr<TokenSource> make_token_source(Decoder& decoder, TokenRun run) {
  if (std::unique_ptr<TokenSource> source = decoder.steps().token_source(decoder, run)) return source;
  if (decoder.steps().sampler() != nullptr) return make_device_token_source(decoder, run);
  return std::make_unique<HostTokens>(decoder, std::move(run));
}

std::unique_ptr<TokenSource> make_device_token_source(Decoder& decoder, const TokenRun& run) {
  return std::make_unique<DeviceTokens>(decoder, *decoder.steps().sampler(), run);
}

}  // namespace warpchat
