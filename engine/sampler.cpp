// Penalties over recent tokens, then the candidate filters in a fixed order, then one draw.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "models/error.h"

namespace warpchat {

namespace {

struct BetterFirst {  // higher logit first, the lower id of equals
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  }
};

}  // namespace

Sampler::Sampler(const SamplingParams& params) : params_(params), random_(params.seed) {}

void Sampler::accept(Token token) {
  if (params_.penalty_window == 0) return;
  recent_.push_back(token);
  if (recent_.size() > params_.penalty_window) recent_.pop_front();
}

Token Sampler::sample(std::span<const float> logits) {
  candidates_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i]))
      throw Error("the model computed a logit that is not finite for token " + std::to_string(i) +
                  "; its file is damaged or its activations overflow");
    candidates_[i] = {static_cast<Token>(i), logits[i]};
  }
  apply_penalties();
  if (params_.temperature <= 0) return std::min_element(candidates_.begin(), candidates_.end(), BetterFirst{})->token;
  keep_top_k();
  keep_top_p_and_min_p();
  return draw();
}

void Sampler::apply_penalties() {
  const bool off = params_.repeat_penalty == 1 && params_.presence_penalty == 0 && params_.frequency_penalty == 0;
  if (off || recent_.empty()) return;
  std::unordered_map<Token, uint32_t> counts;
  for (Token token : recent_) ++counts[token];
  for (const auto& [token, count] : counts) {
    if (token < 0 || static_cast<size_t>(token) >= candidates_.size()) continue;
    float& logit = candidates_[static_cast<size_t>(token)].logit;
    logit = logit > 0 ? logit / params_.repeat_penalty : logit * params_.repeat_penalty;
    logit -= params_.presence_penalty + static_cast<float>(count) * params_.frequency_penalty;
  }
}

// Leaves the candidates sorted, best first.
void Sampler::keep_top_k() {
  const size_t k = params_.top_k == 0 ? candidates_.size() : std::min<size_t>(params_.top_k, candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k), candidates_.end(),
                    BetterFirst{});
  candidates_.resize(k);
}

// top_p: the smallest head whose probability reaches p. min_p: of that head, what has at least p times the best one's
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
