// A file an assistant, so that it can be edited, copied and removed by hand.
#include "app/settings/assistants.h"

#include <algorithm>

#include "app/platform/named_files.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "app/settings/kept_options.h"
#include "app/settings/settings_file.h"
#include "engine/untrusted_json.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxAssistantBytes = 1 << 20;
constexpr size_t kMaxShownKey = 64, kMaxShownPrompt = 60;
constexpr NamedFiles kAssistants{.noun = "assistant", .folder = "assistants", .extension = ".json"};

ordered_json read_settings(const std::string& path) {
  try {
    ordered_json settings = parse_untrusted_json<ordered_json>(read_regular_file(path, kMaxAssistantBytes));
    if (settings.is_object()) return settings;
  } catch (const JsonError& error) {
    throw Error(path + " is damaged: " + error.what() + "; repair the file or remove it");
  }
  throw Error(path + " is no JSON object; repair the file or remove it");
}

std::string text_of(const Assistant& assistant) { return assistant.settings.dump(2) + "\n"; }

}  // namespace

std::vector<std::string> assistant_names() { return kAssistants.names(); }

std::string file_of_assistant(const std::string& name) { return kAssistants.path_of(name); }

Assistant load_assistant(const std::string& name) {
  kAssistants.require(name);
  return {name, read_settings(file_of_assistant(name))};
}

void save_assistant(const Assistant& assistant) { kAssistants.write(assistant.name, text_of(assistant)); }

Assistant assistant_of(const std::string& name, const TypedSettings& settings) {
  Assistant assistant{name};
  for (const auto& [key, typed] : settings) {
    const SettingsKey known = settings_key_named(key);
    if (known.name == kAssistantSetting) throw UsageError("an assistant has no assistant; leave out " + known.name);
    assistant.settings[known.name] = value_for_key(known, typed);
  }
  if (assistant.settings.empty()) throw UsageError("an assistant needs a setting, such as a system message");
  return assistant;
}

TypedSettings typed_settings(const Assistant& assistant) {
  TypedSettings settings;
  for (const auto& [key, value] : assistant.settings.items())
    if (!value.is_null()) settings.emplace_back(key, typed_value(value));
  return settings;
}

void replace_assistant(const std::string& from, const Assistant& assistant) {
  kAssistants.replace(from, assistant.name, text_of(assistant));
  if (!from.empty() && from != assistant.name) follow_in_settings_file(from, assistant.name);
}

void follow_in_settings_file(const std::string& from, const std::optional<std::string>& now) {
  const auto values = SettingsFile::load().values();
  const auto usual = values.find(kAssistantSetting);
  if (usual != values.end() && *usual == from)
    SettingsFile::change(kAssistantSetting, now ? std::optional<ordered_json>(*now) : std::nullopt);
}

std::string free_assistant_name(const std::string& name) {
  std::string free = name;
  for (int n = 2; kAssistants.has(free); ++n) free = name + " " + std::to_string(n);
  return free;
}

void export_assistant(const Assistant& assistant, const std::string& path, bool replace) {
  ordered_json json = {{"name", assistant.name}};
  json.update(assistant.settings);
  require_free(path, replace);
  write_file(path, json.dump(2) + "\n", OutputFile::Readers::kOwnerOrDevice);
}

void remove_assistant(const std::string& name) { kAssistants.remove(name); }

ChatOptions options_of(const Assistant& assistant) {
  return options_of_settings(assistant.settings, file_of_assistant(assistant.name));
}

std::optional<AnswerChoices> choices_of_assistant(const std::string& name) {
  try {
    return options_of(load_assistant(name));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string description_of(const Assistant& assistant) {
  std::string prompt, rest;
  for (const auto& [key, value] : assistant.settings.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::ranges::replace(text, '\n', ' ');
    if (key == kSystemPromptSetting)
      prompt = printable(text, kMaxShownPrompt);
    else
      rest += (rest.empty() ? "" : ", ") + printable(key, kMaxShownKey) + " " + printable(text, kMaxShownPrompt);
  }
  if (rest.empty()) return prompt;
  return prompt + (prompt.empty() ? "" : "  ") + "(" + rest + ")";
}

}  // namespace warpchat
