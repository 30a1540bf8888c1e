#include "ptx/emulator/checks/races.h"

#include <algorithm>
#include <bit>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

uint64_t bits_of(Cell cell) { return std::bit_cast<uint64_t>(cell); }

bool contiguous(const uint64_t* addresses, uint64_t stride) {
  if (addresses[kLanes - 1] - addresses[0] != (kLanes - 1) * stride) return false;
  uint64_t difference = 0;
  for (uint32_t l = 0; l < kLanes; ++l) difference |= addresses[l] ^ (addresses[0] + l * stride);
  return difference == 0;
}

// Whether `words` adjacent cells per lane of a warp, as 64-bit values, equal `first` plus the lane number.
template <uint32_t words>
bool are_alike(const uint64_t* cells, uint64_t first, uint64_t per_lane) {
  uint64_t difference = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t k = 0; k < words; ++k) difference |= cells[l * words + k] ^ (first + l * per_lane);
  }
  return difference == 0;
}

template <uint32_t words>
void fill(uint64_t* cells, uint64_t first, uint64_t per_lane) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t k = 0; k < words; ++k) cells[l * words + k] = first + l * per_lane;
  }
}

// Bit mask of the grains of a page that an access touches.
uint32_t grains_of(uint64_t address, uint32_t bytes) {
  const uint32_t from = address % ShadowPage::kBytes, to = from + bytes - 1;
  return (2u << (to >> ShadowPage::kGrainShift)) - (1u << (from >> ShadowPage::kGrainShift));
}

uint64_t lane_steps(Cell cell) { return bits_of({cell.write ? 1u : 0u, cell.read ? 1u : 0u}); }

// An access's cached facts, by value, so that stores to cells cannot change them.
struct Known {
  Ref own, from, to, ordered_readers;
  uint32_t ordered_write;
  explicit Known(const RecentAccess& recent)
      : own(ref_of(recent.event, 0)),
        from(recent.from),
        to(recent.to),
        ordered_readers(recent.ordered_readers),
        ordered_write(recent.ordered_write) {}
};

// Fast path for one lane's words: all in the same state, with no accessor whose order is unknown. False: nothing was
// done.
template <bool writes, bool lanes_matter, uint32_t words>
inline bool touch_words(const Known& known, Cell* cells, uint32_t lane, bool is_read_only) {
  const Cell first = cells[0];
  uint64_t difference = 0;
  for (uint32_t k = 1; k < words; ++k) difference |= bits_of(cells[k]) ^ bits_of(first);
  if (difference != 0) return false;
  if (first.write != 0 && (is_read_only || first.write >> kRefLaneBits != known.ordered_write)) return false;
  const Ref members = without_lane(first.read);
  Cell next{first.write, 0};
  if constexpr (writes) {
    if (first.read != 0 && members != known.ordered_readers) return false;
    next.write = known.own | lane;
  } else {
    const bool is_own_lane = lane_of(first.read) == lane;
    if (first.read == 0)
      next.read = known.own | lane;
    else if ((members == known.to || members == known.own) && (!lanes_matter || is_own_lane))
      return true;
    else if (members == known.from && is_own_lane)
      next.read = known.to | lane;
    else
      return false;
  }
  for (uint32_t k = 0; k < words; ++k) cells[k] = next;
  return true;
}

}  // namespace

uint32_t Races::place_of(Warp& w, const Instruction& i, AccessKind kind) {
  const auto [entry, fresh] = place_numbers_.try_emplace(&i, static_cast<uint32_t>(places_.size()));
  if (!fresh) return entry->second;
  const Code& code = code_of(w, i);
  const uint32_t order = i.flags >> access::kOrderShift & 7, scope = i.flags >> access::kScopeShift & 3;
  Place& place = places_.emplace_back();
  place.is_strong = order != access::kWeak || kind == AccessKind::kAtomic || kind == AccessKind::kReduction;
  place.is_read_only = (i.flags & access::kReadOnly) != 0;
  place.is_narrow = place.is_strong && scope < access::kGpu;
  any_narrow_ = any_narrow_ || place.is_narrow;
  const std::string &tag = code.tags[i.index], &spelling = code.spellings[i.index];
  place.is_collective =
      spelling.starts_with("wmma.") || spelling.starts_with("ldmatrix") || spelling.starts_with("stmatrix");
  place.text =
      "line " + std::to_string(code.positions[i.index].line) + (tag.empty() ? " " : " [" + tag + "] ") + spelling;
  return entry->second;
}

