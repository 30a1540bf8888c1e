// chat config: the settings that stay.
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/settings/kept_options.h"

namespace warpchat {

namespace {

int list(bool as_json) {
  const SettingsFile file = sound_settings_file();
  if (as_json)
    write_json(file.values().dump(2) + "\n");
  else
    write_text(settings_list(file));
  for (const auto& [key, value] : file.values().items())
    if (const std::string complaint = complaint_about(key, value); !complaint.empty()) print_error(complaint);
  return 0;
}

int show(const SettingsKey& key) {
  const std::string value = setting_text(sound_settings_file(), key);
  if (value.empty())
    write_error_text(key.name + " is not set: " + key.help + "\n");
  else
    write_output(value + "\n");
  return 0;
}

}  // namespace

int run_command(const ConfigOptions& options) {
  const std::vector<std::string>& words = options.words;
  if (options.json && (options.unset || !words.empty()))
    throw UsageError("--json lists what is kept; leave out KEY and --unset");
  if (options.unset && words.size() != 1)
    throw UsageError(with_program_name("--unset removes one key: {chat} config --unset KEY"));
  if (words.empty()) return list(options.json);
  if (options.unset) {
    SettingsFile::change(words[0], std::nullopt);  // of any name, also one that is no key
    return 0;
  }
  const SettingsKey key = settings_key_named(words[0]);
  if (words.size() == 1) return show(key);
  SettingsFile::change(key.name, value_for_key(key, words[1]));
  return 0;
}

}  // namespace warpchat
