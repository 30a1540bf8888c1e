// A file being downloaded, with the running SHA-256 of its contents.
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
  // Opens or creates it. The caller must hold its HubLock.
  explicit PartialFile(std::string path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  uint64_t bytes() const { return bytes_; }

  // Reads an earlier download's data, once before the first append; progress may throw. most: a longer file is invalid
  // and starts over.
  void read_back(uint64_t max, const std::function<void(uint64_t bytes)>& progress);
  void append(std::span<const std::byte> bytes);  // Error for a full disk and the like; keeps what fitted
  void restart();                                 // truncates to empty

  std::string finish();                     // SHA-256 of all data; no append afterwards
  void rename_to(const std::string& path);  // after syncing to disk
  void remove();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
  Sha256 hash_;
};

}  // namespace warpchat
