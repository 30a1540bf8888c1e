// Each name is opened below the descriptor of the folder before it, without following links; those are read and
// followed here. ".." goes back to a descriptor that was passed, so that no folder's parent is ever asked for.
#include "app/tools/opened_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxDepth = 100;  // folders below each other: each takes a descriptor
constexpr int kMaxLinks = 40, kMaxSteps = 4000;
constexpr size_t kMaxShownPath = 4096;
constexpr size_t kMaxEscapedNames = 100'000;  // that are compared with an escaped one
// Their files are the kernel's, may wait for ever and act when they are read.
constexpr long kKernelFileSystems[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
                                       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
                                       EFIVARFS_MAGIC,   PSTOREFS_MAGIC,     SELINUX_MAGIC};

std::string reason_of(int error) {
  if (error == ENOENT) return "no such file or folder";
  if (error == EACCES || error == EPERM) return "permission denied";
  if (error == ENOTDIR) return "a part of its path is a file, not a folder";
  return std::strerror(error);
}

struct Missing : Error {
  Missing() : Error(reason_of(ENOENT)) {}
};

[[noreturn]] void fail(int error) {
  if (error == ENOENT) throw Missing();
  throw Error(reason_of(error));
}

Descriptor open_name(int folder, const std::string& name, int flags) {
  return Descriptor(openat(folder, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
}

std::string link_target(const Descriptor& link) {
  char target[PATH_MAX];
  const ssize_t n = readlinkat(link.number(), "", target, sizeof target);
  if (n < 0) fail(errno);
  return {target, static_cast<size_t>(n)};
}

// What is below a folder's real path; nullopt: it is not.
std::optional<std::string> below(std::string_view path, std::string_view folder) {
  if (folder == "/") return std::string(path.substr(std::min<size_t>(1, path.size())));
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (!path.empty() && path[0] != '/') return std::nullopt;
  return std::string(path);
}

class Walk {
 public:
  explicit Walk(std::string folder) : folder_(std::move(folder)) {
    stack_.push_back(Descriptor(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (!stack_.back().is_open()) fail(errno);
  }

  FoundEntry find(std::string_view path, const std::string& label) {
    push(path);
    for (int n = 0; !names_.empty(); ++n) {
      if (n == kMaxSteps) fail(ENAMETOOLONG);
      std::string name = std::move(names_.back());
      names_.pop_back();
      step(name);
    }
    std::string shown = label;
    for (const std::string& name : passed_) shown += (shown.empty() ? "" : "/") + printable(name, kMaxShownPath);
    return open_to_read(file_.is_open() ? file_ : stack_.back(), shown.empty() ? "." : shown);
  }

 private:
  void push(std::string_view path) {
    while (!path.empty()) {
      const size_t slash = path.rfind('/');
      const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
      names_.emplace_back(name);
      path = slash == std::string_view::npos ? "" : path.substr(0, slash);
    }
  }

  void step(const std::string& name) {
    if (file_.is_open()) fail(ENOTDIR);
    if (name.empty() || name == ".") return;
    if (name == "..") return leave_folder();
    Descriptor next = open_name(stack_.back().number(), name, O_PATH);
    std::string real_name = name;
    if (!next.is_open() && errno == ENOENT) next = open_escaped(real_name);
    if (!next.is_open()) fail(errno);
    struct stat status = {};
    if (fstat(next.number(), &status) != 0) fail(errno);
    if (S_ISLNK(status.st_mode)) return follow(link_target(next));
    passed_.push_back(real_name);
    if (!S_ISDIR(status.st_mode)) {
      file_ = std::move(next);
      return;
    }
    if (stack_.size() > kMaxDepth) fail(ENAMETOOLONG);
    stack_.push_back(std::move(next));
  }

  void leave_folder() {
    if (passed_.empty()) throw Error("it leads out of the opened folder");
    passed_.pop_back();
    stack_.pop_back();
  }

  void follow(const std::string& target) {
    if (++n_links_ > kMaxLinks) fail(ELOOP);
    if (!target.starts_with('/')) return push(target);
    const std::optional<std::string> rest = below(target, folder_);
    if (!rest) throw Error("a link in its path leads out of the opened folder");
    stack_.erase(stack_.begin() + 1, stack_.end());
    passed_.clear();
    push(*rest);
  }

  // The only name that `printable` writes as this one.
  Descriptor open_escaped(std::string& name) {
    std::vector<std::string> found;
    if (name.find("\\x") != std::string::npos) {
      const Descriptor folder = open_name(stack_.back().number(), ".", O_RDONLY | O_DIRECTORY);
      if (folder.is_open()) found = names_in(folder, kMaxEscapedNames);
      std::erase_if(found, [&](const std::string& other) { return printable(other, kMaxShownPath) != name; });
    }
    errno = ENOENT;
    if (found.size() != 1) return Descriptor();
    name = found[0];
    return open_name(stack_.back().number(), name, O_PATH);
  }

  const std::string folder_;
  std::vector<Descriptor> stack_;    // of folders, the opened one first
  std::vector<std::string> passed_;  // names of the others, and of the file
  std::vector<std::string> names_;   // to be followed, the next one last
  Descriptor file_;
  int n_links_ = 0;
};

std::string real_path(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr)
    throw Error("cannot open the folder " + printable(path, kMaxShownPath) + ": " + reason_of(errno));
  std::string found = real;
  std::free(real);
  return found;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

FoundEntry open_to_read(const Descriptor& named, std::string path) {
  FoundEntry entry;
  entry.path = std::move(path);
  if (fstat(named.number(), &entry.status) != 0) fail(errno);
  const bool is_folder = entry.is_folder();
  if (!is_folder && !S_ISREG(entry.status.st_mode)) throw Error("it is a device, a pipe or a socket, not a file");
  struct statfs system = {};
  if (fstatfs(named.number(), &system) == 0 &&
      std::ranges::find(kKernelFileSystems, static_cast<long>(system.f_type)) != std::end(kKernelFileSystems))
    throw Error("it is the kernel's, not a file on a disk");
  // A file is opened by its descriptor, so that it is the one that was looked at.
  const std::string reopened = "/proc/self/fd/" + std::to_string(named.number());
  entry.descriptor = is_folder ? open_name(named.number(), ".", O_RDONLY | O_DIRECTORY)
                               : Descriptor(open(reopened.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!entry.descriptor.is_open()) fail(errno);
  return entry;
}

std::vector<std::string> names_in(const Descriptor& folder, size_t max) {
  std::vector<std::string> names;
  const int number = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0) fail(errno);
  DIR* list = fdopendir(number);
  if (list == nullptr) {
    close(number);
    fail(ENOMEM);
  }
  while (const dirent* entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == max) break;
    names.emplace_back(name);
  }
  closedir(list);
  std::ranges::sort(names);
  return names;
}

OpenedFolders::OpenedFolders(const std::vector<std::string>& folders) {
  for (const std::string& typed : folders) {
    Folder folder{.path = real_path(typed), .typed = std::filesystem::absolute(typed).lexically_normal().string()};
    if (folder.typed.size() > 1 && folder.typed.ends_with('/')) folder.typed.pop_back();
    if (!std::filesystem::is_directory(folder.path))
      throw Error("cannot open " + printable(typed, kMaxShownPath) + " as a folder: it is a file");
    if (std::ranges::find(folders_, folder.path, &Folder::path) != folders_.end()) continue;
    std::string name = printable(folder.path.substr(folder.path.rfind('/') + 1), kMaxShownPath);
    if (name.empty()) name = "root";
    folder.label = name;
    for (int n = 2; std::ranges::find(folders_, folder.label, &Folder::label) != folders_.end(); ++n)
      folder.label = name + "_" + std::to_string(n);
    folders_.push_back(std::move(folder));
  }
}

std::vector<std::string> OpenedFolders::labels() const {
  std::vector<std::string> labels;
  for (const Folder& folder : folders_) labels.push_back(folder.label);
  return labels;
}

std::vector<std::string> OpenedFolders::paths() const {
  std::vector<std::string> paths;
  for (const Folder& folder : folders_) paths.push_back(folder.path);
  return paths;
}

bool OpenedFolders::is_list(std::string_view path) const {
  return folders_.size() > 1 && (path.empty() || path == "." || path == "./");
}

std::vector<OpenedFolders::Place> OpenedFolders::places_of(std::string_view path) const {
  std::vector<Place> by_label, others;
  for (const Folder& folder : folders_) {
    if (path.starts_with('/')) {
      std::optional<std::string> rest = below(path, folder.path);
      if (!rest) rest = below(path, folder.typed);
      if (rest) by_label.push_back({&folder, *rest});
      continue;
    }
    std::string_view rest = path.starts_with("./") ? path.substr(2) : path;
    others.push_back({&folder, std::string(rest)});
    if (!rest.starts_with(folder.label)) continue;
    rest.remove_prefix(folder.label.size());
    if (rest.empty() || rest[0] == '/') by_label.push_back({&folder, std::string(rest)});
  }
  // With several folders their labels begin every path that is shown; with one, none does.
  std::vector<Place>& first = folders_.size() > 1 ? by_label : others;
  std::vector<Place>& last = folders_.size() > 1 ? others : by_label;
  std::ranges::move(last, std::back_inserter(first));
  return std::move(first);
}

FoundEntry OpenedFolders::open(std::string_view path) const {
  const std::string who = "cannot read " + (path.empty() ? "." : printable(path, kMaxShownPath)) + ": ";
  if (path.size() >= PATH_MAX || path.find('\0') != std::string_view::npos) throw Error(who + "it is no path");
  const std::vector<Place> places = places_of(path);
  if (places.empty()) {
    const std::string list =
        word_list(folders_, ", ", [](const Folder& folder) { return printable(folder.path, kMaxShownPath); });
    throw Error(who + (list.empty() ? "no folder is opened" : "it is not in the opened folders, " + list));
  }
  std::string fault;
  for (const Place& place : places) {
    try {
      return Walk(place.folder->path).find(place.below, folders_.size() > 1 ? place.folder->label : "");
    } catch (const Missing& missing) {
      if (fault.empty()) fault = missing.what();
    } catch (const Error& error) {
      throw Error(who + error.what());
    }
  }
  throw Error(who + fault);
}

}  // namespace warpchat