RecentAccess& Races::recent_access(Warp& w, WarpChecks& warp, const Instruction& i, AccessKind kind) {
  RecentAccess& recent = warp.recent[reinterpret_cast<uintptr_t>(&i) / sizeof(Instruction) % kRecentAccesses];
  const uint32_t clock = warp.clock.of(warp.number);
  if (recent.instruction != &i || recent.generation != global_.generation()) {
    recent = {};
    recent.instruction = &i;
    recent.generation = global_.generation();
    recent.place = place_of(w, i, kind);
  }
  if (recent.clock != clock) {
    recent.clock = clock;
    recent.event = 0;
    recent.from = recent.to = 0;
  }
  return recent;
}

// Whether the access is a read that cannot race until its memory is written.
bool Races::waits(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses) {
  if (kind != AccessKind::kLoad || (i.flags >> access::kOrderShift & 7) != access::kWeak) return false;
  if (waiting_.is_full()) {
    waiting_.end_all([&](const WaitingRead& read, uint32_t lane, uint64_t address, uint32_t n) {
      end_waiting(w, read, lane, address, n);
    });
    past_.read = nullptr;
  }
  ReadTrail*& trail = w.trails[2 * i.index + (lanes != kAllLanes)];
  const uint32_t place = waiting_.has_trail(trail) ? 0 : place_of(w, i, kind);
  return waiting_.note(trail, *w.reader, place, lanes, bytes, addresses);
}

// Records an earlier kept read of the lane, now that its memory is written for the first time.
void Races::end_waiting(Warp& w, const WaitingRead& read, uint32_t lane, uint64_t address, uint32_t bytes) {
  if (past_.read != &read) {
    past_.read = &read;
    const uint32_t number = static_cast<uint32_t>(read.reader >> 32), clock = static_cast<uint32_t>(read.reader);
    past_.warp.number = number;
    past_.warp.clock = Clock(number, 1);  // the clock known at that time is lost; its own past suffices
    past_.warp.clock.raise(number, clock);
    past_.access = {};
    past_.access.clock = clock;
    past_.access.place = read.place;
    past_.access.event = global_.history.add({number, clock, read.place, 0});
  }
  Visit v{w, past_.warp, global_, places_[read.place], past_.access, false, checks_.global_races, checks_.read_only};
  touch<false>(v, lane, address, bytes);
}

// Whether an access within a page is the first to a grain with which a kept read could race.
inline bool Races::begins_writing(const Visit& v, const ShadowPage& page, bool writes, uint64_t address,
                                  uint32_t bytes) const {
  if (v.lanes_matter || !(writes || v.place.is_strong)) return false;
  return (grains_of(address, bytes) & ~page.written) != 0;
}

void Races::begin_writing(Warp& w, ShadowPage& page, uint64_t address, uint32_t bytes) {
  const uint32_t fresh = grains_of(address, bytes) & ~page.written;
  page.written |= fresh;
  for (uint32_t left = fresh; left != 0; left &= left - 1) {
    const uint64_t grain = static_cast<uint64_t>(std::countr_zero(left)) << ShadowPage::kGrainShift;
    const uint64_t start = (address & ~uint64_t{ShadowPage::kBytes - 1}) + grain;
    waiting_.end_waiting(start, [&](const WaitingRead& read, uint32_t lane, uint64_t at, uint32_t n) {
      end_waiting(w, read, lane, at, n);
    });
  }
  past_.read = nullptr;
}

void Races::forget(Warp& w, uint64_t address, uint64_t bytes) {
  for (const uint64_t end = address + bytes; address < end;) {
    ShadowPage& page = global_.page_of(address);
    const uint64_t into = address % ShadowPage::kBytes, here = std::min(end - address, ShadowPage::kBytes - into);
    begin_writing(w, page, address, static_cast<uint32_t>(here));  // kept reads are ordered before it as well
    const uint64_t last = into + here - 1;
    std::fill(&page.cells[into >> page.shift], &page.cells[last >> page.shift] + 1, Cell{});
    address += here;
  }
}

uint32_t Races::global(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                       const uint64_t* addresses) {
  if (waits(w, i, kind, lanes, bytes, addresses)) return lanes;
  if (global_.history.is_full()) global_.collect();
  WarpChecks& warp = w.block->checks->warps[w.warp_index];
  RecentAccess& recent = recent_access(w, warp, i, kind);
  if (recent.event == 0) recent.event = global_.history.add({warp.number, recent.clock, recent.place, 0});
  Visit v{w, warp, global_, places_[recent.place], recent, false, checks_.global_races, checks_.read_only};
  return run(v, i, kind, lanes, bytes, addresses);
}

