// State that the checks keep per block: its warps' clocks, and shadow shared memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/lane_order.h"
#include "ptx/emulator/checks/shadow.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

// A warp and clock, as in ReadTrail.
inline uint64_t reader_of(uint32_t warp, uint32_t clock) { return uint64_t{warp} << 32 | clock; }

// Cached results of a warp's last access to global memory by an instruction, to speed up the next.
struct RecentAccess {
  const Instruction* instruction = nullptr;
  uint32_t clock = 0, generation = 0, place = 0;
  uint32_t event = 0;
  Ref from = 0, to = 0;        // reader references without lanes: before and including this warp
  uint32_t ordered_write = 0;  // an event ordered before this warp
  Ref ordered_readers = 0;     // readers ordered before this warp, without lanes
};

constexpr uint32_t kRecentAccesses = 128;

struct WarpChecks {
  Clock clock;
  uint32_t number = 0;  // in the grid
  uint64_t reader = 0;  // reader_of(number, clock)
  LaneOrder lanes;
  Clock fence;    // published by the last fence; strong stores carry it
  Clock pending;  // seen by strong loads; the next fence merges it
  bool has_fence = false, has_pending = false;
  uint32_t fence_scope = 0;
  RecentAccess recent[kRecentAccesses];  // by instruction

  // Later events are not yet known to any other warp.
  void tick() {
    clock.raise(number, clock.of(number) + 1);
    reader = reader_of(number, clock.of(number));
  }
};

struct BlockChecks {
  std::vector<WarpChecks> warps;
  std::vector<uint8_t> shared_initialised;              // by byte
  Shadow shared;                                        // by offset
  Clock barriers[16];                                   // merged clocks of the warps that have arrived
  Clock no_clock;                                       // for a barrier without arrivals
  std::unordered_map<uint64_t, Clock> barrier_objects;  // by offset of the mbarrier
};

}  // namespace ptx::emulator
