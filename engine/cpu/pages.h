// Zeroed memory straight from the system: whole pages that cost nothing until they are touched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/error.h"

namespace warpchat {

class Pages {
 public:
  Pages() = default;
  explicit Pages(uint64_t n_bytes, const char* purpose);  // Error naming the purpose and the size if refused
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Pages();

  void prefer_huge();  // fewer page-table walks for what is read in streams; a touch may then cost 2 MiB

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  uint64_t n_bytes() const { return n_bytes_; }

 private:
  void swap(Pages& other) {
    std::swap(data_, other.data_);
    std::swap(n_bytes_, other.n_bytes_);
  }
  void* data_ = nullptr;
  uint64_t n_bytes_ = 0;
};

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
