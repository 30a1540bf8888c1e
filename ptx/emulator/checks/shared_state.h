// What the checks keep of a block: clocks of its warps, the shadow of its shared memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

// The accesses to one 4-byte word that a later one may race with. Strong accesses (volatile, relaxed and stronger,
// atomic) do not race among themselves.
struct Cell {
  Epoch write, strong_write, read, strong_read;
  int32_t readers = -1;  // further plain readers, in the detector's list
  bool read_only_read = false, written = false;
};

struct WarpChecks {
  Clock clock;
  uint32_t number = 0;                // through the grid
  uint32_t instance = 0;              // instructions that accessed memory
  uint32_t lane_epochs[kLanes] = {};  // warp barriers passed
  Clock fence;                        // what the last fence published; a strong store carries it
  Clock pending;                      // what strong loads saw; the next fence takes it in
  bool has_fence = false, has_pending = false;
  uint32_t fence_scope = 0, pending_scope = 0;
};

struct BlockChecks {
  std::vector<WarpChecks> warps;
  std::vector<uint8_t> shared_initialised;              // by byte
  std::vector<Cell> shared_cells;                       // by word
  Clock barriers[16];                                   // what those who arrived know
  std::unordered_map<uint64_t, Clock> barrier_objects;  // by offset of an mbarrier
};

}  // namespace ptx::emulator