uint32_t Races::shared(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                       const uint64_t* offsets) {
  BlockChecks& block = *w.block->checks;
  WarpChecks& warp = block.warps[w.warp_index];
  if (block.shared.history.is_full()) block.shared.collect();
  RecentAccess recent;
  recent.clock = warp.clock.of(warp.number);
  recent.place = recent_access(w, warp, i, kind).place;
  recent.event = block.shared.history.add({warp.number, recent.clock, recent.place, warp.lanes.time()});
  Visit v{w, warp, block.shared, places_[recent.place], recent, true, checks_.shared_races, false};
  return run(v, i, kind, lanes, bytes, offsets);
}

uint32_t Races::run(Visit& v, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                    const uint64_t* addresses) {
  const bool writes = kind != AccessKind::kLoad;
  v.stores = kind == AccessKind::kStore && !v.place.is_strong && v.w.stored != nullptr;
  v.addresses = addresses;
  v.bytes = bytes;
  if (lanes == kAllLanes && !v.place.is_strong && contiguous(addresses, bytes) &&
      run_together(v, writes, bytes, addresses[0])) {
    return lanes;
  }
  const auto by_words = [&]<uint32_t words>() {
    if (v.lanes_matter)
      return writes ? run_lanes<true, true, words>(v, i, lanes, bytes, addresses)
                    : run_lanes<false, true, words>(v, i, lanes, bytes, addresses);
    return writes ? run_lanes<true, false, words>(v, i, lanes, bytes, addresses)
                  : run_lanes<false, false, words>(v, i, lanes, bytes, addresses);
  };
  if (v.place.is_strong) return by_words.operator()<0>();
  switch (bytes) {
    case 1:
    case 2:
    case 4:
      return by_words.operator()<1>();
    case 8:
      return by_words.operator()<2>();
    case 16:
      return by_words.operator()<4>();
    default:
      return by_words.operator()<0>();
  }
}

// Each lane has `words` whole words, or one part of a word, or (0) anything else.
template <bool writes, bool lanes_matter, uint32_t words>
uint32_t Races::run_lanes(Visit& v, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  uint32_t clean = lanes;
  Known known(v.recent);
  const uint32_t shift = bytes < 4 ? bytes / 2 : 2;
  uint64_t number = ~0ull;
  const ShadowPage* page = nullptr;
  Cell* cells = nullptr;  // of that page, if its cells have that size
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    if constexpr (words != 0) {
      if (address >> ShadowPage::kShift != number) {
        number = address >> ShadowPage::kShift;
        page = &v.shadow.page_of(address);
        cells = page->shift == shift ? page->cells.get() : nullptr;
      }
      Cell* const first = cells + (address % ShadowPage::kBytes >> shift);
      if (cells && (address & (bytes - 1)) == 0 && !begins_writing(v, *page, writes, address, bytes) &&
          touch_words<writes, lanes_matter, words>(known, first, lane, v.place.is_read_only)) {
        continue;
      }
    }
    if (!touch<writes>(v, lane, address, bytes)) {
      clean &= ~(1u << lane);
      fault_at_lane(v.w, i, v.kind, lane, address, bytes, v.finding);
    }
    known = Known(v.recent);
    number = ~0ull;  // its page may have been refined
  }
  return clean;
}

// A contiguous warp access whose words all have the same earlier state; false: examine each lane.
bool Races::run_together(Visit& v, bool writes, uint32_t bytes, uint64_t address) {
  const uint32_t into = address % ShadowPage::kBytes;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || address % bytes != 0 || into + kLanes * bytes > ShadowPage::kBytes)
    return false;
  ShadowPage& page = v.shadow.page_of(address);
  if (begins_writing(v, page, writes, address, kLanes * bytes)) begin_writing(v.w, page, address, kLanes * bytes);
  if (page.shift != 2) return false;
  uint64_t* cells = reinterpret_cast<uint64_t*>(&page.cells[into / 4]);
  const Cell first = page.cells[into / 4];
  if (first.write == kContended) return false;
  const uint64_t bits = bits_of(first), steps = lane_steps(first);
  if (lane_of(first.write) + lane_of(first.read) != 0) return false;
  if (!(bytes == 4   ? are_alike<1>(cells, bits, steps)
        : bytes == 8 ? are_alike<2>(cells, bits, steps)
                     : are_alike<4>(cells, bits, steps)))
    return false;
  Cell next = first;  // lane 0's change to its cell applies to all
  v.alike = true;
  if (!(writes ? write_cell(v, next, 0) : read_cell(v, next, 0)) || !v.alike) return false;
  const uint64_t to = bits_of(next), to_steps = lane_steps(next);
  if (to == bits) return true;
  bytes == 4 ? fill<1>(cells, to, to_steps) : bytes == 8 ? fill<2>(cells, to, to_steps) : fill<4>(cells, to, to_steps);
  return true;
}

