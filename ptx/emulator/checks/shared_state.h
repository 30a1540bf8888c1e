// What the checks keep of a block: clocks of its warps, the shadow of its shared memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/lane_order.h"
#include "ptx/emulator/checks/shadow.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

// A warp at a clock, as ReadTrail has it.
inline uint64_t reader_of(uint32_t warp, uint32_t clock) { return uint64_t{warp} << 32 | clock; }

// What a warp found out when it last touched global memory with an instruction, so that the next time is quick.
struct RecentAccess {
  const Instruction* instruction = nullptr;
  uint32_t clock = 0, generation = 0, place = 0;
  uint32_t event = 0;
  Ref from = 0, to = 0;        // readers before and with this warp, without lanes
  uint32_t ordered_write = 0;  // an event that lies before this warp
  Ref ordered_readers = 0;     // readers that do, without lanes
};

constexpr uint32_t kRecentAccesses = 128;

struct WarpChecks {
  Clock clock;
  uint32_t number = 0;  // through the grid
  uint64_t reader = 0;  // reader_of number and clock
  LaneOrder lanes;
  Clock fence;    // what the last fence published; a strong store carries it
  Clock pending;  // what strong loads saw; the next fence takes it in
  bool has_fence = false, has_pending = false;
  uint32_t fence_scope = 0;
  RecentAccess recent[kRecentAccesses];  // by instruction

  // What follows is not yet known to anybody.
  void tick() {
    clock.raise(number, clock.of(number) + 1);
    reader = reader_of(number, clock.of(number));
  }
};

struct BlockChecks {
  std::vector<WarpChecks> warps;
  std::vector<uint8_t> shared_initialised;              // by byte
  Shadow shared;                                        // by offset
  Clock barriers[16];                                   // what those who arrived know
  Clock no_clock;                                       // of a barrier where nobody is
  std::unordered_map<uint64_t, Clock> barrier_objects;  // by offset of an mbarrier
};

}  // namespace ptx::emulator
