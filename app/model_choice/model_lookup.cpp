// The files are listed anew for each name: folders change.
#include "app/model_choice/model_lookup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "app/model_choice/hub_models.h"
#include "app/platform/directories.h"
#include "app/platform/log.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/typed_path.h"
#include "models/ascii.h"
#include "models/gguf_reader.h"
#include "models/model_purpose.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHowToGetOne =
    "no model found; use --model FILE.gguf, or download one: {chat} pull "
    "Qwen/Qwen2.5-0.5B-Instruct-GGUF";

// A file that cannot be read stays among the models, so that loading it says why.
bool may_chat(const FoundModel& model) {
  try {
    return why_no_chat_model(GgufFile::open(model.path)).empty();
  } catch (const Error&) {
    return true;
  }
}

std::vector<FoundModel> only_chat_models(std::vector<FoundModel> models) {
  std::erase_if(models, [](const FoundModel& model) { return !may_chat(model); });
  return models;
}

std::string list_names(const std::vector<FoundModel>& models) {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) list += (i ? ", " : "") + models[i].name;
  if (models.size() > kShown) list += " and " + std::to_string(models.size() - kShown) + " more";
  return list;
}

// The file of this repository that the name means best: one that accompanies no model, if there is one. If none was
// named and the default is missing, the only one.
const FoundModel* find_cached(const std::vector<FoundModel>& models, const HubModelName& wanted) {
  const FoundModel* best = nullptr;
  int best_rank = 0;
  for (const FoundModel& model : models) {
    const int rank = quant_rank(model.within, wanted.quant);
    if (rank > best_rank) best = &model, best_rank = rank;
  }
  if (best || !wanted.is_default) return best;
  const auto is_model = [](const FoundModel& model) { return !is_companion(model.within); };
  return std::ranges::count_if(models, is_model) == 1 ? &*std::ranges::find_if(models, is_model) : nullptr;
}

std::string find_hub_model(const HubModelName& wanted, const std::vector<FoundModel>& models) {
  std::vector<FoundModel> same_repository;
  for (const FoundModel& model : models)
    if (lower_case(model.name).starts_with(lower_case(wanted.repository) + ":")) same_repository.push_back(model);
  if (const FoundModel* cached = find_cached(same_repository, wanted)) return cached->path;
  throw NotCached("no " + wanted.as_written() + " in the model caches" +
                      (same_repository.empty() ? "" : ", which hold " + list_names(same_repository)) +
                      "; download it with " + program_name() + " pull " + wanted.as_written() + ", or add --yes",
                  wanted);
}

// By a file's whole name, with or without .gguf, or by words that only one has.
std::string find_by_words(const std::string& words, const std::vector<FoundModel>& models) {
  std::vector<FoundModel> matching;
  const std::string wanted = lower_case(words);
  for (const FoundModel& model : models) {
    const fs::path file = fs::path(model.path).filename();
    if (lower_case(file.string()) == wanted || lower_case(file.stem().string()) == wanted) return model.path;
    if (has_words(model.name + " " + file.string(), words)) matching.push_back(model);
  }
  if (matching.empty())
    throw Error("cannot load " + words + ": no such file, here or in the model folders" +
                (are_search_words(words) ? "; " + program_name() + " pull " + words + " searches the hub" : ""));
  if (matching.size() > 1)
    if (std::vector<FoundModel> chat = only_chat_models(matching); !chat.empty()) matching = std::move(chat);
  if (matching.size() > 1)
    throw SeveralModels(
        "several models have '" + words + "' in their name: " + list_names(matching) + "; be more specific", matching);
  return matching.front().path;
}

// A model whose whole name it is; Ollama's without a tag is the latest. null: none.
const FoundModel* find_by_whole_name(const std::string& name, const std::vector<FoundModel>& models) {
  const std::string wanted = lower_case(name);
  const auto found = std::ranges::find_if(models, [&](const FoundModel& model) {
    const std::string low = lower_case(model.name);
    return low == wanted || (model.store == ModelStore::kOllama && low == wanted + ":latest");
  });
  return found == models.end() ? nullptr : &*found;
}

