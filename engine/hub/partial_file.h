// A file that is being downloaded: what is there already, what comes next, and the SHA-256 of both, always up to date.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/hub/sha256.h"

namespace warpchat {

class PartialFile {
 public:
  // Opens or creates it. Whoever opens one holds its HubLock.
  explicit PartialFile(std::string path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  uint64_t bytes() const { return bytes_; }

  // Reads what an earlier download left, once and before the first append; progress may throw. most: of more, nothing
  // can be right, and it begins anew.
  void read_back(uint64_t most, const std::function<void(uint64_t bytes)>& progress);
  void append(std::span<const std::byte> bytes);  // Error for a full disk and the like; what fitted stays
  void restart();                                 // empty again

  std::string finish();                     // the SHA-256 of all; nothing may be appended after it
  void rename_to(const std::string& path);  // after it has reached the disk
  void remove();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
  Sha256 hash_;
};

}  // namespace warpchat
