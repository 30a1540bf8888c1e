// The database file of a folder while it is opened. One process at a time, so that only one sets a damaged file aside.
#pragma once
#include <string>

#include "engine/store/database.h"

namespace warpchat {

std::string store_path(const std::string& folder);
bool can_write_to(const std::string& folder);  // that is, have a store there

class StoreFile {
 public:
  // Waits up to 5 seconds for other processes that open it. Error if the folder is not writable.
  explicit StoreFile(const std::string& folder);
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const std::string& path() const { return path_; }

  // Whether damage was met since the last check or set_aside() (damage_mark).
  bool is_suspect() const;
  void trust() const;  // clears the mark; Error if it cannot be removed

  // Renames the file and SQLite's extra files by date; returns the new path. This process must not have it open.
  std::string set_aside() const;

 private:
  std::string path_;
  int lock_ = -1;
};

// Reads all pages. DamagedDatabase if they are inconsistent; a wrong character in a text is not detected.
void check_pages(const Database& database);

}  // namespace warpchat
