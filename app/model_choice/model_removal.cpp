// Blobs that several names share stay until the last of these is removed.
#include "app/model_choice/model_removal.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/model_choice/model_book.h"
#include "app/platform/log.h"
#include "models/error.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxShownPath = 400;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found && !error;
}

// The file's folder counts: a link within it may lead out, and is removed itself.
bool is_inside(const fs::path& file, const fs::path& folder) {
  std::error_code error, other;
  const fs::path parent = fs::canonical(file.parent_path(), error), root = fs::canonical(folder, other);
  const fs::path relative = parent.lexically_relative(root);
  return !error && !other && !relative.empty() && *relative.begin() != "..";
}

void add(RemovalPlan& plan, const fs::path& file) {
  if (!is_there(file) || std::ranges::find(plan.files, file.string()) != plan.files.end()) return;
  if (!is_inside(file, plan.model.folder))
    throw Error(printable(file.string(), kMaxShownPath) + " lies outside of " +
                printable(plan.model.folder, kMaxShownPath) + "; remove it where it lies");
  plan.files.push_back(file.string());
  std::error_code error;
  if (fs::symlink_status(file, error).type() == fs::file_type::regular && fs::hard_link_count(file, error) == 1)
    plan.bytes += fs::file_size(file, error);
}

// models--org--repo of a path in one of its snapshots; empty: it lies in none.
fs::path repository_of(const fs::path& path) {
  for (fs::path folder = path.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (folder.filename() == "snapshots") return folder.parent_path();
  return {};
}

// The files that links of the snapshots lead to, without those that are removed.
std::set<fs::path> linked_blobs(const fs::path& snapshots, const std::vector<std::string>& removed) {
  std::set<fs::path> blobs;
  std::error_code error, unknown;
  for (fs::recursive_directory_iterator it(snapshots, error), end; !error && it != end; it.increment(error))
    if (std::ranges::find(removed, it->path().string()) == removed.end())
      if (const fs::path blob = fs::canonical(it->path(), unknown); !unknown) blobs.insert(blob);
  return blobs;
}

void add_links_and_blobs(RemovalPlan& plan, const fs::path& repository) {
  const std::vector<std::string> links = files_of_model(plan.model.path);
  for (const std::string& link : links) add(plan, link);
  const std::set<fs::path> others = linked_blobs(repository / "snapshots", links);
  for (const std::string& link : links) {
    std::error_code error;
    const fs::path blob = fs::canonical(link, error);
    if (error || others.contains(blob) || !is_inside(blob, repository / "blobs")) continue;
    add(plan, blob);
    add(plan, repository.parent_path() / ".locks" / repository.filename() / (blob.filename().string() + ".verified"));
  }
}

// Also the blobs of its template, its parameters and its licence.
void add_ollama(RemovalPlan& plan) {
  const fs::path folder = plan.model.folder;
  std::set<std::string> others;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder / "manifests", error), end; !error && it != end; it.increment(error))
    if (std::error_code unknown; it->is_regular_file(unknown) && it->path() != plan.model.manifest)
      for (const std::string& blob : blobs_of_manifest(folder.string(), it->path().string())) others.insert(blob);
  const std::vector<std::string> blobs = blobs_of_manifest(folder.string(), plan.model.manifest);
  add(plan, plan.model.manifest);
  for (const std::string& blob : blobs)
    if (!others.contains(blob)) add(plan, blob);
}

// What llama.cpp and its predecessors put beside a file.
void add_sidecars(RemovalPlan& plan) {
  for (const std::string& file : files_of_model(plan.model.path))
    for (const char* extension : {".json", ".etag"}) add(plan, file + extension);
}

bool has_own_folders(ModelStore store) { return store != ModelStore::kOwn && store != ModelStore::kFolder; }

}  // namespace

RemovalPlan plan_removal(const FoundModel& model) {
  RemovalPlan plan{.model = model, .files = {}};
  if (model.folder.empty()) return plan;
  const fs::path repository = model.within.empty() ? fs::path() : repository_of(model.path);
  if (model.store == ModelStore::kOllama) {
    add_ollama(plan);
  } else if (!repository.empty() && is_inside(repository / "snapshots", model.folder)) {
    add_links_and_blobs(plan, repository);
  } else {
    for (const std::string& file : files_of_model(model.path)) add(plan, file);
    if (model.store == ModelStore::kLlamaCpp) add_sidecars(plan);
    if (!model.manifest.empty()) add(plan, model.manifest);
  }
  return plan;
}

std::string removal_question(const RemovalPlan& plan) {
  const std::string name = printable(plan.model.name, kMaxShownPath);
  if (plan.files.empty()) return "remove " + name + " from the list? The file stays where it is";
  return "remove " + name + (plan.bytes > 0 ? ", " + human_bytes(plan.bytes) : "") + ", from " +
         printable(plan.model.folder, kMaxShownPath) + "?";
}

void remove_model(const RemovalPlan& plan) {
  std::error_code error;
  for (const std::string& file : plan.files) {
    fs::remove(file, error);
    if (error)
      throw Error("cannot remove " + printable(file, kMaxShownPath) + ": " + error.message() +
                  (plan.model.store == ModelStore::kOllama ? "; use ollama rm " + printable(plan.model.name) : ""));
    log_line("removed " + file);
    if (!has_own_folders(plan.model.store)) continue;
    for (fs::path folder = fs::path(file).parent_path();
         folder != plan.model.folder && is_inside(folder, plan.model.folder); folder = folder.parent_path())
      if (!fs::is_empty(folder, error) || error || !fs::remove(folder, error)) break;
  }
  for (const std::string& path : opened_models())
    if (path == plan.model.path || std::ranges::find(plan.files, path) != plan.files.end()) forget_opened_model(path);
}

const FoundModel* find_listed(const std::vector<FoundModel>& models, const std::string& path) {
  std::error_code error;
  const auto found = std::ranges::find_if(
      models, [&](const FoundModel& model) { return model.path == path || fs::equivalent(model.path, path, error); });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace warpchat
