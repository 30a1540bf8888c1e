// Zeroed memory from the system, in whole pages that cost nothing until touched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/error.h"

namespace warpchat {

class Pages {
 public:
  Pages() = default;
  // Throws with purpose and size if refused. Huge pages save page-table walks for streamed data, but the first touch of
  // a byte takes 2 MiB; the system may not provide them.
  enum class Size { kSmall, kHuge };
  Pages(uint64_t n_bytes, const char* purpose, Size size = Size::kSmall);
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Pages();

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  uint64_t n_bytes() const { return n_bytes_; }

 private:
  void swap(Pages& other) {
    std::swap(data_, other.data_);
    std::swap(n_bytes_, other.n_bytes_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapping_bytes_, other.mapping_bytes_);
  }
  std::byte* data_ = nullptr;  // within the mapping, aligned to its pages
  uint64_t n_bytes_ = 0;
  void* mapping_ = nullptr;
  uint64_t mapping_bytes_ = 0;
};

// Allocates pieces of huge pages: a model's weights.
class Arena {
 public:
  Arena(uint64_t n_bytes, const char* purpose) : pages_(n_bytes, purpose, Pages::Size::kHuge) {}
  uint8_t* allocate(uint64_t n_bytes);  // aligned to 64 bytes; sizes, rounded up to 64, must fit the arena
  void give_back(const uint8_t* last);  // the latest allocation
  const uint8_t* data() const { return pages_.as<uint8_t>(); }
  uint64_t n_bytes() const { return pages_.n_bytes(); }
  uint64_t n_taken() const { return used_; }
  static uint64_t rounded(uint64_t n_bytes) { return (n_bytes + 63) / 64 * 64; }

 private:
  Pages pages_;
  uint64_t used_ = 0;
};

}  // namespace warpchat
