// Distance of computed logits from the exact ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpchat {

struct Closeness {
  double relative_error;  // |got - ref| / |ref|, Euclidean norms over the whole array
  double mean_kl;         // mean over tokens of KL(softmax(ref) || softmax(got)), in nats
};

// got, ref: [n_tokens, n_vocab], row-major.
Closeness compare_logits(std::span<const float> got, std::span<const double> ref, size_t n_vocab);

// Sum of -log softmax(logits[t])[tokens[t + 1]] for first <= t < n_tokens - 1; logits [n_tokens, n_vocab].
double negative_log_likelihood(std::span<const double> logits, std::span<const int32_t> tokens, size_t first);

}  // namespace warpchat
