#include "ptx/emulator/checks/races.h"

#include <algorithm>
#include <bit>

namespace ptx::emulator {

bool Races::ordered(const Touch& touch, const Epoch& earlier, uint32_t lane) const {
  if (earlier.clock == 0) return true;
  if (earlier.warp != touch.warp->number) return touch.warp->clock.of(earlier.warp) >= earlier.clock;
  if (!touch.lanes_matter || lane == touch.lane || earlier.instance == touch.warp->instance) return true;
  // another lane of the same warp: a block barrier raised the warp's clock, or a warp barrier both lanes' epochs
  if (touch.warp->clock.of(earlier.warp) > earlier.clock) return true;
  return touch.warp->lane_epochs[touch.lane] > earlier.lane_epoch && touch.warp->lane_epochs[lane] > earlier.lane_epoch;
}

Epoch Races::epoch_of(Warp& w, const Touch& touch, uint8_t bytes) {
  auto [entry, fresh] = place_of_.try_emplace(touch.instruction, static_cast<uint32_t>(places_.size()));
  if (fresh) {
    const Code& code = code_of(w, *touch.instruction);
    const uint32_t index = touch.instruction->index;
    places_.push_back(
        {touch.instruction, "line " + std::to_string(code.positions[index].line) + " " + code.spellings[index]});
  }
  Epoch epoch;
  epoch.warp = touch.warp->number;
  epoch.clock = touch.warp->clock.of(epoch.warp);
  epoch.instruction = entry->second;
  std::ranges::fill(epoch.lanes, static_cast<uint8_t>(touch.lane));
  epoch.bytes = bytes;
  epoch.is_strong = touch.is_strong;
  epoch.instance = touch.warp->instance;
  epoch.lane_epoch = touch.warp->lane_epochs[touch.lane];
  return epoch;
}

std::string Races::describe(const Warp& w, const Epoch& earlier, uint32_t lane, bool wrote) const {
  const uint32_t per_block = static_cast<uint32_t>(w.block->warps.size());
  const Dim3& grid = w.block->launch->request.grid;
  const uint64_t block = earlier.warp / per_block;
  std::string where = std::to_string(block % grid.x);
  if (grid.y > 1 || grid.z > 1)
    where += "," + std::to_string(block / grid.x % grid.y) + "," + std::to_string(block / grid.x / grid.y);
  return std::string(wrote ? "written" : "read") + " without order by " + places_[earlier.instruction].text +
         " in block " + where + " thread " + std::to_string(earlier.warp % per_block * kLanes + lane);
}

std::string Races::check(Warp& w, Cell& cell, const Touch& touch, uint8_t bytes) {
  uint32_t lane = 0;  // of the earlier access in conflict
  const auto conflicts = [&](const Epoch& e) {
    for (uint32_t both = e.bytes & bytes; both != 0; both &= both - 1) {
      lane = e.lanes[std::countr_zero(both)];
      if (!ordered(touch, e, lane)) return true;
    }
    return false;
  };
  if (conflicts(cell.write)) return describe(w, cell.write, lane, true);
  if (!touch.is_strong && conflicts(cell.strong_write)) return describe(w, cell.strong_write, lane, true);
  if (!touch.writes) return {};
  if (conflicts(cell.read)) return describe(w, cell.read, lane, false);
  if (!touch.is_strong && conflicts(cell.strong_read)) return describe(w, cell.strong_read, lane, false);
  if (cell.readers >= 0) {
    for (const Epoch& e : readers_[static_cast<size_t>(cell.readers)]) {
      if (!(e.is_strong && touch.is_strong) && conflicts(e)) return describe(w, e, lane, false);
    }
  }
  return {};
}

// A write forgets earlier reads it is ordered after; a read by another warp joins the list of readers.
void Races::remember(Cell& cell, const Touch& touch, const Epoch& epoch) {
  if (touch.writes) {
    Epoch& slot = touch.is_strong ? cell.strong_write : cell.write;
    const bool same_instance = slot.warp == epoch.warp && slot.clock == epoch.clock && slot.instance == epoch.instance;
    const Epoch before = slot;
    slot = epoch;
    for (uint32_t kept = same_instance ? before.bytes & ~epoch.bytes : 0; kept != 0; kept &= kept - 1) {
      const int byte = std::countr_zero(kept);
      slot.lanes[byte] = before.lanes[byte];
      slot.bytes |= static_cast<uint8_t>(1u << byte);
    }
    cell.written = true;
    if (!touch.is_strong && epoch.bytes == 15) {
      cell.read = {};
      if (cell.readers >= 0) readers_[static_cast<size_t>(cell.readers)].clear();
    }
    return;
  }
  Epoch& slot = touch.is_strong ? cell.strong_read : cell.read;
  const bool replaces =
      slot.clock == 0 || ordered(touch, slot, slot.lanes[std::countr_zero(slot.bytes)]) || touch.is_strong;
  if (replaces && (slot.bytes & ~epoch.bytes) == 0) {
    slot = epoch;
    return;
  }
  if (cell.readers < 0) {
    cell.readers = static_cast<int32_t>(readers_.size());
    readers_.emplace_back();
  }
  auto& list = readers_[static_cast<size_t>(cell.readers)];
  for (Epoch& e : list) {
    if (e.warp == epoch.warp && std::ranges::equal(e.lanes, epoch.lanes) && e.is_strong == epoch.is_strong) {
      e = epoch;
      return;
    }
  }
  list.push_back(epoch);
}

Cell& Races::cell_at(uint64_t address) {
  auto& page = pages_[address / (4 * kPageWords)];
  if (!page) page = std::make_unique<Cell[]>(kPageWords);
  return page[address / 4 % kPageWords];
}

namespace {
// The bytes of word `k` of an access, as a mask.
uint8_t mask_of(uint64_t address, uint32_t bytes, uint64_t word) {
  uint8_t mask = 0;
  for (uint64_t b = 0; b < 4; ++b) mask |= word * 4 + b >= address && word * 4 + b < address + bytes ? 1u << b : 0;
  return mask;
}
}  // namespace

std::string Races::touch_global(Warp& w, const Touch& touch) {
  for (uint64_t word = touch.address / 4; word * 4 < touch.address + touch.bytes; ++word) {
    const uint8_t bytes = mask_of(touch.address, touch.bytes, word);
    Cell& cell = cell_at(word * 4);
    std::string race = check(w, cell, touch, bytes);
    if (!race.empty()) return race;
    remember(cell, touch, epoch_of(w, touch, bytes));
  }
  return {};
}

std::string Races::touch_shared(Warp& w, BlockChecks& block, const Touch& touch) {
  for (uint64_t word = touch.address / 4; word * 4 < touch.address + touch.bytes && word < block.shared_cells.size();
       ++word) {
    const uint8_t bytes = mask_of(touch.address, touch.bytes, word);
    Cell& cell = block.shared_cells[word];
    std::string race = check(w, cell, touch, bytes);
    if (!race.empty()) return race;
    remember(cell, touch, epoch_of(w, touch, bytes));
  }
  return {};
}

std::string Races::read_only_conflict(Warp& w, const Touch& touch) {
  for (uint64_t word = touch.address / 4; word * 4 < touch.address + touch.bytes; ++word) {
    Cell& cell = cell_at(word * 4);
    if (touch.is_read_only && cell.written) {
      const Epoch& write = cell.write.clock ? cell.write : cell.strong_write;
      return describe(w, write, write.lanes[std::countr_zero(write.bytes)], true);
    }
    if (touch.writes && cell.read_only_read) return "read before by a non-coherent load of this launch";
    cell.read_only_read = cell.read_only_read || touch.is_read_only;
    if (touch.writes) {
      cell.written = true;
      Epoch& slot = touch.is_strong ? cell.strong_write : cell.write;
      if (slot.clock == 0) slot = epoch_of(w, touch, mask_of(touch.address, touch.bytes, word));
    }
  }
  return {};
}

void Races::release(WarpChecks&, uint64_t address, const Clock& what, uint32_t scope, uint32_t block, bool joins) {
  Published& entry = published_[address];
  if (!joins || (entry.block != block && entry.scope == 0))
    entry.clock = what;
  else
    entry.clock.join(what);
  entry.scope = joins ? std::min(entry.scope ? entry.scope : scope, scope) : scope;
  entry.block = block;
}

const Clock* Races::acquired(uint64_t address, uint32_t scope, uint32_t block) const {
  const auto found = published_.find(address);
  if (found == published_.end()) return nullptr;
  const bool narrow = scope == 0 || found->second.scope == 0;  // cta
  return narrow && found->second.block != block ? nullptr : &found->second.clock;
}

}  // namespace ptx::emulator
