// Environment variables with their documented defaults; a relative or empty value counts as unset (XDG says so).
#include "app/directories.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace warpchat {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string home(std::string_view below) { return environment("HOME") + "/" + std::string(below); }

std::string xdg_directory(const char* variable, std::string_view below_home) {
  const std::string value = environment(variable);
  return value.starts_with('/') ? value : home(below_home);
}

std::string cache_home() { return xdg_directory("XDG_CACHE_HOME", ".cache"); }

void add(std::vector<ModelFolder>& folders, const std::string& path, bool hugging_face) {
  if (path.empty()) return;
  for (const ModelFolder& folder : folders)
    if (folder.path == path && folder.hugging_face == hugging_face) return;
  folders.push_back({path, hugging_face});
}

}  // namespace

std::string data_directory() { return xdg_directory("XDG_DATA_HOME", ".local/share") + "/warpchat"; }
std::string state_directory() { return xdg_directory("XDG_STATE_HOME", ".local/state") + "/warpchat"; }
std::string config_directory() { return xdg_directory("XDG_CONFIG_HOME", ".config") + "/warpchat"; }
std::string cache_directory() { return cache_home() + "/warpchat"; }

std::string device_record_file() { return state_directory() + "/devices.json"; }

bool make_private_directory(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) return true;
  }
}

std::string hub_cache_directory() {
  const std::string hub = environment("HF_HUB_CACHE"), hf = environment("HF_HOME");
  if (!hub.empty()) return hub;
  return hf.empty() ? cache_home() + "/huggingface/hub" : hf + "/hub";
}

std::vector<ModelFolder> model_folders() {
  const std::string llama = environment("LLAMA_CACHE"), hub = environment("HF_HUB_CACHE"), hf = environment("HF_HOME");
  std::vector<ModelFolder> folders;
  add(folders, cache_directory() + "/models", false);
  add(folders, llama, false);  // llama.cpp has used both layouts there
  add(folders, llama, true);
  add(folders, cache_home() + "/llama.cpp", false);
  add(folders, hub, true);
  if (!hf.empty()) add(folders, hf + "/hub", true);
  add(folders, cache_home() + "/huggingface/hub", true);
  return folders;
}

}  // namespace warpchat
