// Names, links and locks on disk; file data is written elsewhere.
#include "engine/hub/hub_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "engine/hub/model_name.h"
#include "engine/hub/sha256.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "models--";
constexpr const char* kNote = ".download";  // extension of a note that a download has begun
constexpr mode_t kShared = 0664;            // like the hub's own programs, since groups may share a cache
constexpr std::chrono::milliseconds kBetweenTries{100};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error("cannot write " + printable(path, 200) + ": " + why + "; free it, or set HF_HUB_CACHE to another folder");
}

// Renames atomically, replacing an existing file.
void rename_over(const std::string& temporary, const std::string& name) {
  if (std::rename(temporary.c_str(), name.c_str()) == 0) return;
  const std::string why = std::strerror(errno);
  unlink(temporary.c_str());
  refuse(name, why);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder.string(), error.message());
}

}  // namespace

std::optional<std::string> repository_of_folder(const std::string& name) {
  const size_t split = name.find("--", kPrefix.size());
  if (!name.starts_with(kPrefix) || split == std::string::npos) return std::nullopt;
  return name.substr(kPrefix.size(), split - kPrefix.size()) + "/" + name.substr(split + 2);
}

HubCache::HubCache(std::string folder, const std::string& repository) : root_(std::move(folder)) {
  const size_t slash = repository.find('/');
  name_ = std::string(kPrefix) + repository.substr(0, slash) + "--" + repository.substr(slash + 1);
  folder_ = root_ + "/" + name_;
}

bool HubCache::has(const HubFile& file) const {
  struct stat status;
  return stat(blob(file).c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) == file.bytes;
}

uint64_t HubCache::bytes_of_half(const HubFile& file) const {
  struct stat status;
  if (stat(half(file).c_str(), &status) != 0 || status.st_size < 0) return 0;
  return std::min(static_cast<uint64_t>(status.st_size), file.bytes);
}

uint64_t HubCache::bytes_of_halves() const {
  uint64_t sum = 0;
  std::error_code error, unknown;
  for (fs::directory_iterator entry(folder_ + "/blobs", error), end; !error && entry != end; entry.increment(error)) {
    const uint64_t bytes = entry->path().extension() == ".incomplete" ? entry->file_size(unknown) : 0;
    if (!unknown) sum += bytes;
  }
  return sum;
}

uint64_t HubCache::free_bytes() const {
  struct statvfs disk;
  for (fs::path path = fs::absolute(folder_);; path = path.parent_path()) {
    if (statvfs(path.c_str(), &disk) == 0) return uint64_t{disk.f_bavail} * disk.f_frsize;
    if (path == path.parent_path()) return std::numeric_limits<uint64_t>::max();  // unknown; writing will tell
  }
}

void HubCache::create_folders() const {
  for (const char* below : {"/blobs", "/refs", "/snapshots"}) make_folder(folder_ + below);
  make_folder(root_ + "/.locks/" + name_);
  if (access((folder_ + "/blobs").c_str(), W_OK) != 0) refuse(folder_ + "/blobs", std::strerror(errno));
}

std::string HubCache::lock_path(const HubFile& file) const {
  return root_ + "/.locks/" + name_ + "/" + file.sha256 + ".lock";
}

// In the locks folder, where leftovers of a kill are harmless.
std::string HubCache::temporary_path() const {
  return root_ + "/.locks/" + name_ + "/" + std::to_string(getpid()) + ".tmp";
}

std::string HubCache::link(const std::string& commit, const HubFile& file) const {
  const std::string path = folder_ + "/snapshots/" + commit + "/" + file.path;
  make_folder(fs::path(path).parent_path());
  std::string target = "../../blobs/" + file.sha256;
  for (const char c : file.path)
    if (c == '/') target = "../" + target;
  const std::string temporary = temporary_path();
  unlink(temporary.c_str());
  if (symlink(target.c_str(), temporary.c_str()) != 0) refuse(path, std::strerror(errno));
  rename_over(temporary, path);
  return path;
}

void HubCache::point_main_at(const std::string& commit) const { replace_file(folder_ + "/refs/main", commit); }

std::string HubCache::mark_path(const HubFile& file, const char* extension) const {
  return root_ + "/.locks/" + name_ + "/" + file.sha256 + extension;
}

