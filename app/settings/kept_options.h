// The settings file as options of a conversation.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/settings/options.h"
#include "app/settings/settings_file.h"

namespace warpchat {

// What the file says, and above it the assistant of this name (empty: none); `kept` names their keys, and each wrong
// key or value is a complaint that names it. Error if there is no such assistant.
ChatOptions kept_options(const SettingsFile& file, const std::string& assistant = "");

// The settings of one such object; source: the file that complaints name.
ChatOptions options_of_settings(const nlohmann::ordered_json& settings, const std::string& source);

// The sentence for a key or value of the file that does not count; empty: it counts.
std::string complaint_about(const std::string& key, const nlohmann::ordered_json& value);

// All keys with what they are set to and what they mean, a line each; and the file's path.
std::string settings_list(const SettingsFile& file);

// One key's value; empty: it is not set. Error for a value that does not count.
std::string setting_text(const SettingsFile& file, const SettingsKey& key);

// As it is on disk. Error for one with a fault.
SettingsFile sound_settings_file();

// "temp", "--temp" or "top_k". UsageError for a name that is no key.
SettingsKey settings_key_named(const std::string& name);

// The value as the file has it, from typed text. UsageError if it does not fit.
nlohmann::ordered_json value_for_key(const SettingsKey& key, const std::string& typed);

}  // namespace warpchat
