// Walks a handful of folders: plain ones one level deep, Hugging Face caches by their snapshots.
#include "app/model_lookup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
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
#include "models/gguf_reader.h"
#include "models/gguf_split.h"
#include "models/human_bytes.h"
#include "models/model_purpose.h"

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

// Whether all parts of a split model lie beside its first one.
bool is_whole(const fs::path& first) {
  std::optional<SplitName> name = parse_split_name(first.string());
  if (!name) return true;
  std::error_code error;
  for (name->part = 2; name->part <= name->count; ++name->part)
    if (!fs::is_regular_file(split_name(*name), error)) return false;
  return true;
}

// The model files of a snapshot, by their path within it.
std::map<std::string, fs::path> files_of(const fs::path& snapshot) {
  std::map<std::string, fs::path> files;
  const auto add = [&](const fs::path& file) {
    if (is_model_file(file)) files.emplace(file.lexically_relative(snapshot).string(), file);
  };
  std::error_code error;
  for (const fs::path& entry : entries(snapshot)) {
    add(entry);
    if (fs::is_directory(entry, error))  // some repositories keep each quantisation in a folder
      for (const fs::path& file : entries(entry)) add(file);
  }
  return files;
}

// Each file from the first snapshot that has it whole. Where several files have the same quantisation, their names tell
// them apart.
void add_repository(std::vector<FoundModel>& models, const fs::path& folder) {
  const std::optional<std::string> repository = repository_of_folder(folder.filename().string());
  if (!repository) return;
  std::map<std::string, fs::path> files;
  for (const fs::path& snapshot : snapshots(folder))
    for (const auto& [name, file] : files_of(snapshot)) {
      fs::path& chosen = files[name];
      if (chosen.empty() || (!is_whole(chosen) && is_whole(file))) chosen = file;
    }
  std::map<std::string, int> n_with_quant;
  for (const auto& [name, file] : files) ++n_with_quant[quant_of(name)];
  for (const auto& [name, file] : files) {
    const std::string quant = quant_of(name);
    models.push_back({file.string(), *repository + ":" + (n_with_quant[quant] > 1 ? part_of(name).stem : quant)});
  }
}

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

// Each file once, whatever it is for.
std::vector<FoundModel> find_files(const std::vector<ModelFolder>& folders) {
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

std::string list_names(const std::vector<FoundModel>& models) {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) list += (i ? ", " : "") + models[i].name;
  if (models.size() > kShown) list += " and " + std::to_string(models.size() - kShown) + " more";
  return list;
}

// The path within its repository: behind .../snapshots/COMMIT/.
std::string path_in_repository(const FoundModel& model) {
  constexpr std::string_view kSnapshots = "/snapshots/";
  const size_t commit = model.path.rfind(kSnapshots);
  if (commit == std::string::npos) return model.path;
  const size_t slash = model.path.find('/', commit + kSnapshots.size());
  return slash == std::string::npos ? model.path : model.path.substr(slash + 1);
}

// The file of this repository that the name means best: one that accompanies no model, if there is one. If none was
// named and the default is missing, the only one.
const FoundModel* find_cached(const std::vector<FoundModel>& models, const HubModelName& wanted) {
  const FoundModel* best = nullptr;
  int best_rank = 0;
  for (const FoundModel& model : models) {
    const int rank = quant_rank(path_in_repository(model), wanted.quant);
    if (rank > best_rank) best = &model, best_rank = rank;
  }
  if (best || !wanted.is_default) return best;
  const auto is_model = [](const FoundModel& model) { return !is_companion(path_in_repository(model)); };
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

std::string find_by_name(const std::string& name, const std::vector<ModelFolder>& folders) {
  const std::vector<FoundModel> models = find_files(folders);  // a named one that cannot chat says so when it is loaded
  const std::optional<HubModelName> wanted = parse_hub_model_name(name);
  return wanted ? find_hub_model(*wanted, models) : find_by_words(name, models);
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

}  // namespace

std::string size_text(const FoundModel& model) {
  std::error_code error;
  uint64_t bytes = 0;
  const auto add = [&](const std::string& path) {
    const uintmax_t size = fs::file_size(path, error);
    if (!error) bytes += size;
  };
  std::optional<SplitName> name = parse_split_name(model.path);
  if (!name) add(model.path);
  for (uint64_t part = 1; name && part <= name->count; ++part) {
    name->part = part;
    add(split_name(*name));
  }
  return bytes > 0 ? human_bytes(bytes) : "";
}

bool has_words(std::string_view name, std::string_view words) {
  const std::string low = lower_case(name);
  std::istringstream stream(lower_case(words));
  for (std::string word; stream >> word;)
    if (low.find(word) == std::string::npos) return false;
  return true;
}

std::vector<FoundModel> find_models(const std::vector<ModelFolder>& folders) {
  return only_chat_models(find_files(folders));
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
