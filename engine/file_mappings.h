// The process's mappings of files: gives back the memory of pages that have been read and copied, so that no two copies
// of a model are resident, and names the file behind an address.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
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

// Writes the path of the file that is mapped at the address, cut to the room for it, and returns its length; 0: none
// is. For signal handlers: allocates no memory and takes no lock.
size_t mapped_file_at(const void* address, std::span<char> path) noexcept;

}  // namespace warpchat
