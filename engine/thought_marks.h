// Marks between which models write their thoughts, as text. Which of them a model on this machine uses, and whether
// they are tokens of their own: engine/session/model_thoughts.h.
#pragma once
#include <string_view>

namespace warpchat {

struct ThoughtMarks {
  std::string_view open, close;
  std::string_view after_open = "", before_close = "", after_close = "";  // line breaks that the model writes there
};

inline constexpr ThoughtMarks kThoughtMarks[] = {
    {"<think>", "</think>", "\n", "\n", "\n\n"},  // most models; the only marks in stores and files of older versions
    {"[THINK]", "[/THINK]"},                      // Magistral
    {"<seed:think>", "</seed:think>"},            // Seed-OSS
    {"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},  // gpt-oss
};
inline constexpr const ThoughtMarks& kUsualMarks = kThoughtMarks[0];

}  // namespace warpchat
