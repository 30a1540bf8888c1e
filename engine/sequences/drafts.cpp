#include "engine/sequences/drafts.h"

#include <algorithm>

namespace warpchat {

namespace {

constexpr double kLearns = 0.2;   // weight of the latest pass or token in running averages
constexpr double kMaxSaved = 8;   // passes: caps past savings, so that they do not pay for new losses

uint64_t hash_of(std::span<const Token> ngram) {
  uint64_t hash = 0;
  for (const Token token : ngram) hash = (hash ^ static_cast<uint32_t>(token)) * 0x9e3779b97f4a7c15u;
  return hash;
}

}  // namespace

void PromptLookup::grow(std::span<const Token> tokens) {
  for (; known_ < tokens.size(); ++known_)
    if (known_ >= kNgram) behind_[hash_of(tokens.subspan(known_ - kNgram, kNgram))] = known_;
}

PromptLookup::Draft PromptLookup::next(std::span<const Token> tokens, uint32_t max) const {
  const auto size = static_cast<uint32_t>(tokens.size());
  if (size < kNgram || max == 0) return {};
  const auto found = behind_.find(hash_of(tokens.last(kNgram)));
  if (found == behind_.end()) return {};
  const uint32_t behind = found->second;
  uint32_t agreeing = 0;
  while (agreeing < std::min(kLongest, behind) && tokens[behind - 1 - agreeing] == tokens[size - 1 - agreeing])
    ++agreeing;
  if (agreeing < kNgram) return {};  // hash collision
  return {tokens.subspan(behind, std::min(max, size - behind)), agreeing};
}

size_t DraftLength::width_of(uint32_t n_drafted) {
  return static_cast<size_t>(std::ranges::lower_bound(kLengths, n_drafted) - std::begin(kLengths));
}

// Expected saving, in units of a pass without draft.
double DraftLength::saved_by(uint32_t n_drafted) const {
  double n_tokens = 1, all_accepted = 1;
  for (uint32_t i = 0; i < n_drafted; ++i) n_tokens += all_accepted *= is_certain_ ? 1 : likelihood_[is_sure_];
  return n_tokens - pass_seconds_[width_of(n_drafted)];
}

uint32_t DraftLength::next(uint32_t agreeing, uint32_t max) {
  if (plain_seconds_ == 0 || n_since_plain_ == kPassesUntilPlain || max == 0) return 0;
  is_sure_ = agreeing >= kSure;
  is_certain_ = agreeing == kCertain;
  uint32_t best = 1;
  for (const uint32_t length : kLengths)
    if (const uint32_t n = std::min(max, length); saved_by(n) > saved_by(best)) best = n;
  if (is_certain_) return saved_by(best) > 0 ? best : 0;
  // Unprofitable drafts are tried while little is lost, to notice when they become profitable.
  const double may_lose = kMayLose * all_seconds_ + (is_sure_ && saved_by(best) > 0 ? plain_seconds_ : 0);
  return saved_ + may_lose > 0 ? best : 0;
}

void DraftLength::record_time(uint32_t n_drafted, uint32_t n_accepted, double seconds) {
  all_seconds_ += seconds;
  if (n_drafted == 0) {
    // A single slow pass must not make drafts look better than they are.
    const double mean = plain_seconds_ + kLearns * (seconds - plain_seconds_);
    plain_seconds_ = plain_seconds_ == 0 ? seconds : std::min(1.02 * plain_seconds_, mean);
    n_since_plain_ = 0;
    return;
  }
  ++n_since_plain_;
  saved_ = std::min(saved_ + (n_accepted + 1) * plain_seconds_ - seconds, kMaxSaved * plain_seconds_);
  double& pass_seconds = pass_seconds_[width_of(n_drafted)];
  pass_seconds += kLearns * (seconds / plain_seconds_ - pass_seconds);
  if (is_certain_) return;
  double& likelihood = likelihood_[is_sure_];
  for (uint32_t i = 0; i < n_accepted; ++i) likelihood += kLearns * (1 - likelihood);
  if (n_accepted < n_drafted) likelihood -= kLearns * likelihood;
}

void DraftLength::caught_up(double seconds) {
  all_seconds_ += seconds;
  saved_ -= seconds - plain_seconds_;
}

}  // namespace warpchat
