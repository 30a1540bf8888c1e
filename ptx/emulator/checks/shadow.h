// What the race check remembers beside memory: a cell for each word, or for each byte of a page where smaller pieces
// are touched. Pages appear when they are first touched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/history.h"

namespace ptx::emulator {

// The weak accesses that a later one may race with: the last write, and the reads since.
struct Cell {
  Ref write = 0;  // kContended: `read` is an index into Shadow::contended
  Ref read = 0;
};
constexpr Ref kContended = ~0u;

// A cell that strong accesses (volatile, relaxed and stronger, atomic) touched; among themselves these do not race.
struct ContendedCell {
  Ref write = 0, read = 0, strong_write = 0, strong_read = 0;
};

struct ShadowPage {
  static constexpr uint32_t kShift = 12, kBytes = 1u << kShift;
  static constexpr uint32_t kGrainShift = 8;  // device memory is allocated in multiples of a grain
  uint32_t shift = 2;                         // a cell covers 1 << shift bytes
  uint32_t written = 0;                       // of global memory: a bit a grain. Until then reads may wait elsewhere
  std::unique_ptr<Cell[]> cells;
};

class Shadow {
 public:
  // The page that holds an address.
  ShadowPage& page_of(uint64_t address) {
    const uint64_t number = address >> ShadowPage::kShift;
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number) recent = {number, &find_page(number)};
    return *recent.page;
  }
  void refine(ShadowPage& page, uint32_t shift);  // to cells of 1 << shift bytes
  ContendedCell& contend(Cell& cell);             // makes it contended if it is not

  History history;

  // Forgets events that no cell holds; indices kept elsewhere become invalid, which the generation tells.
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
