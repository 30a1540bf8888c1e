// Gives back the memory of file pages that have been read and copied, so that no two copies of a model are resident.
#pragma once
#include <cstdint>
#include <vector>

namespace warpchat {

// The read-only file mappings of this process, whose pages can be given back without losing anything.
class FileMappings {
 public:
  FileMappings();  // as they are now; none where the system does not tell
  // Gives back the resident pages wholly inside the range; they are read again when touched. Nothing if it is no file.
  void release(const void* data, uint64_t n_bytes) const;

 private:
  struct Range {
    uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
};

}  // namespace warpchat
