// A file an assistant, so that it can be edited, copied and removed by hand.
#include "app/assistants.h"

#include <algorithm>

#include "app/kept_options.h"
#include "app/named_files.h"
#include "app/text_input.h"
#include "engine/untrusted_json.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxAssistantBytes = 1 << 20;
constexpr size_t kMaxShownKey = 64, kMaxShownPrompt = 60;
constexpr std::string_view kSystemPrompt = "system-prompt";
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

}  // namespace

std::vector<std::string> assistant_names() { return kAssistants.names(); }

std::string file_of_assistant(const std::string& name) { return kAssistants.path_of(name); }

Assistant load_assistant(const std::string& name) {
  kAssistants.require(name);
  return {name, read_settings(file_of_assistant(name))};
}

void save_assistant(const Assistant& assistant) {
  kAssistants.write(assistant.name, assistant.settings.dump(2) + "\n");
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
    if (key == kSystemPrompt)
      prompt = printable(text, kMaxShownPrompt);
    else
      rest += (rest.empty() ? "" : ", ") + printable(key, kMaxShownKey) + " " + printable(text, kMaxShownPrompt);
  }
  if (rest.empty()) return prompt;
  return prompt + (prompt.empty() ? "" : "  ") + "(" + rest + ")";
}

}  // namespace warpchat
