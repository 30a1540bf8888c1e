// Asynchronous copies of a block that nobody has waited for, in launches that are observed. Their data lands where the
// program may rely on it: at the wait for their group, or when the barrier object that they arrive at is tested. Until
// then their bytes are out of bounds for everybody: a finding of the checks of shared races and uninitialised reads.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

struct BlockState;

// Instruction::count of a wait: for what is not committed as well, or for the sources only.
constexpr uint8_t kWaitsForAll = 2, kWaitsForReads = 3;

struct AsyncCopy {
  // Applies to `bytes` of global and shared memory what a bulk reduction does.
  using Reduce = void (*)(uint8_t* global, const uint8_t* shared, uint32_t bytes);

  const Instruction* instruction = nullptr;
  uint32_t thread = 0;  // of the block
  bool is_bulk = false, into_shared = true;
  uint64_t global = 0, shared = 0;  // address and window offset
  uint32_t bytes = 0, zeros = 0;    // copied, and set to zero behind them
  Reduce reduce = nullptr;
  uint32_t group = 0;                      // how many groups its thread had committed before
  bool has_barrier = false, done = false;  // done: the data has moved, but nobody may know
  bool was_read = false;                   // its thread has waited for that
  uint64_t barrier = 0;                    // offset of a barrier object
};

class CopiesInFlight {
 public:
  void issue(Warp& w, AsyncCopy copy);
  void commit(Warp& w, uint32_t lanes, bool bulk);
  // All but the last `n` groups of each lane; `open` includes what is not committed; `read`: only the sources.
  void wait(Warp& w, uint32_t lanes, bool bulk, uint32_t n, bool open, bool read);

  // The thread's copies so far arrive at a barrier object, at once: an arrival that is due there.
  void attach(Warp& w, uint32_t lane, uint64_t barrier);
  struct Arrivals {
    uint32_t threads = 0;
    int32_t bytes = 0;
  };
  Arrivals land_at(Warp& w, uint64_t barrier);

  // Faults if the access touches what a copy still writes, or writes what one still reads. Offsets of shared memory.
  void check(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* offsets);
  void wrote(uint32_t lanes, uint32_t bytes, const uint64_t* offsets);  // by ordinary stores
  void proxy_fence() { unfenced_.clear(); }
  void end(BlockState& block);  // faults if a copy out of shared memory was not waited for

 private:
  struct Due {
    uint64_t barrier;
  };
  void move(Warp& w, AsyncCopy& copy);
  void land(Warp& w, AsyncCopy& copy);
  bool is_fenced(const AsyncCopy& copy) const;
  void forget(AsyncCopy& copy);  // until sweep, which removes it
  void sweep();
  void mark(const AsyncCopy& copy, int step);

  std::vector<AsyncCopy> copies_;
  std::vector<uint16_t> busy_;        // by word of shared memory: copies under way there
  std::vector<Due> due_;              // arrivals of threads whose copies are under way
  std::vector<uint32_t> commits_[2];  // by thread: of cp.async and of bulk groups
  std::vector<bool> unfenced_;        // by byte: written by ordinary stores since the last proxy fence
};

CopiesInFlight& copies_of(Warp& w);                                  // made at the first use
CopiesInFlight::Arrivals land_copies_at(Warp& w, uint64_t barrier);  // nothing where none are under way

}  // namespace ptx::emulator
