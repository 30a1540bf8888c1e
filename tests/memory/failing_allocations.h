// A malloc placed before the C library's. While a FailingAllocations lives, the allocations of all threads are counted,
// and some of them return null: those of operator new, SQLite, libcurl, ICU and the C library alike.
#pragma once
#include <cstdint>

namespace warpchat {

class FailingAllocations {
 public:
  // Those numbered first to last fail, counted from 1.
  FailingAllocations(uint64_t first, uint64_t last);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  static uint64_t n_counted();  // since the last one was made
};

}  // namespace warpchat
