// The settings of answers that flags, the settings file, an assistant or a conversation make.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/sampler.h"

namespace warpchat {

// An empty field is left to whatever ranks below, at last to the model's file.
struct AnswerChoices {
  std::optional<float> temperature, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty;
  std::optional<uint32_t> top_k, repeat_last_n;
  std::optional<int64_t> seed;       // -1: random
  std::optional<int32_t> n_predict;  // longest answer in tokens; -1: no limit
  std::optional<bool> think;
  bool operator==(const AnswerChoices&) const = default;
};

// A field's name is that of its flag, without dashes: "top-k".
using ChoiceField = std::variant<std::optional<float> AnswerChoices::*, std::optional<uint32_t> AnswerChoices::*,
                                 std::optional<int64_t> AnswerChoices::*, std::optional<int32_t> AnswerChoices::*,
                                 std::optional<bool> AnswerChoices::*>;
struct NamedChoice {
  std::string_view name;
  ChoiceField field;
};
std::span<const NamedChoice> answer_choices();

// The fields of `above`, and where it has none those of `below`.
AnswerChoices over(const AnswerChoices& above, const AnswerChoices& below);

// `base` with the choices that concern sampling, but for the seed.
SamplingParams sampled(const SamplingParams& base, const AnswerChoices& choices);

// The other way: every choice that sampled() takes, as `p` has it.
AnswerChoices choices_of(const SamplingParams& p);

inline constexpr std::string_view kSeedName = "seed";

// The value of one field; nullopt: it is empty.
std::optional<nlohmann::ordered_json> json_of(const AnswerChoices& choices, const NamedChoice& choice);

// What a conversation's settings are, as it is stored with it: {"assistant": "NAME", "temp": 0.5}; empty: none. The
// other way, values of another kind and unknown names are left out.
std::string to_text(const AnswerChoices& choices, const std::string& assistant = "");
AnswerChoices answer_choices_from(const std::string& text);
std::string assistant_in(const std::string& text);

}  // namespace warpchat
