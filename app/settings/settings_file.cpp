// Read as a whole and written as a whole, at once or not at all.
#include "app/settings/settings_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "app/platform/directories.h"
#include "app/platform/file_lock.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/untrusted_json.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxSettingsBytes = 1 << 20;

std::string file_path() { return config_directory() + "/config.json"; }

size_t line_of(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  return static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
}

ordered_json read_object(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) return ordered_json::object();
  const std::string text = read_regular_file(path, kMaxSettingsBytes);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return ordered_json::object();
  try {
    ordered_json values = parse_untrusted_json<ordered_json>(text);
    if (values.is_object()) return values;
  } catch (const JsonError& error) {
    throw Error(path + ", line " + std::to_string(line_of(text, error.byte)) + ": " + error.what());
  }
  throw Error(path + ", line 1: settings are one JSON object such as {\"temp\": 0.5}");
}

}  // namespace

std::string typed_value(const nlohmann::ordered_json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

SettingsFile SettingsFile::load() {
  SettingsFile file;
  try {
    file.path_ = file_path();
    file.values_ = read_object(file.path_);
  } catch (const Error& error) {
    if (!file.path_.empty()) file.fault_ = error.what();
  }
  return file;
}

void SettingsFile::change(std::string_view key, const std::optional<ordered_json>& value) {
  const std::string path = file_path();
  if (!make_private_directory(config_directory())) throw Error("cannot create " + config_directory());
  const FileLock lock(path + ".lock");
  ordered_json values = [&] {
    try {
      return read_object(path);
    } catch (const Error& error) {
      throw Error(std::string(error.what()) + "; nothing was changed; repair the file or remove it");
    }
  }();
  const std::string name(key);
  if (value)
    values[name] = *value;
  else if (values.erase(name) == 0)
    return;
  write_file(behind_links(path), values.dump(2) + "\n", OutputFile::Readers::kOwner);
}

std::string SettingsFile::keep(std::string_view key, const std::optional<ordered_json>& value) {
  try {
    change(key, value);
    return "";
  } catch (const std::exception& error) {
    return std::string(error.what()) + "; the setting counts until this program ends";
  }
}

}  // namespace warpchat
