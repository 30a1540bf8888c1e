// Penalties over recent tokens and a mask, then the candidate filters in a fixed order, then one draw.
#include "engine/sampler.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "models/error.h"

namespace warpchat {

namespace {

struct BetterFirst {  // higher logit first, then lower id
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  }
};

constexpr float kForbidden = -std::numeric_limits<float>::infinity();  // no logit of a model is that low

constexpr size_t kBlock = 64, kLanes = 16;  // kLanes: independent, so that the compiler vectorises

float highest_of(std::span<const float> block) {
  if (block.size() < kBlock) return std::ranges::max(block);
  float highest[kLanes];
  std::copy_n(block.begin(), kLanes, highest);
  for (size_t i = kLanes; i < kBlock; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      highest[lane] = block[i + lane] > highest[lane] ? block[i + lane] : highest[lane];
  return *std::max_element(highest, highest + kLanes);
}

}  // namespace

void require_finite(std::span<const float> logits) {
  float nothing[kLanes] = {};
  for (size_t i = 0; i + kLanes <= logits.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) nothing[lane] += logits[i + lane] * 0;
  for (size_t i = logits.size() / kLanes * kLanes; i < logits.size(); ++i) nothing[0] += logits[i] * 0;
  if (std::accumulate(nothing, nothing + kLanes, 0.0f) == 0) return;
  const auto found = std::ranges::find_if(logits, [](float logit) { return !std::isfinite(logit); });
  throw Error("the model computed a logit that is not finite for token " + std::to_string(found - logits.begin()) +
              "; its file is damaged or its activations overflow");
}

Sampler::Sampler(const SamplingParams& params) : params_(params), random_(params.seed) {}

void Sampler::accept(Token token) {
  if (params_.penalty_window == 0) return;
  recent_.push_back(token);
  if (recent_.size() > params_.penalty_window) recent_.pop_front();
}

Token Sampler::sample(std::span<const float> logits, std::span<const uint32_t> mask) {
  require_finite(logits);
  logits = adjusted(logits, mask);
  const bool is_greedy = params_.temperature <= 0;
  const size_t top_k = params_.top_k == 0 ? logits.size() : std::min<size_t>(params_.top_k, logits.size());
  keep_best(logits, is_greedy ? 1 : top_k);
  if (is_greedy) return candidates_.front().token;
  keep_top_p_and_min_p();
  return draw();
}

bool Sampler::has_penalties() const {
  const bool off = params_.repeat_penalty == 1 && params_.presence_penalty == 0 && params_.frequency_penalty == 0;
  return !off && !recent_.empty();
}

std::span<const float> Sampler::adjusted(std::span<const float> logits, std::span<const uint32_t> mask) {
  if (!has_penalties() && mask.empty()) return logits;
  adjusted_.assign(logits.begin(), logits.end());
  if (has_penalties()) penalise();
  for (size_t first = 0; first < adjusted_.size() && !mask.empty(); first += 32) {
    const uint32_t allowed = mask[first / 32];
    if (allowed == UINT32_MAX) continue;
    for (size_t i = first; i < std::min(first + 32, adjusted_.size()); ++i)
      if ((allowed >> (i - first) & 1) == 0) adjusted_[i] = kForbidden;
  }
  return adjusted_;
}

void Sampler::penalise() {
  std::unordered_map<Token, uint32_t> counts;
  for (Token token : recent_) ++counts[token];
  for (const auto& [token, count] : counts) {
    if (token < 0 || static_cast<size_t>(token) >= adjusted_.size()) continue;
    float& logit = adjusted_[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / params_.repeat_penalty : logit * params_.repeat_penalty;
    logit -= params_.presence_penalty + static_cast<float>(count) * params_.frequency_penalty;
  }
}

// The k best, best first. They are at least the k-th highest of all block maxima, so few logits of a large vocabulary
// need a closer look.
void Sampler::keep_best(std::span<const float> logits, size_t k) {
  const auto block = [&](size_t i) { return logits.subspan(i * kBlock, std::min(kBlock, logits.size() - i * kBlock)); };
  highest_.resize((logits.size() + kBlock - 1) / kBlock);
  for (size_t i = 0; i < highest_.size(); ++i) highest_[i] = highest_of(block(i));
  float min = kForbidden;
  if (k < highest_.size()) {
    ordered_ = highest_;
    const auto kth = ordered_.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(ordered_.begin(), kth, ordered_.end(), std::greater<>());
    min = *kth;
  }
  candidates_.clear();
  for (size_t i = 0; i < highest_.size(); ++i) {
    if (highest_[i] < min) continue;
    for (const float& logit : block(i))
      if (logit >= min && logit != kForbidden)
        candidates_.push_back({static_cast<Token>(&logit - logits.data()), logit});
  }
  k = std::min(k, candidates_.size());
  assert(k > 0 && "no token is allowed");
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k), candidates_.end(),
                    BetterFirst{});
  candidates_.resize(k);
}

// top_p: the smallest head whose probability reaches p. min_p: members of that head with at least p times the best
// probability. Both keep at least one candidate.
void Sampler::keep_top_p_and_min_p() {
  const double best = candidates_.front().logit;
  size_t keep = candidates_.size();
  if (params_.top_p < 1) {
    double total = 0;
    for (const Candidate& c : candidates_) total += std::exp(c.logit - best);
    double sum = 0;
    for (keep = 0; keep < candidates_.size();) {
      sum += std::exp(candidates_[keep++].logit - best);
      if (sum >= params_.top_p * total) break;
    }
  }
  if (params_.min_p > 0) {
    size_t above = 1;
    while (above < keep && std::exp(candidates_[above].logit - best) >= params_.min_p) ++above;
    keep = above;
  }
  candidates_.resize(std::max<size_t>(keep, 1));
}

Token Sampler::draw() {
  const double best = candidates_.front().logit;
  auto weight = [&](const Candidate& c) { return std::exp((c.logit - best) / params_.temperature); };
  double total = 0;
  for (const Candidate& c : candidates_) total += weight(c);
  // 53 random bits: the same sequence on every standard library, unlike std::uniform_real_distribution.
  double left = static_cast<double>(random_() >> 11) * 0x1p-53 * total;
  for (const Candidate& c : candidates_) {
    left -= weight(c);
    if (left < 0) return c.token;
  }
  return candidates_.back().token;
}

}  // namespace warpchat
