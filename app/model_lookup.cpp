// Walks a handful of folders: plain ones one level deep, Hugging Face caches by their snapshots.
#include "app/model_lookup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "app/hub_models.h"
#include "app/log.h"
#include "app/output.h"
#include "app/program_name.h"
#include "engine/hub/hub_cache.h"
#include "models/ascii.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHowToGetOne =
    "no model found; use --model FILE.gguf, or download one: {chat} pull "
    "Qwen/Qwen2.5-0.5B-Instruct-GGUF";

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A split model is listed by its first part.
bool is_model_file(const fs::path& path) {
  std::error_code error;
  return is_model_path(path.string()) && part_of(path.string()).number == 1 && fs::is_regular_file(path, error);
}

// The snapshots of a cached repository, the one that refs/main names first.
std::vector<fs::path> snapshots(const fs::path& repository) {
  std::vector<fs::path> all = entries(repository / "snapshots");
  std::ifstream ref(repository / "refs" / "main");
  std::string main;
  std::getline(ref, main);
  std::stable_partition(all.begin(), all.end(), [&](const fs::path& p) { return p.filename() == main; });
  return all;
}

void add_repository(std::vector<FoundModel>& models, const fs::path& folder) {
  const std::optional<std::string> repository = repository_of_folder(folder.filename().string());
  if (!repository) return;
  for (const fs::path& snapshot : snapshots(folder)) {
    std::vector<fs::path> files = entries(snapshot);
    std::error_code error;
    for (const fs::path& below : entries(snapshot))  // some repositories keep each quantisation in a folder
      if (fs::is_directory(below, error))
        for (const fs::path& file : entries(below)) files.push_back(file);
    for (const fs::path& file : files)
      if (is_model_file(file)) models.push_back({file.string(), *repository + ":" + quant_of(file.string())});
  }
}

std::string list_names(const std::vector<FoundModel>& models) {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) list += (i ? ", " : "") + models[i].name;
  if (models.size() > kShown) list += " and " + std::to_string(models.size() - kShown) + " more";
  return list;
}

// The cached file of this repository that the quantisation means best.
const FoundModel* find_cached(const std::vector<FoundModel>& models, const HubModelName& wanted) {
  const FoundModel* best = nullptr;
  int best_match = 0;
  for (const FoundModel& model : models) {
    if (!lower_case(model.name).starts_with(lower_case(wanted.repository) + ":")) continue;
    const int match = quant_match(model.path, wanted.quant);
    if (match > best_match) best = &model, best_match = match;
  }
  return best;
}

std::string find_hub_model(const HubModelName& wanted, const std::vector<FoundModel>& models) {
  if (const FoundModel* cached = find_cached(models, wanted)) return cached->path;
  std::vector<FoundModel> same_repository;
  for (const FoundModel& model : models)
    if (lower_case(model.name).starts_with(lower_case(wanted.repository) + ":")) same_repository.push_back(model);
  throw NotCached("no " + wanted.text() + " in the model caches" +
                      (same_repository.empty() ? "" : ", which hold " + list_names(same_repository)) +
                      "; download it with " + program_name() + " pull " + wanted.text() + ", or add --yes",
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
    throw SeveralModels(
        "several models have '" + words + "' in their name: " + list_names(matching) + "; be more specific", matching);
  return matching.front().path;
}

std::string find_by_name(const std::string& name, const std::vector<ModelFolder>& folders) {
  const std::vector<FoundModel> models = find_models(folders);
  const std::optional<HubModelName> wanted = parse_hub_model_name(name);
  return wanted ? find_hub_model(*wanted, models) : find_by_words(name, models);
}

std::optional<std::string> last_used_model(const std::string& state_directory) {
  std::ifstream file(state_directory + "/last_model");
  std::string path;
  std::error_code error;
  if (!std::getline(file, path) || !fs::exists(path, error)) return std::nullopt;
  return path;
}

}  // namespace

bool has_words(std::string_view name, std::string_view words) {
  const std::string low = lower_case(name);
  std::istringstream stream(lower_case(words));
  for (std::string word; stream >> word;)
    if (low.find(word) == std::string::npos) return false;
  return true;
}

std::vector<FoundModel> find_models(const std::vector<ModelFolder>& folders) {
  std::vector<FoundModel> models;
  for (const ModelFolder& folder : folders) {
    for (const fs::path& entry : entries(folder.path)) {
      if (folder.hugging_face)
        add_repository(models, entry);
      else if (is_model_file(entry))
        models.push_back({entry.string(), entry.filename().string()});
    }
  }
  std::set<std::string> seen;
  std::erase_if(models, [&](const FoundModel& model) {
    std::error_code error;
    const fs::path real = fs::canonical(model.path, error);
    return !seen.insert(error ? model.path : real.string()).second;
  });
  return models;
}

std::string resolve_model(const std::string& name, const std::vector<ModelFolder>& folders,
                          const std::string& state_directory) {
  std::error_code error;
  if (!name.empty()) {
    if (!fs::is_directory(name, error)) return fs::exists(name, error) ? name : find_by_name(name, folders);
    if (name.find('/') != std::string::npos)
      throw Error("cannot load " + name + ": it is a directory; name a file in it");
    return find_by_name(name, folders);  // a file that happens to lie here does not hide a model's name
  }
  if (const std::optional<std::string> last = last_used_model(state_directory)) return *last;
  const std::vector<FoundModel> models = find_models(folders);
  if (models.empty()) throw NoModel(with_program_name(kHowToGetOne));
  if (models.size() > 1)
    throw SeveralModels("several models found: " + list_names(models) + "; choose one with --model", models);
  return models.front().path;
}

void remember_model(const std::string& path, const std::string& state_directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error || !make_private_directory(state_directory)) return;
  try {
    write_file(state_directory + "/last_model", absolute.string() + "\n", OutputFile::Readers::kOwner);
  } catch (const Error& fault) {  // the next start asks for a model
    log_line(fault.what());
  }
}

}  // namespace warpchat
