// A table of settings, each with its getter and setter.
#include "app/settings/chat_settings.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <variant>

#include "app/platform/text/nearest_name.h"
#include "app/platform/text/parse_number.h"
#include "app/platform/text_input.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/chat_template/chat_template.h"

namespace warpchat {

namespace {

template <class T>
T number(std::string_view name, std::string_view text, double from, double to) try {
  return parse_number<T>(text, from, to);
} catch (const Error& error) {
  throw Error(std::string(name) + " " + error.what());
}

bool parse_switch(std::string_view name, std::string_view text, std::string_view choices = "on or off") {
  if (text == "on" || text == "true" || text == "yes") return true;
  if (text == "off" || text == "false" || text == "no") return false;
  throw Error(std::string(name) + " takes " + std::string(choices) + ", found '" + std::string(text) + "'");
}

std::string shown(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
  return text;
}
std::string shown(bool value) { return value ? "on" : "off"; }
template <class T>
std::string shown(T value) {
  return std::to_string(value);
}

struct Choice {  // a field of AnswerChoices, by its name there
  std::string_view name;
  double from = 0, to = kNoUpperBound;  // of numbers
};

struct OwnWay {  // getter and setter of a setting that is no plain field
  std::string (*get)(const ChatSettings&);
  void (*set)(ChatSettings&, std::string_view);
};

struct Setting {
  std::string_view name, help;
  std::variant<Choice, bool ChatSettings::*, OwnWay> field;
};

constexpr OwnWay kSystem{
    [](const ChatSettings& s) { return s.session.system_prompt; },
    [](ChatSettings& s, std::string_view v) { s.session.system_prompt = v == "none" || v == "\"\"" ? "" : v; }};

constexpr double kMaxSeed = 9007199254740992.0;

const Setting kSettings[] = {
    {"temp", "temperature; 0: always the likeliest token", Choice{"temp", 0, 100}},
    {"top_k", "keep the k likeliest tokens; 0: all", Choice{"top-k"}},
    {"top_p", "keep the likeliest tokens of this total probability", Choice{"top-p", 0, 1}},
    {"min_p", "drop tokens less likely than this share of the best", Choice{"min-p", 0, 1}},
    {"repeat_penalty", "penalise recent tokens; 1: off", Choice{"repeat-penalty", 0.01, 100}},
    {"repeat_last_n", "how many tokens are recent", Choice{"repeat-last-n"}},
    {"presence_penalty", "subtracted once from recent tokens' logits", Choice{"presence-penalty", -100, 100}},
    {"frequency_penalty", "subtracted per occurrence", Choice{"frequency-penalty", -100, 100}},
    {"seed", "seed of the sampler; -1: a new one for each answer", Choice{"seed", -1, kMaxSeed}},
    {"n_predict", "longest answer in tokens; -1: no limit", Choice{"n-predict", -1}},
    {"system", "the system message; none: no message", kSystem},
    {"think", "let the model think first: on, off or default", Choice{"think"}},
    {"titles", "let the model name a conversation after its first answer", &ChatSettings::titles},
    {"hide_thinking", "do not show its reasoning", &ChatSettings::hide_thinking},
    {"wordwrap", "break lines between words", &ChatSettings::word_wrap},
    {"verbose", "timings and profile after each answer", &ChatSettings::verbose},
};

template <class... Ways>
struct Overloaded : Ways... {
  using Ways::operator()...;
};
template <class... Ways>
Overloaded(Ways...) -> Overloaded<Ways...>;  // Clang deduces none of its own before version 17

const NamedChoice& choice_named(std::string_view name) {
  const auto choices = answer_choices();
  return *std::ranges::find(choices, name, &NamedChoice::name);
}

// The values that hold, as if all had been chosen; think is empty where it is not.
AnswerChoices values_in(const AnswerOptions& session) {
  AnswerChoices values = choices_of(session.sampling);
  values.seed = static_cast<int64_t>(session.sampling.seed);
  values.n_predict = session.max_tokens;
  const auto think = session.template_variables.find(kEnableThinking);
  if (think != session.template_variables.end() && think->is_boolean()) values.think = think->get<bool>();
  return values;
}

template <class T>
std::string shown(const std::optional<T>& value) {
  return value ? shown(*value) : "default";
}

std::string value_of(const Setting& setting, const ChatSettings& s) {
  return std::visit(Overloaded{[&](const Choice& choice) {
                                 const AnswerChoices values = over(s.choices, values_in(s.session));
                                 return std::visit([&](auto member) { return shown(values.*member); },
                                                   choice_named(choice.name).field);
                               },
                               [&](bool ChatSettings::*field) { return shown(s.*field); },
                               [&](const OwnWay& way) { return way.get(s); }},
                    setting.field);
}

template <class T>
T parsed(const Setting& setting, const Choice& choice, std::string_view text) {
  if constexpr (std::is_same_v<T, bool>)
    return parse_switch(setting.name, text, "on, off or default");
  else
    return number<T>(setting.name, text, choice.from, choice.to);
}

void choose(const Setting& setting, const Choice& choice, ChatSettings& s, std::string_view v) {
  std::visit(
      [&]<class T>(std::optional<T> AnswerChoices::*member) {
        s.choices.*member = v == "default" ? std::nullopt : std::optional<T>(parsed<T>(setting, choice, v));
      },
      choice_named(choice.name).field);
}

void set_value(const Setting& setting, ChatSettings& s, std::string_view v) {
  std::visit(Overloaded{[&](const Choice& choice) { choose(setting, choice, s, v); },
                        [&](bool ChatSettings::*field) { s.*field = parse_switch(setting.name, v); },
                        [&](const OwnWay& way) { way.set(s, v); }},
             setting.field);
}

// As the flags and other programs spell it, too.
const Setting* find_setting(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"temperature", "temp"}, {"max_tokens", "n_predict"}, {"system_prompt", "system"}};
  std::string spelled = lower_case(name);
  std::replace(spelled.begin(), spelled.end(), '-', '_');
  for (const auto& [other, own] : kOtherNames)
    if (spelled == other) spelled = own;
  for (const Setting& setting : kSettings)
    if (setting.name == spelled) return &setting;
  return nullptr;
}