// A line with the quantisation, then one with SHA-256 and length of each file.
void HubCache::note_download(const std::string& quant, const std::vector<HubFile>& files) const {
  std::string text = quant + "\n";
  for (const HubFile& file : files) text += file.sha256 + " " + std::to_string(file.bytes) + "\n";
  replace_file(mark_path(files.front(), kNote), text);
}

void HubCache::forget_download(const std::vector<HubFile>& files) const {
  unlink(mark_path(files.front(), kNote).c_str());
}

std::string HubCache::state_of(const HubFile& file) const {
  struct stat status;
  if (stat(blob(file).c_str(), &status) != 0) return "";
  return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + " " +
         std::to_string(status.st_mtim.tv_nsec);
}

bool HubCache::is_verified(const HubFile& file) const {
  std::ifstream in(mark_path(file));
  std::string mark;
  return std::getline(in, mark) && !mark.empty() && mark == state_of(file);
}

void HubCache::mark_verified(const HubFile& file, const std::string& state) const {
  replace_file(mark_path(file), state);
}

// In a folder that others may write to, a name that exists already may be a trap: it is neither followed nor kept.
void HubCache::replace_file(const std::string& path, const std::string& text) const {
  const std::string temporary = temporary_path();
  unlink(temporary.c_str());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kShared);
  if (file < 0) refuse(path, std::strerror(errno));
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(file) != 0 || !written) {
    const std::string why = std::strerror(errno);
    unlink(temporary.c_str());
    refuse(path, why);
  }
  rename_over(temporary, path);
}

namespace {

// What a note in the cache's locks says; nullopt: it makes no sense, or nothing of it is on the disk.
std::optional<PausedDownload> read_note(const fs::path& note, const std::string& folder,
                                        const std::string& repository) {
  constexpr size_t kMaxFiles = 1000, kLongestLine = 400;
  const HubCache cache(folder, repository);
  std::ifstream lines(note);
  std::string quant, line;
  std::getline(lines, quant);
  PausedDownload paused{.name = repository + ":" + quant};
  bool has_half = false;
  for (size_t i = 0; i < kMaxFiles && std::getline(lines, line); ++i) {
    HubFile file;
    const size_t blank = line.find(' ');
    const auto bytes = blank == std::string::npos ? std::nullopt : number_in<uint64_t>(line.substr(blank + 1));
    file.sha256 = line.substr(0, blank);
    if (!bytes || line.size() > kLongestLine || !is_sha256(file.sha256)) return std::nullopt;
    file.bytes = *bytes;
    const uint64_t half = cache.bytes_of_half(file);
    has_half |= half > 0;
    paused.here += cache.has(file) ? file.bytes : half;
    if (paused.total + file.bytes < paused.total) return std::nullopt;
    paused.total += file.bytes;
  }
  const std::optional<HubModelName> name = parse_hub_model_name(paused.name);
  const bool is_paused = name && has_half && paused.here < paused.total;
  return is_paused ? std::optional(paused) : std::nullopt;
}

}  // namespace

std::vector<PausedDownload> paused_downloads(const std::string& folder) {
  std::vector<PausedDownload> downloads;
  std::error_code error, inner;
  for (fs::directory_iterator locks(folder + "/.locks", error), end; !error && locks != end; locks.increment(error)) {
    const std::optional<std::string> repository = repository_of_folder(locks->path().filename().string());
    if (!repository) continue;
    for (fs::directory_iterator mark(locks->path(), inner), last; !inner && mark != last; mark.increment(inner))
      if (mark->path().extension() == kNote)
        if (std::optional<PausedDownload> paused = read_note(mark->path(), folder, *repository))
          downloads.push_back(std::move(*paused));
  }
  std::ranges::sort(downloads, {}, &PausedDownload::name);
  return downloads;
}

HubLock::HubLock(const std::string& path, const std::function<void()>& goes_on) {
  for (;;) {
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kShared);
    if (descriptor_ < 0) refuse(path, std::strerror(errno));
    struct stat status;
    const bool locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
    // The previous holder may have removed the file: a lock on it is then void. File systems without locks are
    // accepted.
    if (locked && fstat(descriptor_, &status) == 0 && status.st_nlink > 0) return;
    close(descriptor_);
    descriptor_ = -1;
    if (locked) continue;
    goes_on();
    std::this_thread::sleep_for(kBetweenTries);
  }
}

HubLock::~HubLock() { close(descriptor_); }

}  // namespace warpchat
