// One function a layout. Links may lead anywhere; depth and number of what is looked at are limited.
#include "app/model_choice/model_stores.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "app/platform/text_input.h"
#include "engine/hub/hub_cache.h"
#include "engine/hub/model_name.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/gguf_split.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

constexpr size_t kMaxEntries = 20'000;  // of folders and files, looked at below one folder
constexpr int kMaxDepth = 4;            // of folders below it
constexpr uint64_t kMaxManifestBytes = 1 << 20;

// Lists folders, sorted, until it has listed kMaxEntries.
class Walk {
 public:
  std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end && n_left_ > 0; it.increment(error)) {
      paths.push_back(it->path());
      --n_left_;
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  size_t n_left_ = kMaxEntries;
};

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// A split model is listed by its first part.
bool is_model_file(const fs::path& path) {
  return is_model_path(path.string()) && part_of(path.string()).number == 1 && is_file(path);
}

// Empty where it cannot be read.
std::string manifest_text(const fs::path& file) try {
  return read_regular_file(file.string(), kMaxManifestBytes);
} catch (const Error&) {
  return "";
}

Json json_of(const fs::path& file) { return try_parse_untrusted_json(manifest_text(file)); }

// Empty: there is no such text.
std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The folder and those below it, at most `depth` levels of them.
std::vector<fs::path> folders_below(Walk& walk, const fs::path& folder, int depth) {
  std::vector<fs::path> folders = {folder};
  if (depth > 0)
    for (const fs::path& entry : walk.entries(folder))
      if (is_folder(entry)) {
        const std::vector<fs::path> below = folders_below(walk, entry, depth - 1);
        folders.insert(folders.end(), below.begin(), below.end());
      }
  return folders;
}

// --- Repositories of the hub ---

// The snapshots of a cached repository, the one that refs/main names first.
std::vector<fs::path> snapshots(Walk& walk, const fs::path& repository) {
  std::vector<fs::path> all = walk.entries(repository / "snapshots");
  std::ifstream ref(repository / "refs" / "main");
  std::string main;
  std::getline(ref, main);
  std::stable_partition(all.begin(), all.end(), [&](const fs::path& p) { return p.filename() == main; });
  return all;
}

// Whether all parts of a split model lie beside its first one.
bool is_whole(const fs::path& first) {
  const std::vector<std::string> files = files_of_model(first.string());
  return std::ranges::all_of(files, [](const std::string& file) { return is_file(file); });
}

// The model files of a snapshot, by their path within it.
std::map<std::string, fs::path> files_of(Walk& walk, const fs::path& snapshot) {
  std::map<std::string, fs::path> files;
  for (const fs::path& folder : folders_below(walk, snapshot, 1))  // some have a folder for each quantisation
    for (const fs::path& file : walk.entries(folder))
      if (is_model_file(file)) files.emplace(file.lexically_relative(snapshot).string(), file);
  return files;
}

// Where several files have the same quantisation, their names tell them apart.
void add_files(std::vector<FoundModel>& models, const std::string& repository, const ModelFolder& folder,
               const std::map<std::string, fs::path>& files, const std::string& manifest = "") {
  std::map<std::string, int> n_with_quant;
  for (const auto& [name, file] : files) ++n_with_quant[quant_of(name)];
  for (const auto& [name, file] : files) {
    const std::string quant = quant_of(name);
    models.push_back({file.string(), repository + ":" + (n_with_quant[quant] > 1 ? part_of(name).stem : quant),
                      folder.store, folder.path, name, manifest});
  }
}

// Each file from the first snapshot that has it whole.
void add_repository(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder, const fs::path& path) {
  const std::optional<std::string> repository = repository_of_folder(path.filename().string());
  if (!repository) return;
  std::map<std::string, fs::path> files;
  for (const fs::path& snapshot : snapshots(walk, path))
    for (const auto& [name, file] : files_of(walk, snapshot)) {
      fs::path& chosen = files[name];
      if (chosen.empty() || (!is_whole(chosen) && is_whole(file))) chosen = file;
    }
  add_files(models, *repository, folder, files);
}

void add_hub(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder) {
  for (const fs::path& entry : walk.entries(folder.path)) add_repository(models, walk, folder, entry);
}

// --- Folders of files ---

