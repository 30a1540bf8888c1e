// The checks of one launch, which observe accesses, barriers and fences and may raise a fault. Blocks of a checked
// launch run one at a time, so no locks are needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/races.h"
#include "ptx/emulator/checks/shared_state.h"
#include "ptx/emulator/checks/synchronisation.h"
#include "ptx/emulator/launch.h"

namespace ptx::emulator {

class LaunchChecks {
 public:
  LaunchChecks(LaunchContext& launch);

  void begin_block(BlockState& block);
  void end_block(BlockState& block);
  uint32_t access(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses);
  bool registers(Warp& w, const Instruction& i, const Code& code, uint32_t lanes);
  void enter(Warp& w, const Code& code);  // the warp now runs this function
  bool resume(Warp& w, ReadTrail& trail, uint64_t first_address) { return races_.resume(w, trail, first_address); }
  void arrive(Warp& w, uint32_t id);            // at a block barrier
  void pass(Warp& w, uint32_t id);              // the barrier opened
  void reopen(BlockState& block, uint32_t id);  // prepares the next phase
  void warp_barrier(Warp& w, uint32_t lanes);
  void fence(Warp& w, const Instruction& i);
  void allocated(Warp& w, uint64_t address, uint64_t bytes);  // by a thread: earlier accesses there no longer matter
  void arrived(uint64_t address, uint64_t block) {            // a delayed store
    synchronisation_.arrived(address, static_cast<uint32_t>(block));
  }
  void barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed);  // an mbarrier

 private:
  uint32_t global(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses, bool is_constant);
  uint32_t shared(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses);
  uint32_t good_lanes(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                      const uint64_t* addresses, uint32_t& unknown);
  bool inside(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes);
  bool shared_initialised(Warp& w, const Instruction& i, AccessKind kind, uint32_t lane, uint64_t offset,
                          uint32_t bytes);
  bool initialised(Warp& w, const Instruction& i, AccessKind kind, uint32_t lane, uint64_t address, uint32_t bytes);

  LaunchContext& launch_;
  Checks checks_;
  Races races_;
  Synchronisation synchronisation_;
  Allocation recent_;                 // of the last access
  uint64_t memory_generation_ = 0;    // at which recent_ was found
  bool races_matter_, others_watch_;  // for global memory
};

}  // namespace ptx::emulator
