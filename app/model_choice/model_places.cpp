// What belongs to other programs is read where it lies. Their folders come last, so that a model which several of them
// have is listed under the hub's name.
#include "app/model_choice/model_places.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/model_choice/model_book.h"
#include "app/platform/directories.h"
#include "app/platform/text_input.h"
#include "app/platform/typed_path.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/error.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMaxSettingsBytes = 1 << 20;

void add(std::vector<ModelFolder>& folders, const std::string& path, ModelStore store) {
  const ModelFolder folder{path, store};
  if (!path.empty() && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
}

// Another program's: its absence says that the program is not used here.
void add_if_there(std::vector<ModelFolder>& folders, const fs::path& path, ModelStore store) {
  std::error_code error;
  if (path.is_absolute() && fs::is_directory(path, error)) add(folders, path.string(), store);
}

// Empty where there is no such file, or none that can be read.
std::string settings_text(const fs::path& file) try {
  return read_regular_file(file.string(), kMaxSettingsBytes);
} catch (const Error&) {
  return "";
}

// Its home is in ~/.lmstudio-home-pointer; older versions used ~/.cache/lm-studio. Its settings may move the models.
void add_lm_studio(std::vector<ModelFolder>& folders, const std::string& home) {
  const std::string pointer(trimmed(settings_text(home + "/.lmstudio-home-pointer"), " \t\r\n"));
  for (const std::string& base : {pointer, home + "/.lmstudio", home + "/.cache/lm-studio"}) {
    if (base.empty()) continue;
    const nlohmann::json settings = try_parse_untrusted_json(settings_text(base + "/settings.json"));
    if (const auto moved = settings.is_object() ? settings.find("downloadsFolder") : settings.end();
        settings.is_object() && moved != settings.end() && moved->is_string())
      add_if_there(folders, moved->get<std::string>(), ModelStore::kLmStudio);
    add_if_there(folders, base + "/models", ModelStore::kLmStudio);
  }
}

void add_other_programs(std::vector<ModelFolder>& folders) {
  const std::optional<std::string> home = find_home();
  const std::string ollama = folder_variable("OLLAMA_MODELS");
  add_if_there(folders, ollama, ModelStore::kOllama);
  if (ollama.empty()) add_if_there(folders, "/usr/share/ollama/.ollama/models", ModelStore::kOllama);  // its service's
  if (!home) return;
  if (ollama.empty()) add_if_there(folders, *home + "/.ollama/models", ModelStore::kOllama);
  add_lm_studio(folders, *home);
  for (const std::string& data : {data_home() + "/Jan/data", *home + "/.config/Jan/data", *home + "/jan"})
    for (const char* below : {"/llamacpp/models", "/models"}) add_if_there(folders, data + below, ModelStore::kJan);
}

}  // namespace

std::string_view name_of(ModelStore store) {
  switch (store) {
    case ModelStore::kOwn:
      return "Warpchat";
    case ModelStore::kFolder:
      return "folder";
    case ModelStore::kHub:
      return "Hugging Face";
    case ModelStore::kLlamaCpp:
      return "llama.cpp";
    case ModelStore::kLmStudio:
      return "LM Studio";
    case ModelStore::kOllama:
      return "Ollama";
    case ModelStore::kJan:
      return "Jan";
    case ModelStore::kOpened:
      break;
  }
  return "opened file";
}

ModelPlaces model_places() {
  const ModelBook book = read_model_book();
  ModelPlaces places{.folders = {}, .aliases = book.aliases, .opened = opened_models(), .fault = book.fault};
  std::vector<ModelFolder>& folders = places.folders;
  const std::string llama = folder_variable("LLAMA_CACHE"), hub = folder_variable("HF_HUB_CACHE"),
                    hf = folder_variable("HF_HOME");
  add(folders, cache_directory() + "/models", ModelStore::kOwn);
  for (const std::string& folder : book.folders) add(folders, with_home_directory(folder), ModelStore::kFolder);
  add(folders, llama, ModelStore::kLlamaCpp);  // it has used both layouts there
  add(folders, llama, ModelStore::kHub);
  add(folders, cache_home() + "/llama.cpp", ModelStore::kLlamaCpp);
  add(folders, hub, ModelStore::kHub);
  if (!hf.empty()) add(folders, hf + "/hub", ModelStore::kHub);
  add(folders, cache_home() + "/huggingface/hub", ModelStore::kHub);
  add_other_programs(folders);
  return places;
}

}  // namespace warpchat
