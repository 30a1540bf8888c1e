// The user's settings, config.json of the configuration: one JSON object. Its keys are the long names of flags
// (settings_keys() in app/settings/options.h), its values what the flags take. People edit it, too.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat {

// Settings as a person types them: each one's key, as the file has it, and its value.
using TypedSettings = std::vector<std::pair<std::string, std::string>>;

// A value of the file as it is typed: "on" for true, and text without quotes.
std::string typed_value(const nlohmann::ordered_json& value);

inline constexpr const char *kSystemPromptSetting = "system-prompt", *kModelSetting = "model",
                            *kEndpointSetting = "endpoint", *kAssistantSetting = "assistant";

class SettingsFile {
 public:
  SettingsFile() = default;  // without settings
  static SettingsFile load();

  const std::string& path() const { return path_; }                 // empty: there is no home to have it in
  const std::string& fault() const { return fault_; }               // why all of it is ignored; empty: it is not
  const nlohmann::ordered_json& values() const { return values_; }  // an object

  // Reads the file again, changes one key and writes it, while no other process of this program can; nullopt: removes
  // the key. All other keys stay. Error if that fails; a file that has a fault is never written over.
  static void change(std::string_view key, const std::optional<nlohmann::ordered_json>& value);

  // The same; the sentence if it could not be kept, and counts in this run alone. Empty: it is kept.
  static std::string keep(std::string_view key, const std::optional<nlohmann::ordered_json>& value);

 private:
  std::string path_, fault_;
  nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
};

}  // namespace warpchat
