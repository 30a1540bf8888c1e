// A block's pending asynchronous copies, in observed launches. Data becomes visible when the program may rely on it: at
// the wait for its group, or when its barrier object is tested. Until then accesses to its bytes are findings of the
// shared-race and uninitialised checks.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

struct BlockState;

// Instruction::count of a wait: includes uncommitted copies, or only waits for the sources.
constexpr uint8_t kWaitsForAll = 2, kWaitsForReads = 3;

struct AsyncCopy {
  // Applies a bulk reduction to `bytes` of global and shared memory.
  using Reduce = void (*)(uint8_t* global, const uint8_t* shared, uint32_t bytes);

  const Instruction* instruction = nullptr;
  uint32_t thread = 0;  // in the block
  bool is_bulk = false, into_shared = true;
  uint64_t global = 0, shared = 0;  // address and window offset
  uint32_t bytes = 0, zeros = 0;    // bytes copied, and bytes zeroed after them
  Reduce reduce = nullptr;
  uint32_t group = 0;                      // groups that its thread had committed before
  bool has_barrier = false, done = false;  // done: the data has moved, but this is not yet visible
  bool was_read = false;                   // its thread has waited for the source to be read
  uint64_t barrier = 0;                    // offset of the barrier object
};

class CopiesInFlight {
 public:
  void issue(Warp& w, AsyncCopy copy);
  void commit(Warp& w, uint32_t lanes, bool bulk);
  // Waits for all but the last `n` groups of each lane. open: including uncommitted copies. read: only for the sources.
  void wait(Warp& w, uint32_t lanes, bool bulk, uint32_t n, bool open, bool read);

  // The thread's copies so far arrive at a barrier object now, as an arrival that is due there.
  void attach(Warp& w, uint32_t lane, uint64_t barrier);
  struct Arrivals {
    uint32_t threads = 0;
    int32_t bytes = 0;
  };
  Arrivals land_at(Warp& w, uint64_t barrier);

  // Faults if the access touches the destination of a pending copy, or writes its source. Offsets are in shared memory.
  void check(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* offsets);
  void wrote(uint32_t lanes, uint32_t bytes, const uint64_t* offsets);  // by ordinary stores
  void proxy_fence() { unfenced_.clear(); }
  void end(BlockState& block);  // faults if a copy from shared memory was not waited for

 private:
  struct Due {
    uint64_t barrier;
  };
  void move(Warp& w, AsyncCopy& copy);
  void land(Warp& w, AsyncCopy& copy);
  bool is_fenced(const AsyncCopy& copy) const;
  void forget(AsyncCopy& copy);  // removed by sweep
  void sweep();
  void mark(const AsyncCopy& copy, int step);

  std::vector<AsyncCopy> copies_;
  std::vector<uint16_t> busy_;        // by word of shared memory: pending copies
  std::vector<Due> due_;              // arrivals of threads with pending copies
  std::vector<uint32_t> commits_[2];  // by thread: committed cp.async and bulk groups
  std::vector<bool> unfenced_;        // by byte: written by ordinary stores since the last proxy fence
};

CopiesInFlight& copies_of(Warp& w);                                  // created at first use
CopiesInFlight::Arrivals land_copies_at(Warp& w, uint64_t barrier);  // none if no copies are pending

}  // namespace ptx::emulator
