// Cache layout shared by programs of the hub: models--ORG--REPO/{blobs/SHA256, refs/main, snapshots/COMMIT/FILE ->
// ../../blobs/SHA256}. Incomplete blobs are named SHA256.incomplete; names appear atomically by rename.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/hub/hub_files.h"

namespace warpchat {

std::optional<std::string> repository_of_folder(const std::string& name);  // "models--org--repo": "org/repo"

class HubCache {
 public:
  HubCache(std::string folder, const std::string& repository);  // creates nothing

  bool has(const HubFile& file) const;  // complete, with the right length
  // Length and time of change of the complete file; empty: there is none.
  std::string state_of(const HubFile& file) const;
  // Whether the file had its SHA-256 in the state that it is in. Other programs of the hub leave no mark.
  bool is_verified(const HubFile& file) const;
  void mark_verified(const HubFile& file, const std::string& state) const;
  uint64_t bytes_of_half(const HubFile& file) const;  // bytes of an incomplete download; 0: none
  uint64_t bytes_of_halves() const;                   // of all incomplete downloads of the repository
  uint64_t free_bytes() const;                        // on the disk of the folder, which may not exist yet
  std::string blob(const HubFile& file) const { return folder_ + "/blobs/" + file.sha256; }
  std::string half(const HubFile& file) const { return blob(file) + ".incomplete"; }
  const std::string& root() const { return root_; }

  void create_folders() const;  // Error if not writable

  // Links the file into the commit's snapshot; returns the path there.
  std::string link(const std::string& commit, const HubFile& file) const;
  void point_main_at(const std::string& commit) const;

  std::string lock_path(const HubFile& file) const;

  // A download that has begun is noted, so that it can be offered again without a network.
  void note_download(const std::string& quant, const std::vector<HubFile>& files) const;
  void forget_download(const std::vector<HubFile>& files) const;  // it is complete

 private:
  std::string temporary_path() const;
  std::string mark_path(const HubFile& file, const char* extension = ".verified") const;
  void replace_file(const std::string& path, const std::string& text) const;  // atomically
  std::string root_, name_, folder_;
};

// A download that was noted and is not complete.
struct PausedDownload {
  std::string name;              // org/repo:QUANT
  uint64_t here = 0, total = 0;  // bytes
};
std::vector<PausedDownload> paused_downloads(const std::string& folder);  // of a cache; those with data

// Prevents concurrent downloads of a file. Other programs of the hub use the same lock file.
class HubLock {
 public:
  // Waits for other holders; goes_on is called every 100 ms and may throw to stop waiting.
  HubLock(const std::string& path, const std::function<void()>& goes_on);
  ~HubLock();
  HubLock(const HubLock&) = delete;
  HubLock& operator=(const HubLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace warpchat
