// Each key is set as its flag would be, so that both accept the same.
#include "app/settings/kept_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/platform/program_name.h"
#include "app/platform/text/nearest_name.h"
#include "app/platform/text_input.h"
#include "app/settings/assistants.h"
#include "app/settings/chat_settings.h"
#include "app/settings/model_flags.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;
using Kind = SettingsKey::Kind;

constexpr size_t kMaxQuoted = 60, kMaxShown = 60;  // characters

std::string text_of(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool is_secret(const std::string& key) {
  const std::string name = lower_case(key);
  return name.find("api") != std::string::npos || name.find("token") != std::string::npos ||
         name.find("secret") != std::string::npos || name.find("password") != std::string::npos;
}

UsageError no_key(const std::string& name) {
  const std::string shown = printable(name, kMaxQuoted);
  if (const std::string reason = reason_against_key(name); !reason.empty())
    return UsageError(shown + " is no setting that stays; " + reason);
  if (is_secret(name))
    return UsageError(shown + " is no setting, and secrets are not kept here; " +
                      with_program_name("{chat} endpoint add NAME URL --key-from-stdin stores a server's key"));
  std::vector<std::string> names;
  for (const SettingsKey& key : settings_keys()) names.push_back(key.name);
  return UsageError("unknown setting '" + shown + "'" + perhaps_meant(nearest_name(name, names)) +
                    with_program_name("; {chat} config lists all"));
}

std::string expected(const SettingsKey& key) {
  switch (key.kind) {
    case Kind::kSwitch:
      return "takes true or false";
    case Kind::kNumber:
      return "takes a number";
    case Kind::kJson:
      return "takes an object such as {\"name\": 1}";
    case Kind::kText:
      break;
  }
  return "takes a text in quotes";
}

// The flag's value; UsageError for one of another kind.
std::string flag_value(const SettingsKey& key, const ordered_json& value) {
  const bool fits = key.kind == Kind::kSwitch   ? value.is_boolean()
                    : key.kind == Kind::kNumber ? value.is_number()
                    : key.kind == Kind::kJson   ? value.is_object()
                                                : value.is_string();
  if (!fits) throw UsageError(key.name + " " + expected(key) + ", found " + printable(value.dump(), kMaxQuoted));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// With everything that a start would check before it loads a model.
void apply(ChatOptions& options, const SettingsKey& key, const ordered_json& value) {
  const std::string text = flag_value(key, value);
  ChatOptions alone;
  set_by_key(alone, key.name, text);
  settings_from(alone, {});
  require_valid_flags(alone);
  require_known_device(alone.device);
  set_by_key(options, key.name, text);
}

// Null leaves the options as they are. False then.
bool apply_entry(ChatOptions& options, const std::string& name, const ordered_json& value) {
  const std::vector<SettingsKey>& keys = settings_keys();
  const auto key = std::ranges::find(keys, name, &SettingsKey::name);
  if (key == keys.end()) throw no_key(name);
  if (value.is_null()) return false;
  apply(options, *key, value);
  return true;
}

void apply_all(ChatOptions& options, const ordered_json& settings, const std::string& source) {
  for (const auto& [name, value] : settings.items()) {
    try {
      if (apply_entry(options, name, value)) options.kept.insert(name);
    } catch (const Error& error) {
      options.complaints.push_back(source + ": " + error.what() + "; the other settings count");
    }
  }
}

}  // namespace

SettingsKey settings_key_named(const std::string& name) {
  std::string spelled = lower_case(name);
  spelled.erase(0, std::min(spelled.find_first_not_of('-'), spelled.size()));
  std::ranges::replace(spelled, '_', '-');
  for (const SettingsKey& key : settings_keys())
    if (key.name == spelled) return key;
  throw no_key(spelled);
}

SettingsFile sound_settings_file() {
  SettingsFile file = SettingsFile::load();
  if (!file.fault().empty()) throw Error(file.fault() + "; repair the file or remove it");
  return file;
}

std::string settings_list(const SettingsFile& file) {
  std::string list = file.path() + "\n";
  for (const SettingsKey& key : settings_keys()) {
    const auto kept = file.values().find(key.name);
    const bool is_kept = kept != file.values().end() && complaint_about(key.name, *kept).empty();
    list += "  " + key.name + "\t" + (is_kept ? printable(text_of(*kept), kMaxShown) : "-") + "\t" +
            (is_kept ? "config.json" : "default") + "\t" + key.help + "\n";
  }
  return list;
}

std::string setting_text(const SettingsFile& file, const SettingsKey& key) {
  const auto kept = file.values().find(key.name);
  if (kept == file.values().end()) return "";
  if (const std::string complaint = complaint_about(key.name, *kept); !complaint.empty()) throw Error(complaint);
  return text_of(*kept);
}

ordered_json value_for_key(const SettingsKey& key, const std::string& typed) {
  require_utf8(typed, key.name);
  ordered_json value = typed;
  if (key.kind == Kind::kSwitch) {
    if (typed == "on" || typed == "yes") value = true;
    if (typed == "off" || typed == "no") value = false;
  }
  if (key.kind != Kind::kText)
    if (ordered_json parsed = try_parse_untrusted_json<ordered_json>(typed); !parsed.is_discarded()) value = parsed;
  ChatOptions options;
  if (value.is_string() && key.kind == Kind::kNumber) set_by_key(options, key.name, typed);  // says what fits
  apply(options, key, value);
  return value;
}

std::string complaint_about(const std::string& key, const ordered_json& value) {
  try {
    ChatOptions options;
    apply_entry(options, key, value);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

ChatOptions kept_options(const SettingsFile& file, const std::string& assistant) {
  ChatOptions options;
  if (!file.fault().empty()) options.complaints.push_back(file.fault() + "; its settings are ignored");
  apply_all(options, file.values(), file.path());
  options.kept_choices = std::exchange(static_cast<AnswerChoices&>(options), {});
  options.kept_system_prompt = options.system_prompt;
  const std::string name = assistant.empty() ? options.assistant : assistant;
  if (name.empty()) return options;
  Assistant chosen;
  try {
    chosen = load_assistant(name);
  } catch (const Error& error) {
    if (!assistant.empty()) throw;
    options.complaints.push_back(file.path() + ": " + error.what());
    options.assistant.clear();
    return options;
  }
  const bool has_model = chosen.settings.contains("model"), has_endpoint = chosen.settings.contains("endpoint");
  if (has_model != has_endpoint) options.model.clear(), options.endpoint.clear();  // the file's are of another pair
  apply_all(options, chosen.settings, file_of_assistant(name));
  if (chosen.settings.contains(kSystemPromptSetting)) options.assistant_prompt = options.system_prompt;
  options.assistant_choices = std::exchange(static_cast<AnswerChoices&>(options), {});
  options.assistant = name;
  return options;
}

ChatOptions options_of_settings(const ordered_json& settings, const std::string& source) {
  ChatOptions options;
  apply_all(options, settings, source);
  return options;
}

}  // namespace warpchat
