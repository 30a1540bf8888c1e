// Walks a handful of folders: plain ones one level deep, Hugging Face caches by their snapshots.
#include "app/model_lookup.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kDefaultQuant = "Q4_K_M";
constexpr std::string_view kHowToGetOne =
    "no model found; give one with --model FILE.gguf, or run app/quickstart.sh to fetch a small one";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// "-00002-of-00003.gguf" and so on; the first part stands for all.
bool is_later_part(const std::string& name) {
  constexpr std::string_view kShape = "-00000-of-00000.gguf";
  if (name.size() < kShape.size()) return false;
  const std::string_view tail = std::string_view(name).substr(name.size() - kShape.size());
  for (size_t i = 0; i < kShape.size(); ++i)
    if (kShape[i] == '0' ? !std::isdigit(static_cast<unsigned char>(tail[i])) : tail[i] != kShape[i]) return false;
  return tail.substr(1, 5) != "00001";
}

bool is_model_file(const fs::path& path) {
  const std::string name = lower(path.filename().string());
  std::error_code error;
  return name.ends_with(".gguf") && !name.starts_with("mmproj") && !is_later_part(name) &&
         fs::is_regular_file(path, error);
}

// The quantisation that a file name ends with: "qwen2.5-3b-instruct-q4_k_m.gguf" has "Q4_K_M".
std::string quant_of(const fs::path& path) {
  std::string stem = path.stem().string();
  if (const size_t part = stem.rfind("-00001-of-"); part != std::string::npos) stem.resize(part);
  const size_t start = stem.find_last_of("-.");
  std::string quant = start == std::string::npos ? stem : stem.substr(start + 1);
  for (char& c : quant) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return quant;
}

// models--org--repo: "org/repo".
std::optional<std::string> repository_of(const fs::path& folder) {
  constexpr std::string_view kPrefix = "models--";
  const std::string name = folder.filename().string();
  const size_t split = name.find("--", kPrefix.size());
  if (!name.starts_with(kPrefix) || split == std::string::npos) return std::nullopt;
  return name.substr(kPrefix.size(), split - kPrefix.size()) + "/" + name.substr(split + 2);
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
  const std::optional<std::string> repository = repository_of(folder);
  if (!repository) return;
  for (const fs::path& snapshot : snapshots(folder)) {
    std::vector<fs::path> files = entries(snapshot);
    std::error_code error;
    for (const fs::path& below : entries(snapshot))  // some repositories keep each quantisation in a folder
      if (fs::is_directory(below, error))
        for (const fs::path& file : entries(below)) files.push_back(file);
    for (const fs::path& file : files)
      if (is_model_file(file)) models.push_back({file.string(), *repository + ":" + quant_of(file)});
  }
}

struct RepositoryName {
  std::string repository, quant;
};

std::optional<RepositoryName> parse_repository_name(std::string_view name) {
  for (std::string_view host : {"https://", "hf.co/", "huggingface.co/"})
    if (name.starts_with(host)) name.remove_prefix(host.size());
  const size_t colon = name.find(':');
  const std::string_view repository = name.substr(0, colon);
  const bool one_slash = std::count(repository.begin(), repository.end(), '/') == 1;
  if (!one_slash || repository.starts_with('/') || repository.ends_with('/') || repository.starts_with('.') ||
      lower(name).ends_with(".gguf"))
    return std::nullopt;
  return RepositoryName{std::string(repository),
                        std::string(colon == std::string_view::npos ? kDefaultQuant : name.substr(colon + 1))};
}

std::string list_names(const std::vector<FoundModel>& models) {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) list += (i ? ", " : "") + models[i].name;
  if (models.size() > kShown) list += " and " + std::to_string(models.size() - kShown) + " more";
  return list;
}

std::string find_in_caches(const std::string& name, const std::vector<ModelFolder>& folders) {
  const std::vector<FoundModel> models = find_models(folders);
  const std::optional<RepositoryName> wanted = parse_repository_name(name);
  const std::string full = wanted ? wanted->repository + ":" + wanted->quant : name;
  std::vector<FoundModel> same_repository;
  for (const FoundModel& model : models) {
    if (lower(model.name) == lower(full) || fs::path(model.path).filename() == name) return model.path;
    if (wanted && lower(model.name).starts_with(lower(wanted->repository) + ":")) same_repository.push_back(model);
  }
  if (!same_repository.empty())
    throw Error("no " + full + " in the model caches; there is " + list_names(same_repository));
  if (wanted)
    throw Error("no " + full +
                " in the model caches, and this program downloads nothing; fetch the file and name its path");
  throw Error("cannot load " + name + ": no such file, here or in the model folders");
}

std::optional<std::string> last_used_model(const std::string& state_directory) {
  std::ifstream file(state_directory + "/last_model");
  std::string path;
  std::error_code error;
  if (!std::getline(file, path) || !fs::exists(path, error)) return std::nullopt;
  return path;
}

}  // namespace

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
  if (!name.empty()) return fs::exists(name, error) ? name : find_in_caches(name, folders);
  if (const std::optional<std::string> last = last_used_model(state_directory)) return *last;
  const std::vector<FoundModel> models = find_models(folders);
  if (models.empty()) throw UsageError(std::string(kHowToGetOne));
  if (models.size() > 1) throw UsageError("several models found: " + list_names(models) + "; choose one with --model");
  return models.front().path;
}

void remember_model(const std::string& path, const std::string& state_directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error || !make_private_directory(state_directory)) return;
  std::ofstream file(state_directory + "/last_model", std::ios::trunc);
  file << absolute.string() << "\n";
}

}  // namespace warpchat
