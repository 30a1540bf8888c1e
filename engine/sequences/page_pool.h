// Reference counts of a device's KV cache pages. Knows nothing of their contents.
#pragma once
#include <cassert>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace warpchat {

class PagePool {
 public:
  explicit PagePool(uint32_t n_pages) : owners_(n_pages), free_(n_pages) {
    std::iota(free_.rbegin(), free_.rend(), 0u);  // lowest pages first
  }

  uint32_t n_free() const { return static_cast<uint32_t>(free_.size()); }
  uint32_t owners(uint32_t page) const { return owners_.at(page); }

  std::optional<uint32_t> allocate() {  // a free page, with one owner; nullopt if none is free
    if (free_.empty()) return std::nullopt;
    const uint32_t page = free_.back();
    free_.pop_back();
    owners_[page] = 1;
    return page;
  }
  void share(uint32_t page) {  // adds an owner
    assert(owners_.at(page) > 0);
    ++owners_[page];
  }
  void give_back(uint32_t page) {  // removes an owner; a page without any is free
    assert(owners_.at(page) > 0);
    if (--owners_[page] == 0) free_.push_back(page);
  }

 private:
  std::vector<uint32_t> owners_, free_;
};

}  // namespace warpchat
