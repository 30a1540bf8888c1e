// The cache layout that programs of the hub share: models--ORG--REPO/{blobs/SHA256, refs/main, snapshots/COMMIT/FILE ->
// ../../blobs/SHA256}. What is half there is called SHA256.incomplete; every name appears by a rename.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/hub/hub_files.h"

namespace warpchat {

std::optional<std::string> repository_of_folder(const std::string& name);  // "models--org--repo": "org/repo"

class HubCache {
 public:
  HubCache(std::string folder, const std::string& repository);  // creates nothing

  bool has(const HubFile& file) const;                // whole; a blob of another length does not count
  uint64_t bytes_of_half(const HubFile& file) const;  // that came before; 0: none
  uint64_t free_bytes() const;                        // of the disk that the folder is or will be on
  std::string blob(const HubFile& file) const { return folder_ + "/blobs/" + file.sha256; }
  std::string half(const HubFile& file) const { return blob(file) + ".incomplete"; }
  const std::string& root() const { return root_; }

  void create_folders() const;  // Error if it cannot be written

  // Links the file into the commit's snapshot; returns the path there.
  std::string link(const std::string& commit, const HubFile& file) const;
  void point_main_at(const std::string& commit) const;

  std::string lock_path(const HubFile& file) const;

 private:
  std::string temporary_path() const;
  std::string root_, name_, folder_;
};

// Nobody else downloads this file while it lives. Other programs of the hub lock the same file the same way.
class HubLock {
 public:
  // Waits for others; goes_on, asked every 100 ms, ends that by throwing.
  HubLock(const std::string& path, const std::function<void()>& goes_on);
  ~HubLock();
  HubLock(const HubLock&) = delete;
  HubLock& operator=(const HubLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace warpchat
