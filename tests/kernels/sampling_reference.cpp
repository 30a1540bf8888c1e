#include "tests/kernels/sampling_reference.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace warpchat {

namespace {

void penalise(std::vector<float>& logits, const SamplingParams& p, const std::vector<uint32_t>& recent) {
  std::map<uint32_t, int> occurrences;
  const size_t n = std::min<size_t>(recent.size(), p.penalty_window);
  for (size_t i = recent.size() - n; i < recent.size(); ++i) ++occurrences[recent[i]];
  for (const auto& [token, n_times] : occurrences) {
    if (token >= logits.size()) continue;
    float& logit = logits[token];
    logit = logit > 0 ? logit / p.repeat_penalty : logit * p.repeat_penalty;
    logit -= p.presence_penalty + static_cast<float>(n_times) * p.frequency_penalty;
  }
}

}  // namespace

std::vector<Share> sampling_shares(std::vector<float> logits, const SamplingParams& p,
                                   const std::vector<uint32_t>& recent) {
  penalise(logits, p, recent);
  std::vector<uint32_t> order(logits.size());
  for (uint32_t id = 0; id < order.size(); ++id) order[id] = id;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return logits[a] > logits[b]; });
  if (p.temperature <= 0) return {{order[0], 1.0}};
  if (p.top_k > 0 && p.top_k < order.size()) order.resize(p.top_k);
  const double best = logits[order[0]];
  const auto odds = [&](uint32_t id) { return std::exp(logits[id] - best); };
  if (p.top_p < 1) {
    double total = 0, head = 0;
    for (uint32_t id : order) total += odds(id);
    size_t n = 0;
    while (n < order.size() && (n == 0 || head < p.top_p * total)) head += odds(order[n++]);
    order.resize(n);
  }
  while (order.size() > 1 && odds(order.back()) < p.min_p) order.pop_back();
  std::sort(order.begin(), order.end());
  std::vector<Share> shares;
  double total = 0;
  for (uint32_t id : order) {
    shares.push_back({id, std::exp((logits[id] - best) / p.temperature)});
    total += shares.back().probability;
  }
  for (Share& share : shares) share.probability /= total;
  return shares;
}

uint64_t philox(uint64_t key, uint32_t counter) {
  uint32_t x[4] = {counter, 0, 0, 0}, k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  for (int round = 0; round < 10; ++round, k[0] += 0x9e3779b9, k[1] += 0xbb67ae85) {
    const uint64_t a = uint64_t{0xd2511f53} * x[0], b = uint64_t{0xcd9e8d57} * x[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k[0], static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ x[3] ^ k[1], static_cast<uint32_t>(a)};
    std::copy(next, next + 4, x);
  }
  return uint64_t{x[1]} << 32 | x[0];
}

std::vector<uint32_t> drawn_tokens(const std::vector<Share>& shares, uint64_t random) {
  constexpr double kUndecided = 1e-5;
  const double ticket = static_cast<double>(random) * 0x1p-64;
  std::vector<uint32_t> tokens;
  double end = 0;
  for (const Share& share : shares) {
    const double begin = end;
    end += share.probability;
    if (begin - kUndecided <= ticket && ticket < end + kUndecided) tokens.push_back(share.token);
  }
  return tokens;
}

}  // namespace warpchat
