#include "tests/reference/closeness.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace warpchat {
namespace {

// log of the sum of exp over a row.
template <class Float>
double log_sum_exp(std::span<const Float> row) {
  const double max = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (Float v : row) sum += std::exp(v - max);
  return max + std::log(sum);
}

double divergence(std::span<const double> ref, std::span<const float> got) {
  const double ref_norm = log_sum_exp(ref), got_norm = log_sum_exp(got);
  double kl = 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    const double log_p = ref[i] - ref_norm, log_q = got[i] - got_norm;
    kl += std::exp(log_p) * (log_p - log_q);
  }
  return kl;
}

}  // namespace

Closeness compare_logits(std::span<const float> got, std::span<const double> ref, size_t n_vocab) {
  assert(got.size() == ref.size() && n_vocab > 0 && ref.size() % n_vocab == 0);
  double error = 0, norm = 0, kl = 0;
  for (size_t i = 0; i < ref.size(); ++i) error += (got[i] - ref[i]) * (got[i] - ref[i]), norm += ref[i] * ref[i];
  for (size_t at = 0; at < ref.size(); at += n_vocab)
    kl += divergence(ref.subspan(at, n_vocab), got.subspan(at, n_vocab));
  return {std::sqrt(error / norm), kl / static_cast<double>(ref.size() / n_vocab)};
}

double negative_log_likelihood(std::span<const double> logits, std::span<const int32_t> tokens, size_t first) {
  assert(!tokens.empty() && logits.size() % tokens.size() == 0);
  const size_t n_vocab = logits.size() / tokens.size();
  double sum = 0;
  for (size_t t = first; t + 1 < tokens.size(); ++t) {
    const std::span row = logits.subspan(t * n_vocab, n_vocab);
    sum += log_sum_exp(row) - row[static_cast<size_t>(tokens[t + 1])];
  }
  return sum;
}

}  // namespace warpchat
