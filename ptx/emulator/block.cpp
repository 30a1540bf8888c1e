// Blocks: how they start and how their warps are scheduled.
#include "ptx/emulator/block.h"

#include <algorithm>
#include <cstring>

namespace ptx::emulator {
namespace {

constexpr int64_t kWarpSlice = 4096;  // instructions per turn of a warp

void start_warp(BlockState& block, WarpState& w, uint32_t index, uint32_t threads) {
  LaunchContext& launch = *block.launch;
  static_cast<Warp&>(w) = Warp{};
  w.warp_index = index;
  w.block = &block;
  w.shared = block.shared.get();
  w.shared_bytes = block.shared_bytes;
  w.parameters = launch.request.parameters.data();
  w.parameter_bytes = static_cast<uint32_t>(launch.request.parameters.size());
  w.jitter = launch.request.options.jitter ? launch.request.options.seed * 2 + 1 : 0;
  const uint32_t lanes = std::min(kLanes, threads - index * kLanes);
  w.all_lanes = w.live = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
  Frame* frame;
  if (w.frames.empty()) {
    frame = enter_frame(w, *launch.request.code, nullptr, w.live, 0, nullptr);
  } else {
    frame = w.frames.front().get();
    frame->lanes = w.live;
    renew_frame(w, *frame);
  }
  w.local = w.local_memory.data();
  w.local_bytes = static_cast<uint32_t>(w.local_memory.size() / kLanes);
  w.fragments.clear();
  w.fragments.push_back({0, w.live, frame});
}

// All warps wait: opens completed barriers. False if nothing can continue.
bool unblock(BlockState& block, Executor& executor) {
  bool moved = false;
  for (WarpState& w : block.warps) {
    if (w.fragments.empty() || w.has_runnable()) continue;
    arrive_at_barriers(w);
    if (executor.faulted) return true;
    moved = w.has_runnable() || release_warp_barriers(w) || moved;
  }
  return complete_barriers(block) || moved;
}

// Result if no warp can continue by itself.
BlockResult handle_deadlock(BlockState& block, Executor& executor, bool is_polling) {
  if (executor.faulted) return BlockResult::kFaulted;
  if (std::ranges::all_of(block.warps, [](const WarpState& w) { return w.fragments.empty(); }))
    return BlockResult::kDone;
  if (is_polling) return BlockResult::kPolling;
  report_deadlock(block, executor);
  return BlockResult::kFaulted;
}

void begin_turn(BlockState& block, Executor& executor) {
  executor.block = &block;
  for (WarpState& w : block.warps) {
    w.executor = &executor;
    w.instructions = nullptr;
  }
}

}  // namespace

std::unique_ptr<BlockState> make_block(LaunchContext& launch, uint64_t linear, std::unique_ptr<BlockState> spare) {
  auto block = spare ? std::move(spare) : std::make_unique<BlockState>();
  block->launch = &launch;
  block->linear = linear;
  const Dim3& grid = launch.request.grid;
  block->index[0] = static_cast<uint32_t>(linear % grid.x);
  block->index[1] = static_cast<uint32_t>(linear / grid.x % grid.y);
  block->index[2] = static_cast<uint32_t>(linear / grid.x / grid.y);
  block->shared_bytes = launch.shared_total;
  for (BarrierState& barrier : block->barriers) barrier = {};
  block->next_warp = 0;
  block->idle_polls = block->idle_since = 0;
  block->copies.reset();
  const uint32_t threads = static_cast<uint32_t>(launch.request.block.count());
  if (block->warps.empty()) {
    block->shared = aligned_bytes(std::max(64u, launch.shared_total));
    std::memset(block->shared.get(), 0, std::max(64u, launch.shared_total));
    block->warps = std::vector<WarpState>((threads + kLanes - 1) / kLanes);
  }
  for (uint32_t w = 0; w < block->warps.size(); ++w) start_warp(*block, block->warps[w], w, threads);
  return block;
}

// Reports the first fragment that polls, else the first that waits.
void report_deadlock(BlockState& block, Executor& executor) {
  WarpState* stuck = nullptr;
  const Fragment* part = nullptr;
  for (WarpState& w : block.warps) {
    for (const Fragment& f : w.fragments) {
      if (part && (part->state == FragmentState::kRunnable || f.state != FragmentState::kRunnable)) continue;
      stuck = &w;
      part = &f;
    }
  }
  if (!part) return;
  stuck->executor = &executor;
  stuck->registers = part->frame->registers.get();
  stuck->active = part->mask;
  stuck->instructions = part->frame->code->instructions.data();
  std::string detail = "waits for threads that never come";
  if (part->state == FragmentState::kRunnable) {
    detail = "polls in vain: no other thread writes, or only in a scope that excludes it";
  } else if (part->state == FragmentState::kSync) {
    detail = "waits for lanes of its warp that never come";
  } else {
    const BarrierState& barrier = block.barriers[part->barrier];
    detail += ": " + std::to_string(barrier.arrived) + " of " +
              std::to_string(barrier.expected ? barrier.expected : block.live_threads()) + " threads are at barrier " +
              std::to_string(part->barrier);
  }
  fault_at_instruction(*stuck, part->frame->code->instructions[part->pc], FaultKind::kDeadlock, detail);
}

BlockResult run_block_by_seed(BlockState& block, Executor& executor, uint64_t budget) {
  begin_turn(block, executor);
  Choices& choices = *block.launch->choices;
  int64_t left = static_cast<int64_t>(budget);
  uint32_t polled = 0;  // warps that polled since another made progress
  unblock(block, executor);
  while (left > 0 && !executor.faulted) {
    uint32_t ready[kLanes], n = 0;
    for (uint32_t k = 0; k < block.warps.size(); ++k) {
      if (!(polled >> k & 1) && block.warps[k].has_runnable()) ready[n++] = k;
    }
    if (n == 0) {
      if (!unblock(block, executor)) return handle_deadlock(block, executor, polled != 0);
      continue;
    }
    const uint32_t k = ready[choices.below(n)];
    const int64_t slice = choices.slice();
    int64_t rest = slice;
    const WarpResult result = run_warp(block.warps[k], executor, rest);
    left -= std::max<int64_t>(1, slice - rest);
    if (result == WarpResult::kFaulted) return BlockResult::kFaulted;
    polled = result == WarpResult::kPolled ? polled | 1u << k : 0;
  }
  return executor.faulted ? BlockResult::kFaulted : BlockResult::kProgress;
}

BlockResult run_block(BlockState& block, Executor& executor, uint64_t budget) {
  begin_turn(block, executor);
  int64_t left = static_cast<int64_t>(budget);
  while (left > 0) {
    bool any_progress = false, any_polling = false, any_alive = false;
    for (size_t turn = 0; turn < block.warps.size(); ++turn) {
      WarpState& w = block.warps[(block.next_warp + turn) % block.warps.size()];
      if (w.fragments.empty()) continue;
      any_alive = true;
      if (!w.has_runnable()) continue;
      int64_t slice = kWarpSlice;
      const WarpResult result = run_warp(w, executor, slice);
      left -= kWarpSlice - slice;
      if (result == WarpResult::kFaulted || executor.faulted) return BlockResult::kFaulted;
      if (result == WarpResult::kPolled)
        any_polling = true;
      else
        any_progress = true;
    }
    block.next_warp = static_cast<uint32_t>((block.next_warp + 1) % block.warps.size());
    if (!any_alive) return BlockResult::kDone;
    const bool runnable = std::ranges::any_of(block.warps, [](const WarpState& w) { return w.has_runnable(); });
    if (!any_progress || !runnable) {
      const bool opened = unblock(block, executor);
      if (executor.faulted) return BlockResult::kFaulted;
      if (opened) continue;
      return handle_deadlock(block, executor, any_polling || runnable);
    }
    if (any_polling) unblock(block, executor);
  }
  return executor.faulted ? BlockResult::kFaulted : BlockResult::kProgress;
}

}  // namespace ptx::emulator
