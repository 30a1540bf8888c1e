// Race detection by happens-before, after FastTrack (Flanagan and Freund, 2009). Each word remembers its last
// accessors; two accesses race if neither warp's clock covers the other. In shared memory, lanes of one warp can race
// too. If several earlier reads race with a write, any one is reported.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/deferred_reads.h"
#include "ptx/emulator/checks/shadow.h"
#include "ptx/emulator/checks/shared_state.h"

namespace ptx::emulator {

class Races {
 public:
  explicit Races(const Checks& checks) : checks_(checks) {}

  // Memory newly allocated by a thread: earlier accesses are ordered before everything done there now.
  void forget(Warp& w, uint64_t address, uint64_t bytes);

  // Returns the lanes that do not race, reports the others, and records the access.
  uint32_t global(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses);
  uint32_t shared(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                  const uint64_t* offsets);

  // For reads that are kept, see DeferredReads.
  ReadTrail** trails_of(const Code& code) { return waiting_.trails_of(code); }
  bool resume(Warp& w, ReadTrail& trail, uint64_t address) { return waiting_.resume(trail, *w.reader, address); }

 private:
  struct Place {  // an instruction that accesses memory
    bool is_strong = false, is_read_only = false, is_narrow = false;
    bool is_collective = false;  // matrix access: which lane touches which element is unspecified
    std::string text;            // "line 12 st.global.u32"
  };
  struct Visit {  // one access under examination
    Warp& w;
    WarpChecks& warp;
    Shadow& shadow;
    const Place& place;
    RecentAccess& recent;
    bool lanes_matter;
    bool races_count, read_only_counts;  // which findings to report
    bool stores = false;                 // a plain store of Warp::stored
    const uint64_t* addresses = nullptr;
    uint32_t bytes = 0;
    bool alike = true;                  // neighbouring lanes do the same to their cells
    FaultKind kind = FaultKind::kNone;  // of the lane being examined
    std::string finding;
    FaultKind race_kind() const { return lanes_matter ? FaultKind::kSharedRace : FaultKind::kGlobalRace; }
  };

  bool waits(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses);
  bool begins_writing(const Visit& v, const ShadowPage& page, bool writes, uint64_t address, uint32_t bytes) const;
  void begin_writing(Warp& w, ShadowPage& page, uint64_t address, uint32_t bytes);
  void end_waiting(Warp& w, const WaitingRead& read, uint32_t lane, uint64_t address, uint32_t bytes);
  uint32_t place_of(Warp& w, const Instruction& i, AccessKind kind);
  RecentAccess& recent_access(Warp& w, WarpChecks& warp, const Instruction& i, AccessKind kind);
  uint32_t run(Visit& v, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
               const uint64_t* addresses);
  template <bool writes, bool lanes_matter, uint32_t words>
  uint32_t run_lanes(Visit& v, const Instruction& i, uint32_t lanes, uint32_t bytes, const uint64_t* addresses);
  bool run_together(Visit& v, bool writes, uint32_t bytes, uint64_t address);
  template <bool writes>
  bool touch(Visit& v, uint32_t lane, uint64_t address, uint32_t bytes);
  bool read_cell(Visit& v, Cell& cell, uint32_t lane);
  bool write_cell(Visit& v, Cell& cell, uint32_t lane);
  bool touch_contended(Visit& v, Cell& cell, bool writes, uint32_t lane);

  bool is_ordered(const Visit& v, const Event& earlier, uint32_t earlier_lane, uint32_t lane) const;
  bool stores_what_is_there(const Visit& v, uint32_t lane) const;
  bool accept_write(Visit& v, Ref write, uint32_t lane);
  bool accept_readers(Visit& v, Ref readers, uint32_t lane);
  bool accept_strong(Visit& v, Ref others, uint32_t lane, bool wrote);
  bool report(Visit& v, FaultKind kind, const Event& earlier, uint32_t earlier_lane, bool wrote) const;
  Ref with_reader(Visit& v, Ref readers, uint32_t lane);
  Ref with_strong(Visit& v, Ref members, uint32_t lane);
  Ref tidied(Visit& v, Ref members);

  Checks checks_;
  Shadow global_;
  DeferredReads waiting_;
  struct {  // whose reads are no longer kept
    const WaitingRead* read = nullptr;
    WarpChecks warp;
    RecentAccess access;
  } past_;
  std::deque<Place> places_;
  bool any_narrow_ = false;
  std::unordered_map<const Instruction*, uint32_t> place_numbers_;
};

}  // namespace ptx::emulator
