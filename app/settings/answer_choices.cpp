// One table of all fields.
#include "app/settings/answer_choices.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/untrusted_json.h"

namespace warpchat {

namespace {

using Choices = AnswerChoices;
constexpr NamedChoice kAnswerChoices[] = {
    {"temp", &Choices::temperature},
    {"top-k", &Choices::top_k},
    {"top-p", &Choices::top_p},
    {"min-p", &Choices::min_p},
    {"repeat-penalty", &Choices::repeat_penalty},
    {"repeat-last-n", &Choices::repeat_last_n},
    {"presence-penalty", &Choices::presence_penalty},
    {"frequency-penalty", &Choices::frequency_penalty},
    {kSeedName, &Choices::seed},
    {"n-predict", &Choices::n_predict},
    {"think", &Choices::think},
};

template <class F>
void for_each_field(const F& f) {
  for (const NamedChoice& choice : kAnswerChoices)
    std::visit([&](auto member) { f(choice.name, member); }, choice.field);
}

// 0.7, and not the nearest double of the nearest float.
nlohmann::ordered_json json_value(float value) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  double number = 0;
  std::from_chars(digits, end.ptr, number);
  return number;
}

template <class T>
nlohmann::ordered_json json_value(T value) {
  return value;
}

template <class T>
void read_choice(const nlohmann::ordered_json& value, std::optional<T>& field) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.is_boolean()) field = value.get<bool>();
  } else {
    if (!value.is_number()) return;
    const double number = value.get<double>();
    if (std::is_integral_v<T> && number != std::floor(number)) return;
    if (number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
        number < static_cast<double>(std::numeric_limits<T>::max()))
      field = static_cast<T>(number);
  }
}

}  // namespace

std::span<const NamedChoice> answer_choices() { return kAnswerChoices; }

AnswerChoices over(const AnswerChoices& above, const AnswerChoices& below) {
  AnswerChoices both = below;
  for_each_field([&](std::string_view, auto member) {
    if (above.*member) both.*member = above.*member;
  });
  return both;
}

SamplingParams sampled(const SamplingParams& base, const AnswerChoices& choices) {
  SamplingParams p = base;
  p.temperature = choices.temperature.value_or(p.temperature);
  p.top_k = choices.top_k.value_or(p.top_k);
  p.top_p = choices.top_p.value_or(p.top_p);
  p.min_p = choices.min_p.value_or(p.min_p);
  p.repeat_penalty = choices.repeat_penalty.value_or(p.repeat_penalty);
  p.presence_penalty = choices.presence_penalty.value_or(p.presence_penalty);
  p.frequency_penalty = choices.frequency_penalty.value_or(p.frequency_penalty);
  p.penalty_window = choices.repeat_last_n.value_or(p.penalty_window);
  return p;
}

AnswerChoices choices_of(const SamplingParams& p) {
  return {.temperature = p.temperature,
          .top_p = p.top_p,
          .min_p = p.min_p,
          .repeat_penalty = p.repeat_penalty,
          .presence_penalty = p.presence_penalty,
          .frequency_penalty = p.frequency_penalty,
          .top_k = p.top_k,
          .repeat_last_n = p.penalty_window};
}

std::optional<nlohmann::ordered_json> json_of(const AnswerChoices& choices, const NamedChoice& choice) {
  return std::visit(
      [&](auto member) { return choices.*member ? std::optional(json_value(*(choices.*member))) : std::nullopt; },
      choice.field);
}

std::string to_text(const AnswerChoices& choices, const std::string& assistant) {
  nlohmann::ordered_json json;
  if (!assistant.empty()) json["assistant"] = assistant;
  for_each_field([&](std::string_view name, auto member) {
    if (choices.*member) json[std::string(name)] = json_value(*(choices.*member));
  });
  return json.is_null() ? "" : json.dump();
}

std::string assistant_in(const std::string& text) {
  const auto json = try_parse_untrusted_json<nlohmann::ordered_json>(text);
  const auto found = json.is_object() ? json.find("assistant") : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

AnswerChoices answer_choices_from(const std::string& text) {
  AnswerChoices choices;
  const auto json = try_parse_untrusted_json<nlohmann::ordered_json>(text);
  if (!json.is_object()) return choices;
  for_each_field([&](std::string_view name, auto member) {
    if (const auto found = json.find(std::string(name)); found != json.end()) read_choice(*found, choices.*member);
  });
  return choices;
}

}  // namespace warpchat