const Setting& setting_called(std::string_view name) {
  if (const Setting* setting = find_setting(name)) return *setting;
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  throw Error("unknown setting '" + std::string(name) + "'" + perhaps_meant(nearest_name(name, names)) +
              "; /set lists them");
}

std::string template_from(const ChatOptions& options) {
  if (!options.chat_template_file.empty()) {
    if (!options.chat_template.empty()) throw UsageError("use --chat-template or --chat-template-file, not both");
    std::string source = read_file(options.chat_template_file);
    require_utf8(source, options.chat_template_file);
    return source;
  }
  if (options.chat_template.empty()) return "";
  if (options.chat_template == "chatml") return std::string(kChatMlTemplate);
  if (options.chat_template.find('{') == std::string::npos)
    throw UsageError("--chat-template takes a Jinja template or 'chatml', found '" + options.chat_template +
                     "'; --chat-template-file reads one from a file");
  require_utf8(options.chat_template, "--chat-template");
  return options.chat_template;
}

nlohmann::ordered_json variables_from(const ChatOptions& options) {
  using nlohmann::ordered_json;
  ordered_json variables = ordered_json::object();
  if (!options.template_variables.empty()) {
    variables = try_parse_untrusted_json<ordered_json>(options.template_variables);
    if (!variables.is_object())
      throw UsageError("--chat-template-kwargs takes a JSON object such as '{\"enable_thinking\": false}'");
  }
  return variables;
}

}  // namespace

ChatSettings settings_from(const ChatOptions& options, const SamplingParams& file) {
  ChatSettings settings;
  require_utf8(options.system_prompt, "--system-prompt");
  settings.session.system_prompt = options.system_prompt;
  settings.session.chat_template = template_from(options);
  settings.session.template_variables = variables_from(options);
  settings.titles = options.titles.value_or(false);
  settings.session.sampling = file;
  apply_choices(settings.session, over(options, over(options.assistant_choices, options.kept_choices)));
  settings.session.form = options.form;
  settings.session.parse_special = options.parse_special;
  settings.session.drafts = !options.no_drafts;
  settings.hide_thinking = options.hide_thinking;
  settings.word_wrap = !options.no_word_wrap;
  settings.verbose = options.verbose;
  return settings;
}

void apply_choices(AnswerOptions& session, const AnswerChoices& choices) {
  session.sampling = sampled(session.sampling, choices);
  const int64_t seed = choices.seed.value_or(-1);
  session.sampling.seed_is_chosen = seed >= 0;
  session.sampling.seed = seed >= 0 ? static_cast<uint64_t>(seed) : std::random_device()();
  session.max_tokens = choices.n_predict.value_or(-1);
  if (choices.think) session.template_variables[kEnableThinking] = *choices.think;
}

bool is_setting(std::string_view name) { return find_setting(name) != nullptr; }

void change_setting(ChatSettings& settings, std::string_view name, std::string_view value) {
  set_value(setting_called(name), settings, value);
}

std::string shown_setting(const ChatSettings& settings, std::string_view name) {
  const Setting& setting = setting_called(name);
  const std::string value = value_of(setting, settings);
  return std::string(setting.name) + ": " + (value.empty() ? "none" : value);
}

std::string cannot_think(const std::string& model) {
  return model + " has no switch for thinking in its chat template: it answers as before";
}

std::vector<std::string> setting_arguments(const ChatSettings& settings, std::string_view typed) {
  std::vector<std::string> arguments;
  for (const Setting& setting : kSettings) {
    const std::string name = std::string(setting.name) + " ";
    if (!typed.starts_with(name)) {
      arguments.push_back(name);
      continue;
    }
    std::vector<std::string> values = {value_of(setting, settings)};
    if (std::holds_alternative<bool ChatSettings::*>(setting.field)) values = {"on", "off"};
    if (setting.name == "think") values = {"on", "off", "default"};
    for (const std::string& value : values) arguments.push_back(name + value);
  }
  return arguments;
}

const NamedChoice* choice_of_setting(std::string_view name) {
  const auto* choice = std::get_if<Choice>(&setting_called(name).field);
  return choice == nullptr ? nullptr : &choice_named(choice->name);
}

std::string list_settings(const ChatSettings& settings) {
  std::string list;
  for (const Setting& setting : kSettings) {
    std::string value = value_of(setting, settings);
    std::replace(value.begin(), value.end(), '\n', ' ');
    list += "  " + std::string(setting.name) + "\t" + (value.empty() ? "none" : value) + "\t" +
            std::string(setting.help) + "\n";
  }
  return list;
}

}  // namespace warpchat
