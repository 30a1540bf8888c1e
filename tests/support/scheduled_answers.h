// Answers of a scheduler as tests collect them.
#pragma once
#include <chrono>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/sequences/scheduler.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

inline bool never(Token) { return false; }

inline const TinyModelSpec kHybrid = {.architecture = "qwen35",
                                      .hidden = 128,
                                      .ffn = 256,
                                      .n_heads = 2,
                                      .n_kv_heads = 1,
                                      .head_dim = 64,
                                      .formats = TinyFormats::all(TensorType::kQ8_0),
                                      .delta_net = {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 32, .conv_kernel = 4}};

struct Answer {
  std::vector<Token> tokens;
  GenerationEnd end;
};

// nullopt: nothing came for a minute.
inline std::optional<Answer> collect(ScheduledAnswer& answering) {
  Answer answer;
  for (;;) {
    std::optional<AnswerStep> step = answering.next(std::chrono::seconds(60));
    if (!step) return std::nullopt;
    if (const auto* next = std::get_if<NextToken>(&*step)) answer.tokens.push_back(next->token);
    if (auto* end = std::get_if<GenerationEnd>(&*step)) {
      answer.end = std::move(*end);
      return answer;
    }
  }
}

}  // namespace warpchat