void add_plain_files(std::vector<FoundModel>& models, const std::vector<fs::path>& entries, const ModelFolder& folder) {
  for (const fs::path& entry : entries)
    if (is_model_file(entry)) models.push_back({entry.string(), entry.filename().string(), folder.store, folder.path});
}

void add_folder(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder, const fs::path& path,
                int depth) {
  const std::vector<fs::path> entries = walk.entries(path);
  add_plain_files(models, entries, folder);
  if (depth == 0) return;
  for (const fs::path& entry : entries) {
    if (!is_folder(entry)) continue;
    if (repository_of_folder(entry.filename().string()))
      add_repository(models, walk, folder, entry);
    else
      add_folder(models, walk, folder, entry, depth - 1);
  }
}

// --- llama.cpp: manifest=org=repo=tag.json has the hub's answer for org/repo:tag; the file is org_repo_PATH ---

void add_llama_cpp(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder) {
  constexpr std::string_view kManifest = "manifest=";
  const std::vector<fs::path> entries = walk.entries(folder.path);
  std::set<std::string> named;
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(kManifest) || !name.ends_with(".json")) continue;
    const size_t slash = name.find('=', kManifest.size()), end = name.find('=', slash + 1);
    if (slash == std::string::npos || end == std::string::npos) continue;
    const std::string org = name.substr(kManifest.size(), slash - kManifest.size());
    const std::string repository = org + "/" + name.substr(slash + 1, end - slash - 1);
    const Json manifest = json_of(entry);
    const auto file = manifest.is_object() ? manifest.find("ggufFile") : manifest.end();
    const std::string within = manifest.is_object() && file != manifest.end() ? text_at(*file, "rfilename") : "";
    std::string flat = repository + "_" + within;
    std::ranges::replace(flat, '/', '_');
    const fs::path path = fs::path(folder.path) / flat;
    if (within.empty() || !is_model_file(path) || !named.insert(path.string()).second) continue;
    add_files(models, repository, folder, {{within, path}}, entry.string());
  }
  std::vector<FoundModel> others;
  add_plain_files(others, entries, folder);
  for (FoundModel& model : others)
    if (!named.contains(model.path)) models.push_back(std::move(model));
}

// --- LM Studio ---

void add_lm_studio(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder) {
  for (const fs::path& publisher : walk.entries(folder.path)) {
    if (!is_folder(publisher)) continue;
    for (const fs::path& repository : walk.entries(publisher))
      if (is_folder(repository))
        add_files(models, publisher.filename().string() + "/" + repository.filename().string(), folder,
                  files_of(walk, repository));
  }
}

// --- Ollama ---

// The blob that a layer names; empty: it names none.
fs::path blob_of(const fs::path& folder, const std::string& digest) {
  constexpr std::string_view kHash = "sha256:";
  const std::string hash = digest.starts_with(kHash) ? digest.substr(kHash.size()) : "";
  const bool is_hash = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? folder / "blobs" / ("sha256-" + hash) : fs::path();
}

std::string model_digest(const Json& manifest) {
  constexpr std::string_view kModel = "application/vnd.ollama.image.model";
  const auto layers = manifest.is_object() ? manifest.find("layers") : manifest.end();
  if (!manifest.is_object() || layers == manifest.end() || !layers->is_array()) return "";
  for (const Json& layer : *layers)
    if (text_at(layer, "mediaType") == kModel) return text_at(layer, "digest");
  return "";
}

void add_ollama(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder) {
  const fs::path manifests = fs::path(folder.path) / "manifests";
  for (const fs::path& path : folders_below(walk, manifests, 3)) {
    const fs::path below = path.lexically_relative(manifests);  // host/namespace/name
    if (std::distance(below.begin(), below.end()) != 3) continue;
    const std::string host = below.begin()->string(), space = std::next(below.begin())->string();
    const bool is_usual = host == "registry.ollama.ai";
    const std::string name =
        (is_usual ? "" : host + "/") + (is_usual && space == "library" ? "" : space + "/") + below.filename().string();
    for (const fs::path& tag : walk.entries(path)) {
      const fs::path blob = is_file(tag) ? blob_of(folder.path, model_digest(json_of(tag))) : fs::path();
      if (!blob.empty() && is_file(blob))
        models.push_back(
            {blob.string(), name + ":" + tag.filename().string(), folder.store, folder.path, "", tag.string()});
    }
  }
}

// --- Jan: model_path of model.yml, or the first of its files, from the data folder; older versions have files alone
// ---

