// Gives back the memory of file pages that have been read and copied, so that no two copies of a model are resident.
#pragma once
#include <cstdint>
#include <vector>

namespace warpchat {

// The process's read-only file mappings, whose pages can be released without losing anything.
class FileMappings {
 public:
  FileMappings();  // current mappings; none where the system does not list them
  // Releases the resident pages wholly inside the range, which are read again when touched. No effect outside files.
  void release(const void* data, uint64_t n_bytes) const;

 private:
  struct Range {
    uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
};

}  // namespace warpchat
