// Notices that a model's file was changed while its contents are mapped into memory.
#pragma once
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "models/error.h"
#include "models/gguf_reader.h"
#include "models/gguf_split.h"
#include "models/text_format.h"

namespace warpchat {

class FileStamps {
 public:
  // Stamps all parts as they are now.
  explicit FileStamps(const GgufFile& file) {
    std::optional<SplitName> split = parse_split_name(file.path());
    const uint64_t n_parts = split ? split->count : 1;
    for (uint64_t i = 1; i <= n_parts; ++i) {
      if (split) split->part = i;
      Stamp stamp{split ? split_name(*split) : file.path(), {}};
      if (stat(stamp.path.c_str(), &stamp.status) == 0) stamps_.push_back(std::move(stamp));
    }
  }

  // Error if a part has another size or time of change. A part that was removed, or replaced by another file, is
  // unchanged: the mapping keeps it.
  void require_unchanged() const {
    for (const Stamp& stamp : stamps_) {
      struct stat now = {};
      if (stat(stamp.path.c_str(), &now) != 0 || !is_same_file(now, stamp.status)) continue;
      const std::string start = "cannot answer: " + printable(stamp.path, 4096);
      if (now.st_size != stamp.status.st_size)
        throw Error(start + " has " + grouped(static_cast<uint64_t>(now.st_size)) + " bytes, it had " +
                    grouped(static_cast<uint64_t>(stamp.status.st_size)) +
                    " when it was loaded; restore the file and load it again");
      if (!has_same_time(now, stamp.status)) throw Error(start + " was written to after it was loaded; load it again");
    }
  }

 private:
  struct Stamp {
    std::string path;
    struct stat status;
  };

  static bool is_same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }

  static bool has_same_time(const struct stat& a, const struct stat& b) {
    return a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
  }

  std::vector<Stamp> stamps_;
};

}  // namespace warpchat
