// Weak memory, by seed: global stores wait in their block's store buffer and arrive in any order that keeps those to
// one address in theirs; weak loads may be answered by an old line of the block's cache. What orders them is what
// orders them on a device:
// - A release, or a fence that releases, of gpu or sys scope lets every store of the block arrive first. Scopes within
//   the block (.cta, .cluster) order nothing for other blocks.
// - An acquire, or a fence that acquires, of gpu or sys scope drops the block's lines. Lines of ld.global.nc stay for
//   the whole launch.
// - Relaxed and volatile loads of such scope see memory itself; weaker ones, and those of narrower scope, see lines.
// - Atomics of such scope act on memory itself, those of narrower scope on their block's view of it.
// A block always sees its own stores. A line may enter a cache without a load of its own, as by prefetching.
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
    uint64_t valid[2] = {~0ull, ~0ull};  // a bit a byte: the others are in memory
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
  std::map<std::pair<uint32_t, uint32_t>, Poll> polls;  // by line of the text and thread
  alignas(64) uint8_t loaded[kLanes][32];               // what the lanes of the running load get
};

class WeakMemory {
 public:
  WeakMemory(uint64_t seed, LaunchChecks* checks);  // which are told of stores that arrive, unless null

  void begin_block(BlockState& block);
  void end_block(BlockState& block);  // its stores may still be on their way
  void turn(BlockState& block);       // before it runs: some stores arrive, some lines go
  bool let_all_arrive();              // of every block; false if there was none

  // One access before it happens: where each lane reads or writes instead of memory goes to `pointers`. Lanes whose
  // pointer is not their address (shared memory, faults) are left alone. True if any pointer changed.
  bool access(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
              uint8_t** pointers);
  void fence(Warp& w, const Instruction& i);
  void read(BlockState& block, uint64_t address, uint32_t bytes, uint8_t* to);           // as a weak load
  void write(BlockState& block, uint64_t address, uint32_t bytes, const uint8_t* from);  // as a weak store
  void before_atomic(BlockState& block, uint64_t address, uint32_t bytes);  // somebody acts on memory itself

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
  uint32_t arrive_one_in_, drop_one_in_, keep_one_in_, prefetch_one_in_;  // drop: 0 for never
  std::vector<std::unique_ptr<BlockView>> views_;
};

}  // namespace ptx::emulator
