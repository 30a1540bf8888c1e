// Environment variables with their documented defaults; a relative or empty value counts as unset (XDG says so). Those
// of models may begin with a tilde, as the programs understand them that share the folders.
#include "app/platform/directories.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "app/platform/typed_path.h"
#include "models/error.h"

namespace warpchat {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string home(std::string_view below) {
  const std::optional<std::string> home = find_home();
  if (!home)
    throw Error("there is no home directory: HOME is not set, and the system knows no user " +
                std::to_string(getuid()) + "; set HOME to a folder of yours");
  return *home + "/" + std::string(below);
}

std::string xdg_directory(const char* variable, std::string_view below_home) {
  const std::string value = environment(variable);
  return value.starts_with('/') ? value : home(below_home);
}

}  // namespace

std::optional<std::string> find_home() {
  if (std::string home = environment("HOME"); home.starts_with('/')) return home == "/" ? "" : home;
  char buffer[16384];
  passwd entry = {}, *found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return std::nullopt;
  if (entry.pw_dir == nullptr || *entry.pw_dir != '/') return std::nullopt;
  return entry.pw_dir;
}

std::string cache_home() { return xdg_directory("XDG_CACHE_HOME", ".cache"); }
std::string data_home() { return xdg_directory("XDG_DATA_HOME", ".local/share"); }
std::string folder_variable(const char* name) { return with_home_directory(environment(name)); }

std::string data_directory() { return data_home() + "/warpchat"; }
std::string state_directory() { return xdg_directory("XDG_STATE_HOME", ".local/state") + "/warpchat"; }
std::string config_directory() { return xdg_directory("XDG_CONFIG_HOME", ".config") + "/warpchat"; }
std::string cache_directory() { return cache_home() + "/warpchat"; }

std::string line_history_file() { return state_directory() + "/history"; }
std::string device_record_file() { return state_directory() + "/devices.json"; }

bool make_private_directory(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) return true;
  }
}

std::string hub_cache_directory() {
  const std::string hub = folder_variable("HF_HUB_CACHE"), hf = folder_variable("HF_HOME");
  if (!hub.empty()) return hub;
  return hf.empty() ? cache_home() + "/huggingface/hub" : hf + "/hub";
}

}  // namespace warpchat
