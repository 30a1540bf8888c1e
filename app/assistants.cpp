// A file an assistant, so that it can be edited, copied and removed by hand.
#include "app/assistants.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/directories.h"
#include "app/kept_options.h"
#include "app/nearest_name.h"
#include "app/output.h"
#include "app/program_name.h"
#include "app/settings_file.h"
#include "app/text_input.h"
#include "engine/untrusted_json.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxAssistantBytes = 1 << 20;
constexpr size_t kMaxName = 64, kMaxShownPrompt = 60;
constexpr std::string_view kFolder = "assistants", kExtension = ".json";

std::string folder() { return config_directory() + "/" + std::string(kFolder); }

ordered_json read_settings(const std::string& path) {
  try {
    ordered_json settings = parse_untrusted_json<ordered_json>(read_regular_file(path, kMaxAssistantBytes));
    if (settings.is_object()) return settings;
  } catch (const JsonError& error) {
    throw Error(path + " is damaged: " + error.what() + "; repair the file or remove it");
  }
  throw Error(path + " is no JSON object; repair the file or remove it");
}

bool is_there(const std::string& name) {
  return is_assistant_name(name) && access(file_of_assistant(name).c_str(), F_OK) == 0;
}

}  // namespace

bool is_assistant_name(const std::string& text) {
  return !text.empty() && text.size() <= kMaxName && text[0] != '.' && text[0] != '-' && is_valid_utf8(text) &&
         std::ranges::none_of(text,
                              [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string file_of_assistant(const std::string& name) { return folder() + "/" + name + std::string(kExtension); }

std::vector<std::string> assistant_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.ends_with(kExtension)) continue;
    if (std::string name = file.substr(0, file.size() - kExtension.size()); is_assistant_name(name))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Assistant load_assistant(const std::string& name) {
  if (is_there(name)) return {name, read_settings(file_of_assistant(name))};
  throw Error("there is no assistant '" + printable(name, kMaxName) + "'" +
              perhaps_meant(nearest_name(name, assistant_names())) +
              with_program_name("; {chat} assistant list names all"));
}

void save_assistant(const Assistant& assistant) {
  if (!is_assistant_name(assistant.name))
    throw Error(
        "'" + printable(assistant.name, kMaxName) +
        "' cannot be an assistant's name; it has 1 to 64 bytes without '/', and begins with neither '.' nor '-'");
  if (!make_private_directory(folder())) throw Error("cannot create " + folder());
  write_file(file_of_assistant(assistant.name), assistant.settings.dump(2) + "\n", OutputFile::Readers::kOwner);
}

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
  for (const auto& [key, value] : assistant.settings.items()) {
    if (value.is_null()) continue;
    settings.emplace_back(key, value.is_boolean()  ? (value.get<bool>() ? "on" : "off")
                               : value.is_string() ? value.get<std::string>()
                                                   : value.dump());
  }
  return settings;
}

void replace_assistant(const std::string& from, const Assistant& assistant) {
  if (assistant.name != from && is_there(assistant.name))
    throw Error("there is an assistant '" + printable(assistant.name, kMaxName) + "' already; choose another name");
  save_assistant(assistant);
  if (from.empty() || from == assistant.name) return;
  if (is_there(from)) remove_assistant(from);
  const auto values = SettingsFile::load().values();
  const auto usual = values.find(kAssistantSetting);
  if (usual != values.end() && *usual == from) SettingsFile::change(kAssistantSetting, assistant.name);
}

std::string free_assistant_name(const std::string& name) {
  std::string free = name;
  for (int n = 2; is_there(free); ++n) free = name + " " + std::to_string(n);
  return free;
}

void export_assistant(const Assistant& assistant, const std::string& path, bool replace) {
  ordered_json json = {{"name", assistant.name}};
  json.update(assistant.settings);
  require_free(path, replace);
  write_file(path, json.dump(2) + "\n", OutputFile::Readers::kOwnerOrDevice);
}

void remove_assistant(const std::string& name) {
  if (!is_there(name)) load_assistant(name);  // says so
  const std::string path = file_of_assistant(name);
  if (unlink(path.c_str()) != 0) throw Error("cannot remove " + path + ": " + std::strerror(errno));
}

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
      rest += (rest.empty() ? "" : ", ") + printable(key, kMaxName) + " " + printable(text, kMaxShownPrompt);
  }
  if (rest.empty()) return prompt;
  return prompt + (prompt.empty() ? "" : "  ") + "(" + rest + ")";
}

}  // namespace warpchat
