// A table of settings, each with its getter and setter.
#include "app/chat_settings.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <variant>

#include "app/nearest_name.h"
#include "app/parse_number.h"
#include "app/text_input.h"
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
std::string shown(uint32_t value) { return std::to_string(value); }
std::string shown(bool value) { return value ? "on" : "off"; }

struct OwnWay {  // getter and setter of a setting that is no plain field
  std::string (*get)(const ChatSettings&);
  void (*set)(ChatSettings&, std::string_view);
};

struct Setting {
  std::string_view name, help;
  std::variant<float SamplingParams::*, uint32_t SamplingParams::*, bool ChatSettings::*, OwnWay> field;
  double from = 0, to = kNoUpperBound;  // of numbers
};

constexpr OwnWay kSeed{[](const ChatSettings& s) { return std::to_string(s.session.sampling.seed); },
                       [](ChatSettings& s, std::string_view v) {
                         s.session.sampling.seed =
                             v == "-1" ? std::random_device()() : number<uint64_t>("seed", v, 0, 1e19);
                         s.session.sampling.seed_is_chosen = v != "-1";
                       }};
constexpr OwnWay kMaxTokens{[](const ChatSettings& s) { return std::to_string(s.session.max_tokens); },
                            [](ChatSettings& s, std::string_view v) {
                              s.session.max_tokens = number<int32_t>("n_predict", v, -1, kNoUpperBound);
                            }};
constexpr OwnWay kSystem{
    [](const ChatSettings& s) { return s.session.system_prompt; },
    [](ChatSettings& s, std::string_view v) { s.session.system_prompt = v == "none" || v == "\"\"" ? "" : v; }};
constexpr OwnWay kThink{[](const ChatSettings& s) {
                          const auto& variables = s.session.template_variables;
                          if (!variables.contains(kEnableThinking)) return std::string("default");
                          return variables[kEnableThinking].is_boolean() ? shown(variables[kEnableThinking].get<bool>())
                                                                         : variables[kEnableThinking].dump();
                        },
                        [](ChatSettings& s, std::string_view v) {
                          if (v == "default")
                            s.session.template_variables.erase(kEnableThinking);
                          else
                            s.session.template_variables[kEnableThinking] =
                                parse_switch("think", v, "on, off or default");
                        }};

const Setting kSettings[] = {
    {"temp", "temperature; 0: always the likeliest token", &SamplingParams::temperature, 0, 100},
    {"top_k", "keep the k likeliest tokens; 0: all", &SamplingParams::top_k},
    {"top_p", "keep the likeliest tokens of this total probability", &SamplingParams::top_p, 0, 1},
    {"min_p", "drop tokens less likely than this share of the best", &SamplingParams::min_p, 0, 1},
    {"repeat_penalty", "penalise recent tokens; 1: off", &SamplingParams::repeat_penalty, 0.01, 100},
    {"repeat_last_n", "how many tokens are recent", &SamplingParams::penalty_window},
    {"presence_penalty", "subtracted once from recent tokens' logits", &SamplingParams::presence_penalty, -100, 100},
    {"frequency_penalty", "subtracted per occurrence", &SamplingParams::frequency_penalty, -100, 100},
    {"seed", "seed of the sampler", kSeed},
    {"n_predict", "longest answer in tokens; -1: no limit", kMaxTokens},
    {"system", "the system message; none: no message", kSystem},
    {"think", "let the model think first: on, off or default", kThink},
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

std::string value_of(const Setting& setting, const ChatSettings& s) {
  return std::visit(Overloaded{[&](bool ChatSettings::*field) { return shown(s.*field); },
                               [&](const OwnWay& way) { return way.get(s); },
                               [&](auto SamplingParams::*field) { return shown(s.session.sampling.*field); }},
                    setting.field);
}

void set_value(const Setting& setting, ChatSettings& s, std::string_view v) {
  std::visit(Overloaded{[&](bool ChatSettings::*field) { s.*field = parse_switch(setting.name, v); },
                        [&](const OwnWay& way) { way.set(s, v); },
                        [&]<class T>(T SamplingParams::*field) {
                          s.session.sampling.*field = number<T>(setting.name, v, setting.from, setting.to);
                        }},
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

SamplingParams sampling_from(const SamplingFlags& flags, const SamplingParams& file) {
  SamplingParams p = file;
  p.temperature = flags.temperature.value_or(p.temperature);
  p.top_k = flags.top_k.value_or(p.top_k);
  p.top_p = flags.top_p.value_or(p.top_p);
  p.min_p = flags.min_p.value_or(p.min_p);
  p.repeat_penalty = flags.repeat_penalty.value_or(p.repeat_penalty);
  p.presence_penalty = flags.presence_penalty.value_or(p.presence_penalty);
  p.frequency_penalty = flags.frequency_penalty.value_or(p.frequency_penalty);
  p.penalty_window = flags.repeat_last_n.value_or(p.penalty_window);
  p.seed_is_chosen = flags.seed >= 0;
  p.seed = flags.seed >= 0 ? static_cast<uint64_t>(flags.seed) : std::random_device()();
  return p;
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
  if (options.think) variables[kEnableThinking] = *options.think;
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
  settings.session.sampling = sampling_from(options, file);
  settings.session.max_tokens = options.n_predict;
  settings.session.parse_special = options.parse_special;
  settings.session.drafts = !options.no_drafts;
  settings.hide_thinking = options.hide_thinking;
  settings.word_wrap = !options.no_word_wrap;
  settings.verbose = options.verbose;
  return settings;
}

bool is_setting(std::string_view name) { return find_setting(name) != nullptr; }

bool is_answer_setting(std::string_view name) {
  const Setting& setting = setting_called(name);
  return sampling_field(name) || setting.name == "seed" || setting.name == "n_predict" || setting.name == "think";
}

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

std::optional<SamplingField> sampling_field(std::string_view name) {
  const Setting& setting = setting_called(name);
  if (const auto* number = std::get_if<float SamplingParams::*>(&setting.field)) return *number;
  if (const auto* count = std::get_if<uint32_t SamplingParams::*>(&setting.field)) return *count;
  return std::nullopt;
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