std::string find_by_name(const std::string& name, const ModelPlaces& places) {
  // A named one that cannot chat says so when it is loaded.
  const std::vector<FoundModel> models = find_model_files(places);
  if (const FoundModel* model = find_by_whole_name(name, models)) return model->path;
  try {
    const std::optional<HubModelName> wanted = parse_hub_model_name(name);
    return wanted ? find_hub_model(*wanted, models) : find_by_words(name, models);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (places.fault.empty()) throw;
    throw Error(std::string(error.what()) + " (" + places.fault + ")");
  }
}

// In the state directory.
constexpr const char *kLastModel = "/last_model", *kLastServer = "/last_server";

void remember(const std::string& text, const std::string& state_directory, const char* name) {
  if (!make_private_directory(state_directory)) return;
  try {
    write_file(state_directory + name, text, OutputFile::Readers::kOwner);
  } catch (const Error& fault) {  // the next start asks for a model
    log_line(fault.what());
  }
}

std::optional<std::string> last_used_model(const std::string& state_directory) {
  std::ifstream file(state_directory + kLastModel);
  std::string path;
  std::error_code error;
  if (!std::getline(file, path) || !fs::exists(path, error)) return std::nullopt;
  return path;
}

std::string resolve_unnamed(const ModelPlaces& places, const std::string& state_directory) {
  if (const std::optional<std::string> last = last_used_model(state_directory)) return *last;
  const std::vector<FoundModel> models = only_chat_models(find_model_files(places));
  if (models.empty()) throw NoModel(with_program_name(kHowToGetOne));
  if (models.size() > 1)
    throw SeveralModels("several models found: " + list_names(models) + "; choose one with --model", models);
  return models.front().path;
}

std::optional<std::string> name_at_ollama(const std::string& path) {
  ModelPlaces places = model_places();
  places.opened.clear();
  std::erase_if(places.folders, [](const ModelFolder& folder) { return folder.store != ModelStore::kOllama; });
  std::error_code error;
  for (const FoundModel& model : find_model_files(places))
    if (fs::equivalent(model.path, path, error)) return model.name;
  return std::nullopt;
}

}  // namespace

bool has_words(std::string_view name, std::string_view words) {
  const std::string low = lower_case(name);
  std::istringstream stream(lower_case(words));
  for (std::string word; stream >> word;)
    if (low.find(word) == std::string::npos) return false;
  return true;
}

std::string resolve_model(const std::string& name, const ModelPlaces& places, const std::string& state_directory) {
  std::error_code error;
  if (name.empty()) return resolve_unnamed(places, state_directory);
  const bool is_folder = fs::is_directory(name, error);
  if (!is_folder && fs::exists(name, error)) return name;
  if (is_folder && name.find('/') != std::string::npos)
    throw Error("cannot load " + name + ": it is a directory; name a file in it");
  const auto alias = places.aliases.find(name);  // a file or folder that happens to lie here does not hide a model
  if (alias == places.aliases.end()) return find_by_name(name, places);
  const std::string target = with_home_directory(alias->second);
  return fs::is_regular_file(target, error) ? target : find_by_name(target, places);
}

std::string shown_name(const std::string& model) {
  static std::mutex mutex;
  static std::map<std::string, std::string> hashed;  // by path: front ends ask for every answer of a conversation
  std::string name = fs::path(model).filename().string();
  if (name.starts_with("sha256-")) {
    const std::lock_guard lock(mutex);
    const auto [known, is_new] = hashed.try_emplace(model, name);
    if (is_new) known->second = name_at_ollama(model).value_or(name);
    return known->second;
  }
  if (lower_case(name).ends_with(".gguf")) name.resize(name.size() - std::string_view(".gguf").size());
  if (const size_t part = name.rfind("-00001-of-"); part != std::string::npos) name.resize(part);
  return name;
}

void remember_model(const std::string& path, const std::string& state_directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (!error) remember(absolute.string() + "\n", state_directory, kLastModel);
}

std::optional<LastServer> last_server(const std::string& state_directory) {
  std::ifstream file(state_directory + kLastServer);
  LastServer server;
  if (!std::getline(file, server.endpoint) || !std::getline(file, server.model) || server.model.empty())
    return std::nullopt;
  return server;
}

void remember_server(const std::optional<LastServer>& server, const std::string& state_directory) {
  std::error_code error;
  if (!server) return void(fs::remove(state_directory + kLastServer, error));
  remember(server->endpoint + "\n" + server->model + "\n", state_directory, kLastServer);
}

}  // namespace warpchat
