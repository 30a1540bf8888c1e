// Races by happens-before, after FastTrack: each word remembers its last accesses as epochs (warp, clock), and two
// accesses race if neither warp's clock knows of the other. Release and acquire on an address hand clocks over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/shared_state.h"

namespace ptx::emulator {

struct Touch {  // one lane's access
  WarpChecks* warp = nullptr;
  const Instruction* instruction = nullptr;
  uint32_t lane = 0, bytes = 0;
  uint64_t address = 0;
  bool writes = false, reads = false, is_strong = false, is_read_only = false;
  bool lanes_matter = false;  // shared memory: two lanes of a warp may race
};

class Races {
 public:
  // The earlier access that `touch` races with, described; empty if there is none. Remembers the touch.
  std::string touch_global(Warp& w, const Touch& touch);
  std::string touch_shared(Warp& w, BlockChecks& block, const Touch& touch);
  std::string read_only_conflict(Warp& w, const Touch& touch);  // ld.global.nc beside a store of this launch

  void release(WarpChecks& warp, uint64_t address, const Clock& what, uint32_t scope, uint32_t block, bool joins);
  // What an acquire on the address sees, or null; scope and block decide whether it counts.
  const Clock* acquired(uint64_t address, uint32_t scope, uint32_t block) const;

 private:
  struct Published {
    Clock clock;
    uint32_t scope = 0, block = 0;
  };
  struct Place {
    const Instruction* instruction;
    std::string text;  // "line 12 st.global.u32"
  };
  Cell& cell_at(uint64_t address);
  std::string check(Warp& w, Cell& cell, const Touch& touch, uint8_t bytes);
  bool ordered(const Touch& touch, const Epoch& earlier, uint32_t lane) const;  // of the earlier access
  std::string describe(const Warp& w, const Epoch& earlier, uint32_t lane, bool wrote) const;
  Epoch epoch_of(Warp& w, const Touch& touch, uint8_t bytes);
  void remember(Cell& cell, const Touch& touch, const Epoch& epoch);

  static constexpr uint32_t kPageWords = 1024;
  std::unordered_map<uint64_t, std::unique_ptr<Cell[]>> pages_;  // global cells by address / 4096
  std::unordered_map<uint64_t, Published> published_;
  std::vector<std::vector<Epoch>> readers_;
  std::vector<Place> places_;
  std::unordered_map<const Instruction*, uint32_t> place_of_;
};

}  // namespace ptx::emulator
