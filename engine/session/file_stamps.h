// Notices that a model's file was changed while its contents are mapped into memory.
#pragma once
#include <sys/stat.h>

#include <string>
#include <vector>

#include "models/gguf_reader.h"

namespace warpchat {

class FileStamps {
 public:
  explicit FileStamps(const GgufFile& file);  // of all parts, as they are now

  // Error if a part has another size or time of change. A part that was removed, or replaced by another file, is
  // unchanged: the mapping keeps it.
  void require_unchanged() const;

 private:
  struct Stamp {
    std::string path;
    struct stat status;
  };
  std::vector<Stamp> stamps_;
};

}  // namespace warpchat