template <bool writes>
bool Races::touch(Visit& v, uint32_t lane, uint64_t address, uint32_t bytes) {
  while (bytes != 0) {
    ShadowPage& page = v.shadow.page_of(address);
    const uint32_t into = address % ShadowPage::kBytes, here = std::min(bytes, ShadowPage::kBytes - into);
    if (begins_writing(v, page, writes, address, here)) begin_writing(v.w, page, address, here);
    const uint32_t shift = static_cast<uint32_t>(std::countr_zero(into | here | 4u));
    if (shift < page.shift) v.shadow.refine(page, shift);
    Cell* const end = &page.cells[0] + ((into + here) >> page.shift);
    for (Cell* cell = &page.cells[into >> page.shift]; cell != end; ++cell) {
      if (!(writes ? write_cell(v, *cell, lane) : read_cell(v, *cell, lane))) return false;
    }
    address += here;
    bytes -= here;
  }
  return true;
}

inline bool Races::read_cell(Visit& v, Cell& cell, uint32_t lane) {
  RecentAccess& recent = v.recent;
  if (cell.write != 0 || v.place.is_strong) {
    if (cell.write == kContended || v.place.is_strong) return touch_contended(v, cell, false, lane);
    if (v.place.is_read_only && v.read_only_counts)
      return report(v, FaultKind::kReadOnlyWritten, v.shadow.history.latest(cell.write), lane_of(cell.write), true);
    if (cell.write >> kRefLaneBits != recent.ordered_write && !accept_write(v, cell.write, lane)) return false;
  }
  if (cell.read == 0)
    cell.read = ref_of(recent.event, lane);
  else if (without_lane(cell.read) == recent.from && lane_of(cell.read) == lane)
    cell.read = recent.to | lane;
  else
    cell.read = with_reader(v, cell.read, lane);
  return true;
}

inline bool Races::write_cell(Visit& v, Cell& cell, uint32_t lane) {
  if (cell.write == kContended || v.place.is_strong) return touch_contended(v, cell, true, lane);
  if (cell.write != 0 && cell.write >> kRefLaneBits != v.recent.ordered_write && !accept_write(v, cell.write, lane))
    return false;
  if (cell.read != 0 && without_lane(cell.read) != v.recent.ordered_readers && !accept_readers(v, cell.read, lane))
    return false;
  cell = {ref_of(v.recent.event, lane), 0};
  return true;
}

bool Races::touch_contended(Visit& v, Cell& cell, bool writes, uint32_t lane) {
  const bool strong = v.place.is_strong;
  ContendedCell& c = v.shadow.contend(cell);
  v.alike = false;
  if (v.place.is_read_only && v.read_only_counts && (c.write != 0 || c.strong_write != 0)) {
    const Ref write = c.write != 0 ? c.write : c.strong_write;
    return report(v, FaultKind::kReadOnlyWritten, v.shadow.history.latest(write), lane_of(write), true);
  }
  if (c.write != 0 && !accept_write(v, c.write, lane)) return false;
  if (!accept_strong(v, c.strong_write, lane, true)) return false;
  if (writes && c.read != 0 && !accept_readers(v, c.read, lane)) return false;
  if (writes && !accept_strong(v, c.strong_read, lane, false)) return false;
  if (strong)
    (writes ? c.strong_write : c.strong_read) = with_strong(v, writes ? c.strong_write : c.strong_read, lane);
  else if (writes)
    c = {ref_of(v.recent.event, lane), 0, 0, 0};
  else
    c.read = c.read == 0 ? ref_of(v.recent.event, lane) : with_reader(v, c.read, lane);
  return true;
}

}  // namespace ptx::emulator
