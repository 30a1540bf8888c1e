// Block barriers, counted in threads, and bar.warp.sync across diverged fragments.
#include <algorithm>
#include <bit>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/guard.h"

namespace ptx::emulator {
namespace {

uint32_t lane_value(const Fragment& f, uint32_t column) {
  return reinterpret_cast<const uint32_t*>(f.frame->registers.get() + column)[std::countr_zero(f.mask)];
}

const Instruction& instruction_of(const Fragment& f) { return f.frame->code->instructions[f.pc]; }

void give_result(Fragment& f, const BarrierState& barrier) {
  const Instruction& i = instruction_of(f);
  uint8_t* registers = f.frame->registers.get();
  switch (static_cast<BarrierKind>(i.immediate)) {
    case BarrierKind::kPopcount: {
      uint32_t* d = reinterpret_cast<uint32_t*>(registers + i.d);
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (f.mask >> l & 1) d[l] = barrier.popcount;
      }
      break;
    }
    case BarrierKind::kAnd:
    case BarrierKind::kOr: {
      uint32_t& d = *reinterpret_cast<uint32_t*>(registers + i.d);
      const bool truth = static_cast<BarrierKind>(i.immediate) == BarrierKind::kAnd ? barrier.all : barrier.any;
      d = (d & ~f.mask) | (truth ? f.mask : 0);
      break;
    }
    default:
      break;
  }
}

void add_to_reduction(BarrierState& barrier, const Fragment& f) {
  const Instruction& i = instruction_of(f);
  if (i.c == kNoColumn) return;
  uint32_t p = *reinterpret_cast<const uint32_t*>(f.frame->registers.get() + i.c);
  if (i.flags & kBarrierNegated) p = ~p;
  barrier.popcount += static_cast<uint32_t>(std::popcount(p & f.mask));
  barrier.all = barrier.all && (p & f.mask) == f.mask;
  barrier.any = barrier.any || (p & f.mask) != 0;
}

}  // namespace

uint32_t BlockState::live_threads() const {
  uint32_t count = 0;
  for (const WarpState& w : warps) count += static_cast<uint32_t>(std::popcount(w.live));
  return count;
}

// Called when no fragment of the warp can run: fragments before a barrier have merged as far as possible.
void arrive_at_barriers(WarpState& w) {
  for (size_t k = 0; k < w.fragments.size(); ++k) {
    Fragment& f = w.fragments[k];
    if (f.state != FragmentState::kAtBarrier) continue;
    for (size_t other = w.fragments.size(); other-- > k + 1;) {
      Fragment& g = w.fragments[other];
      if (g.state != FragmentState::kAtBarrier || g.pc != f.pc || g.frame != f.frame) continue;
      f.mask |= g.mask;
      w.fragments.erase(w.fragments.begin() + static_cast<std::ptrdiff_t>(other));
    }
    const Instruction& i = instruction_of(f);
    const uint32_t id = lane_value(f, i.a);
    w.registers = f.frame->registers.get();
    w.active = f.mask;
    w.instructions = f.frame->code->instructions.data();
    if (id > 15)
      return fault_at_instruction(w, i, FaultKind::kDivergentBarrier,
                                  "names barrier " + std::to_string(id) + ", the last is 15");
    if ((i.flags & kBarrierAligned) && f.mask != w.live && w.block->launch->request.options.checks.barriers) {
      return fault_at_instruction(w, i, FaultKind::kDivergentBarrier,
                                  "is reached by " + std::to_string(std::popcount(f.mask)) + " of " +
                                      std::to_string(std::popcount(w.live)) + " lanes of its warp");
    }
    BarrierState& barrier = w.block->barriers[id];
    const uint32_t expected = i.b == kNoColumn ? 0 : lane_value(f, i.b);
    if (barrier.arrived != 0 && barrier.expected != expected && w.block->launch->request.options.checks.barriers) {
      return fault_at_instruction(w, i, FaultKind::kDivergentBarrier,
                                  "expects " + std::to_string(expected) + " threads at barrier " + std::to_string(id) +
                                      ", others expect " + std::to_string(barrier.expected));
    }
    if (barrier.arrived == 0) barrier = BarrierState{};
    barrier.expected = expected;
    barrier.arrived += static_cast<uint32_t>(std::popcount(f.mask));
    if (w.block->launch->checks) w.block->launch->checks->arrive(w, id);
    add_to_reduction(barrier, f);
    f.barrier = id;
    f.state = FragmentState::kArrived;
    if (static_cast<BarrierKind>(i.immediate) == BarrierKind::kArrive) {
      f.state = FragmentState::kRunnable;
      ++f.pc;
    }
  }
}

// Opens every barrier with all expected threads; true if one opened.
bool complete_barriers(BlockState& block) {
  bool opened = false;
  const uint32_t live = block.live_threads();
  for (uint32_t id = 0; id < 16; ++id) {
    BarrierState& barrier = block.barriers[id];
    const uint32_t expected = barrier.expected ? barrier.expected : live;
    if (barrier.arrived == 0 || barrier.arrived < expected) continue;
    opened = true;
    for (WarpState& w : block.warps) {
      for (Fragment& f : w.fragments) {
        if (f.state != FragmentState::kArrived || f.barrier != id) continue;
        give_result(f, barrier);
        if (block.launch->checks) block.launch->checks->pass(w, id);
        f.state = FragmentState::kRunnable;
        ++f.pc;
      }
    }
    barrier = BarrierState{};
    if (block.launch->checks) block.launch->checks->reopen(block, id);
  }
  return opened;
}

// Fragments waiting at different bar.warp.sync with the same mask open it together.
bool release_warp_barriers(WarpState& w) {
  uint32_t waiting = 0;
  for (const Fragment& f : w.fragments) {
    if (f.state == FragmentState::kSync && f.frame->code->spellings[f.pc].starts_with("bar.warp")) waiting |= f.mask;
  }
  bool released = false;
  for (Fragment& f : w.fragments) {
    if (!(waiting & f.mask) || f.state != FragmentState::kSync) continue;
    const uint32_t wanted = lane_value(f, instruction_of(f).e) & w.live;
    if (wanted & ~waiting) continue;
    f.state = FragmentState::kRunnable;
    ++f.pc;
    observe_warp_barrier(w, wanted);
    released = true;
  }
  return released;
}

}  // namespace ptx::emulator
