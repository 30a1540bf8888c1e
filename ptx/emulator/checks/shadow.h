// Shadow memory of the race check: one cell per word, or per byte in pages with smaller accesses. Pages are created at
// their first access.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/history.h"

namespace ptx::emulator {

// The weak accesses that a later one may race with: the last write, and the reads after it.
struct Cell {
  Ref write = 0;  // kContended: `read` is an index into Shadow::contended
  Ref read = 0;
};
constexpr Ref kContended = ~0u;

// A cell with strong accesses (volatile, relaxed or stronger, atomic), which do not race with each other.
struct ContendedCell {
  Ref write = 0, read = 0, strong_write = 0, strong_read = 0;
};

struct ShadowPage {
  static constexpr uint32_t kShift = 12, kBytes = 1u << kShift;
  static constexpr uint32_t kGrainShift = 8;  // the granularity of device allocations
  uint32_t shift = 2;                         // a cell covers 1 << shift bytes
  uint32_t written = 0;  // global memory: one bit per grain; until set, reads may be recorded elsewhere
  std::unique_ptr<Cell[]> cells;
};

class Shadow {
 public:
  // The page that contains an address.
  ShadowPage& page_of(uint64_t address) {
    const uint64_t number = address >> ShadowPage::kShift;
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number) recent = {number, &find_page(number)};
    return *recent.page;
  }
  void refine(ShadowPage& page, uint32_t shift);  // splits into cells of 1 << shift bytes
  ContendedCell& contend(Cell& cell);             // makes it contended if needed

  History history;

  // Discards events that no cell references. Indices kept elsewhere become invalid; compare the generation.
  void collect();
  uint32_t generation() const { return generation_; }

 private:
  struct Recent {
    uint64_t number = ~0ull;
    ShadowPage* page = nullptr;
  };
  ShadowPage& find_page(uint64_t number);
  template <class F>
  void for_each_ref(F f);

  std::array<Recent, 64> recent_;
  std::unordered_map<uint64_t, ShadowPage> pages_;
  std::vector<ContendedCell> contended_;
  uint32_t generation_ = 1;
};

}  // namespace ptx::emulator
