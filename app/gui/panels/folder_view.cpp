// One thread at a time; it ends when no request is left.
#include "app/gui/panels/folder_view.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "app/platform/directories.h"
#include "app/platform/typed_path.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/threads.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

namespace fs = std::filesystem;

// Names that are no UTF-8 can neither be shown nor typed.
void read_entries(FolderView& view) {
  std::error_code error;
  for (fs::directory_iterator entry(view.folder, error), end; !error && entry != end; entry.increment(error)) {
    FolderEntry found{.name = entry->path().filename().string()};
    if (!is_valid_utf8(found.name)) continue;
    std::error_code unknown;
    found.is_folder = entry->is_directory(unknown);
    if (!found.is_folder) found.bytes = entry->file_size(unknown);
    if (unknown) found.bytes = 0;
    view.entries.push_back(std::move(found));
  }
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    view.fault = "No such folder: " + in_short(view.folder);
  else if (error == std::errc::permission_denied)
    view.fault = "Permission denied: " + in_short(view.folder);
  else if (error)
    view.fault = in_short(view.folder) + ": " + error.message();
  std::ranges::sort(view.entries, [](const FolderEntry& a, const FolderEntry& b) {
    if (a.is_folder != b.is_folder) return a.is_folder;
    const auto before = [](char x, char y) { return lower_case(x) < lower_case(y); };
    if (std::ranges::lexicographical_compare(a.name, b.name, before)) return true;
    return !std::ranges::lexicographical_compare(b.name, a.name, before) && a.name < b.name;
  });
}

}  // namespace

bool begins_alike(std::string_view name, std::string_view begin) {
  const auto same = [](char a, char b) { return lower_case(a) == lower_case(b); };
  return name.size() >= begin.size() && std::equal(begin.begin(), begin.end(), name.begin(), same);
}

std::string in_short(const std::string& path) {
  const std::string own = find_home().value_or("");
  if (own.empty() || !path.starts_with(own)) return path;
  return path.size() == own.size() || path[own.size()] == '/' ? "~" + path.substr(own.size()) : path;
}

FolderView look_at(const std::string& typed, const std::string& base) {
  std::string path = typed_path(typed);
  if (!path.starts_with('/')) path = base + path;
  const size_t name_at = path.rfind('/') + 1;
  FolderView view{
      .typed = typed, .base = base, .path = path, .folder = path.substr(0, name_at), .begin = path.substr(name_at)};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status)) view.kind = fs::is_directory(status) ? FolderView::Kind::kFolder : FolderView::Kind::kFile;
  read_entries(view);
  return view;
}

std::string completed(const FolderView& view, const std::vector<size_t>& entries) {
  const FolderEntry* first = nullptr;
  size_t n = 0, length = 0;
  for (const size_t i : entries) {
    const FolderEntry& entry = view.entries[i];
    if (!begins_alike(entry.name, view.begin)) continue;
    if (n++ == 0) first = &entry, length = entry.name.size();
    const auto differ = std::ranges::mismatch(first->name, entry.name).in1;
    length = std::min(length, static_cast<size_t>(differ - first->name.begin()));
  }
  if (n == 0) return view.typed;
  while (length < first->name.size() && continues_character(first->name[length])) --length;
  if (length < view.begin.size()) return view.typed;
  return in_short(view.folder) + first->name.substr(0, length) + (n == 1 && first->is_folder ? "/" : "");
}

std::vector<std::string> usual_folders() {
  const std::string home = with_home_directory("~");
  std::vector<std::string> folders;
  std::error_code error;
  if (home != "~") folders.push_back(home + "/");
  for (const char* name : {"Desktop", "Documents", "Downloads"})
    if (home != "~" && fs::is_directory(home + "/" + name, error)) folders.push_back(home + "/" + name + "/");
  return folders;
}

struct FolderReader::Shared {
  explicit Shared(std::function<void()> wakes) : wake(std::move(wakes)) {}
  std::function<void()> wake;
  std::mutex mutex{};
  std::optional<std::pair<std::string, std::string>> wanted{};  // typed, base
  std::optional<FolderView> found{};
  bool works = false;  // there is a thread
};

FolderReader::FolderReader(std::function<void()> wake) : shared_(std::make_shared<Shared>(std::move(wake))) {}

void FolderReader::work(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (shared.wanted) {
    const auto [typed, base] = *std::exchange(shared.wanted, std::nullopt);
    lock.unlock();
    FolderView view = look_at(typed, base);
    lock.lock();
    shared.found = std::move(view);
    shared.wake();
  }
  shared.works = false;
}

void FolderReader::fail(Shared& shared, const char* sentence) {
  const std::lock_guard lock(shared.mutex);
  shared.works = false;
  shared.found = FolderView{.fault = sentence};
  shared.wake();
}

void FolderReader::look(std::string typed, std::string base) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->wanted = {std::move(typed), std::move(base)};
    if (std::exchange(shared_->works, true)) return;
  }
  try {
    start_thread(
        "to read a folder", [shared = shared_] { work(*shared); },
        [shared = shared_](const char* sentence) { fail(*shared, sentence); })
        .detach();
  } catch (const Error&) {
    work(*shared_);  // a local disk answers at once
  }
}

bool FolderReader::update(FolderView& view) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->found) return false;
  view = *std::exchange(shared_->found, std::nullopt);
  return true;
}

}  // namespace warpchat::gui
