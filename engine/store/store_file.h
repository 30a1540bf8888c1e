// The database file of a folder while it is being opened: one process at a time, so that of two that find it damaged
// only one sets it aside.
#pragma once
#include <string>

#include "engine/store/database.h"

namespace warpchat {

class StoreFile {
 public:
  // Waits for others that are opening it, 5 seconds at most. Error if the folder cannot be written.
  explicit StoreFile(const std::string& folder);
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const std::string& path() const { return path_; }

  // Whether somebody has met damage in the file since it was last checked or set aside (damage_mark).
  bool is_suspect() const;
  void trust() const;  // from now on; Error if that cannot be noted

  // Renames it and the files SQLite keeps beside it by the date; returns the new path. Nobody here may have it open.
  std::string set_aside() const;

 private:
  std::string path_;
  int lock_ = -1;
};

// Reads all of it. DamagedDatabase if its pages contradict each other; what no page says (a wrong letter in a text) is
// not found.
void check_pages(const Database& database);

}  // namespace warpchat
