// Weak memory, driven by a seed. Global stores wait in their block's store buffer and arrive in any order that
// preserves the order per address. Weak loads may return an old line of the block's cache. Ordering follows the PTX
// memory model:
// - A release, or a releasing fence, of gpu or sys scope first makes all stores of the block arrive. Scopes within the
// block (.cta, .cluster) order nothing for other blocks.
// - An acquire, or an acquiring fence, of gpu or sys scope drops the block's lines. Lines of ld.global.nc stay for the
// whole launch.
// - Relaxed and volatile loads of such scope read memory itself; weaker loads, and those of narrower scope, read lines.
// - Atomics of such scope operate on memory itself, those of narrower scope on their block's view.
// A block always sees its own stores. A line may enter a cache without a load, as by prefetching.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/block.h"
#include "ptx/emulator/choices.h"

namespace ptx::emulator {

constexpr uint64_t kLineBytes = 128;

// Global memory as one block sees it.
struct BlockView {
  struct Store {
    uint64_t address = 0;
    uint32_t bytes = 0, place = 0;  // place: in `pending`
    alignas(16) uint8_t data[32] = {};
  };
  struct Line {
    uint8_t bytes[kLineBytes];
    uint64_t valid[2] = {~0ull, ~0ull};  // bit mask of valid bytes; the others are in memory
  };
  struct Poll {
    uint64_t address = 0;
    uint32_t stale_reads = 0;
  };
  using Lines = std::unordered_map<uint64_t, Line>;  // by address / kLineBytes

  uint64_t block = 0;  // in the grid
  bool resident = true;
  std::vector<std::unique_ptr<Store>> pending;
  std::unordered_map<uint64_t, std::vector<Store*>> pending_of_line;  // oldest first
  Lines lines, read_only_lines;
  std::map<std::pair<uint32_t, uint32_t>, Poll> polls;  // by line of the text, and thread
  alignas(64) uint8_t loaded[kLanes][32];               // data returned to the lanes of the current load
};

class WeakMemory {
 public:
  WeakMemory(uint64_t seed, LaunchChecks* checks);  // checks to notify when stores arrive, or null

  void begin_block(BlockState& block);
  void end_block(BlockState& block);  // its stores may still be pending
  void turn(BlockState& block);       // called before the block runs: some stores arrive, some lines are dropped
  bool let_all_arrive();              // for every block; false if no store was pending

  // Called before an access: puts each lane's replacement address into `pointers`. Leaves lanes alone whose pointer is
  // not their address (shared memory, faults). True if any pointer changed.
  bool access(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
              uint8_t** pointers);
  void fence(Warp& w, const Instruction& i);
  void read(BlockState& block, uint64_t address, uint32_t bytes, uint8_t* to);           // as a weak load
  void write(BlockState& block, uint64_t address, uint32_t bytes, const uint8_t* from);  // as a weak store
  void before_atomic(BlockState& block, uint64_t address, uint32_t bytes);  // another agent operates on memory itself

 private:
  enum class Through : uint8_t { kLines, kReadOnlyLines, kMemory };
  bool compose(BlockView& view, uint64_t address, uint32_t bytes, Through through, uint8_t* to);
  void load(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes);
  uint8_t* store(BlockView& view, uint64_t address, uint32_t bytes);
  uint8_t* atomic_within(BlockView& view, uint64_t address, uint32_t bytes);
  void note_poll(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes);
  void arrive(BlockView& view, BlockView::Store* store);
  void let_all_arrive(BlockView& view);
  void let_overlapping_arrive(BlockView& view, uint64_t address, uint32_t bytes);
  void before_write(const BlockView& writer, uint64_t address);

  Choices choices_;
  LaunchChecks* checks_;
  uint32_t arrive_one_in_, drop_one_in_, keep_one_in_, prefetch_one_in_;  // drop: 0 means never
  std::vector<std::unique_ptr<BlockView>> views_;
};

}  // namespace ptx::emulator