std::string path_in_yaml(const std::string& text) {
  std::istringstream lines(text);
  bool is_in_files = false;
  for (std::string line; std::getline(lines, line);) {
    std::string_view value = trimmed(line);
    if (value.starts_with("model_path:"))
      value.remove_prefix(std::string_view("model_path:").size());
    else if (is_in_files && value.starts_with("- "))
      value.remove_prefix(2);
    else {
      is_in_files = value == "files:";
      continue;
    }
    return std::string(trimmed(value, " \t\r\"'"));
  }
  return "";
}

void add_jan(std::vector<FoundModel>& models, Walk& walk, const ModelFolder& folder) {
  fs::path data = fs::path(folder.path).parent_path();
  if (data.filename() == "llamacpp") data = data.parent_path();
  for (const fs::path& path : folders_below(walk, folder.path, kMaxDepth)) {
    const fs::path below = path.lexically_relative(folder.path);
    const std::vector<fs::path> entries = walk.entries(path);
    std::vector<FoundModel> here;
    for (const fs::path& entry : entries) {
      const std::string extension = entry.extension().string();
      if (extension != ".yml" && extension != ".yaml") continue;
      const std::string named = path_in_yaml(manifest_text(entry));
      if (named.empty() || !is_model_file(data / named)) continue;
      const std::string name =
          entry.stem() == "model" ? below.string() : (below / entry.stem()).lexically_normal().string();
      here.push_back({(data / named).string(), name, folder.store, folder.path, "", entry.string()});
    }
    std::vector<FoundModel> files;
    add_plain_files(files, entries, folder);
    std::erase_if(files, [&](const FoundModel& file) {
      std::error_code error;
      return std::ranges::any_of(here, [&](const FoundModel& m) { return fs::equivalent(m.path, file.path, error); });
    });
    if (files.size() == 1 && here.empty() && below != ".") files.front().name = below.string();
    models.insert(models.end(), here.begin(), here.end());
    models.insert(models.end(), files.begin(), files.end());
  }
}

void add_models(std::vector<FoundModel>& models, const ModelFolder& folder) {
  Walk walk;
  switch (folder.store) {
    case ModelStore::kOwn:
      return add_plain_files(models, walk.entries(folder.path), folder);
    case ModelStore::kFolder:
      return add_folder(models, walk, folder, folder.path, kMaxDepth);
    case ModelStore::kHub:
      return add_hub(models, walk, folder);
    case ModelStore::kLlamaCpp:
      return add_llama_cpp(models, walk, folder);
    case ModelStore::kLmStudio:
      return add_lm_studio(models, walk, folder);
    case ModelStore::kOllama:
      return add_ollama(models, walk, folder);
    case ModelStore::kJan:
      return add_jan(models, walk, folder);
    case ModelStore::kOpened:
      return;
  }
}

}  // namespace

std::vector<FoundModel> find_model_files(const ModelPlaces& places) {
  std::vector<FoundModel> models;
  for (const ModelFolder& folder : places.folders) add_models(models, folder);
  for (const std::string& path : places.opened) models.push_back({path, fs::path(path).filename().string()});
  std::set<std::string> seen;
  std::erase_if(models, [&](const FoundModel& model) {
    std::error_code error;
    const fs::path real = fs::canonical(model.path, error);
    return !seen.insert(error ? model.path : real.string()).second;
  });
  return models;
}

std::vector<std::string> blobs_of_manifest(const std::string& folder, const std::string& manifest) {
  std::vector<std::string> blobs;
  const auto add = [&](const Json& layer) {
    if (const fs::path blob = blob_of(folder, text_at(layer, "digest")); !blob.empty()) blobs.push_back(blob.string());
  };
  const Json document = json_of(manifest);
  if (!document.is_object()) return blobs;
  if (const auto layers = document.find("layers"); layers != document.end() && layers->is_array())
    for (const Json& layer : *layers) add(layer);
  if (const auto config = document.find("config"); config != document.end()) add(*config);
  return blobs;
}

std::vector<std::string> files_of_model(const std::string& path) {
  std::optional<SplitName> name = parse_split_name(path);
  if (!name || name->part != 1) return {path};
  std::vector<std::string> files;
  for (constexpr uint64_t kMaxParts = 1000; name->part <= std::min(name->count, kMaxParts); ++name->part)
    files.push_back(split_name(*name));
  return files;
}

}  // namespace warpchat
