// A running block: warps of fragments, shared memory and barriers. Executor: one host thread's share of a launch. A
// block is plain state; a step runs part of it and returns.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/barrier_kind.h"
#include "ptx/emulator/choices.h"
#include "ptx/emulator/code.h"
#include "ptx/emulator/copies_in_flight.h"
#include "ptx/emulator/execution_counts.h"
#include "ptx/emulator/fault.h"
#include "ptx/emulator/launch.h"

namespace ptx::emulator {

struct LaunchContext;
struct WarpState;
class LaunchChecks;
class WeakMemory;
struct BlockView;
struct BlockChecks;

struct AlignedDelete {
  void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<uint8_t[], AlignedDelete>;
inline AlignedBytes aligned_bytes(size_t size) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new[](size, std::align_val_t{64})));
}

// One activation of a function, shared by the caller's lanes that made the same call, together or in sequence.
struct Frame {
  const Code* code = nullptr;
  Frame* parent = nullptr;
  uint32_t return_pc = 0, lanes = 0, local_base = 0, depth = 0;
  const CallSite* site = nullptr;
  AlignedBytes registers;
};

enum class FragmentState : uint8_t {
  kRunnable,
  kSync,       // waits for other lanes of its warp
  kAtBarrier,  // before a block barrier; others may still join
  kArrived     // counted at the barrier
};

// Lanes of a warp at the same instruction of the same activation.
struct Fragment {
  uint32_t pc = 0, mask = 0;
  Frame* frame = nullptr;
  FragmentState state = FragmentState::kRunnable;
  bool held = false;   // ran long while others waited, which now run first
  bool alone = false;  // split off to run one operation; joins no other until then
  uint32_t barrier = 0;
  int64_t ran = 0;  // instructions since it was last held
};

struct WarpState : Warp {
  std::vector<Fragment> fragments;
  std::vector<std::unique_ptr<Frame>> frames;  // frames[0] is the kernel's
  std::vector<std::unique_ptr<Frame>> spare;
  std::vector<uint8_t> local_memory;
  uint32_t all_lanes = 0;
  bool is_polling = false;
  uint32_t current = 0;  // the running fragment
  bool has_runnable() const;
};

struct BarrierState {
  uint32_t arrived = 0, expected = 0;  // threads; expected 0: every live thread of the block
  uint32_t popcount = 0;
  bool all = true, any = false;
};

struct BlockState {
  LaunchContext* launch = nullptr;
  uint32_t index[3] = {0, 0, 0};
  uint64_t linear = 0;
  std::vector<WarpState> warps;
  AlignedBytes shared;
  uint32_t shared_bytes = 0;
  BarrierState barriers[16];
  uint32_t next_warp = 0;
  std::shared_ptr<BlockChecks> checks;      // observers' per-block state
  BlockView* view = nullptr;                // this block's view of global memory, if weak
  std::unique_ptr<CopiesInFlight> copies;   // null: no copies so far
  uint64_t idle_polls = 0, idle_since = 0;  // polls without progress since the launch's write count was idle_since
  uint32_t live_threads() const;
};

// One host thread working on a launch.
struct Executor {
  LaunchContext* launch = nullptr;
  std::unordered_map<const Code*, std::vector<Range>> ranges;
  uint64_t memory_generation = 0;
  bool faulted = false;
  Fault fault;
  const Instruction* fault_instruction = nullptr;
  Counts counters;
  std::unique_ptr<ExecutionCounts> counts;  // null unless requested
  BlockState* block = nullptr;
};

// State shared by a whole launch.
struct LaunchContext {
  LaunchRequest request;
  const Module* module = nullptr;
  Profile profile;
  Memory* memory = nullptr;
  uint32_t shared_total = 0, dynamic_base = 0, reserved_base = 0;
  uint64_t grid_workspace = 0;  // device address, in a cooperative launch whose module needs it
  std::atomic<bool> stopped = false;
  uint64_t grid_id = 0;
  LaunchChecks* checks = nullptr;      // null: no checks
  Choices* choices = nullptr;          // null without a seed: round-robin
  WeakMemory* weak = nullptr;          // null: memory is sequentially consistent
  bool observes = false;               // handlers report their accesses
  bool watches_proxies = false;        // bulk copies need a proxy fence after ordinary stores
  std::atomic<uint64_t> n_writes = 0;  // observed stores and atomics
};

enum class BlockResult : uint8_t { kProgress, kPolling, kDone, kFaulted };

// A block ready to run. `spare`, if given, is a finished block of the same launch whose memory is reused.
std::unique_ptr<BlockState> make_block(LaunchContext& launch, uint64_t linear, std::unique_ptr<BlockState> spare);
BlockResult run_block(BlockState& block, Executor& executor, uint64_t budget);
void report_deadlock(BlockState& block, Executor& executor);  // raises a fault: its warps wait or poll for ever
BlockResult run_block_by_seed(BlockState& block, Executor& executor, uint64_t budget);

// machine.cpp: runs one warp until it waits, polls, ends or has used its budget.
enum class WarpResult : uint8_t { kBudget, kPolled, kBlocked, kFinished, kFaulted };
WarpResult run_warp(WarpState& w, Executor& executor, int64_t& budget);

// frames.cpp
Frame* enter_frame(WarpState& w, const Code& code, Frame* parent, uint32_t lanes, uint32_t return_pc,
                   const CallSite* site);
void renew_frame(WarpState& w, Frame& frame);  // the kernel's frame, for another block of the same launch
void leave_frame(WarpState& w, Frame* frame, uint32_t lanes);
void call_builtin(WarpState& w, const CallSite& site, const Instruction& i, uint32_t lanes, uint32_t local_base);

// barriers.cpp
void arrive_at_barriers(WarpState& w);
bool complete_barriers(BlockState& block);
bool release_warp_barriers(WarpState& w);

void fault_at_lane(Warp& w, const Instruction& i, FaultKind kind, uint32_t lane, uint64_t address, uint32_t bytes,
                   const std::string& why);
void fault_at_instruction(Warp& w, const Instruction& i, FaultKind kind, std::string detail);
const Code& code_of(const Warp& w, const Instruction& i);

}  // namespace ptx::emulator
