// Picks the next token from logits on the host.
#pragma once
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "models/token.h"

namespace warpchat {

// Applied in the order of the fields, after a mask: penalties, top_k, top_p, min_p, temperature.
struct SamplingParams {
  float repeat_penalty = 1.0f;     // divides positive and multiplies negative logits of recent tokens; 1 is off
  float presence_penalty = 0.0f;   // subtracted once from each recent token's logit
  float frequency_penalty = 0.0f;  // subtracted once per occurrence
  uint32_t penalty_window = 64;    // number of recent tokens that penalties count; 0: none
  uint32_t top_k = 40;             // 0 is off
  float top_p = 0.95f;             // 1 is off
  float min_p = 0.05f;             // 0 is off
  float temperature = 0.8f;        // 0: the argmax, the lowest id of equals
  uint64_t seed = 0;
  bool seed_is_chosen = false;  // by the user; else it is random, and no server gets it
  bool operator==(const SamplingParams&) const = default;
};

// Throws Error for logits that are NaN or infinite. logits: [n_vocab].
void require_finite(std::span<const float> logits);

class Sampler {
 public:
  explicit Sampler(const SamplingParams& params);

  // logits: [n_vocab]. mask: the tokens to choose among, at least one (engine/token_mask.h); empty: all. Deterministic
  // for the same params, seed and calls. Throws Error for non-finite logits.
  Token sample(std::span<const float> logits, std::span<const uint32_t> mask = {});
  // Adds a token to the penalties: every sampled token, and the prompt's if they should count.
  void accept(Token token);

 private:
  SamplingParams params_;
  std::mt19937_64 random_;
  std::deque<Token> recent_;
  struct Candidate {
    Token token;
    float logit;
  };
  std::vector<Candidate> candidates_;
  std::vector<float> adjusted_, highest_, ordered_;  // highest_: maximum of each block
  bool has_penalties() const;
  std::span<const float> adjusted(std::span<const float> logits, std::span<const uint32_t> mask);
  void penalise();
  void keep_best(std::span<const float> logits, size_t k);
  void keep_top_p_and_min_p();
  Token draw();
};

}  // namespace warpchat
