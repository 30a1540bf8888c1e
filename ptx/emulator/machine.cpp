// The warp machine: fragments of lanes run basic blocks, split at branches, and merge at block heads. The fragment
// furthest behind in reverse post-order runs, so that lanes wait for each other where paths join. A fragment that ran
// long is held, so that every lane makes progress even inside a spin lock.
#include <algorithm>
#include <bit>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/guard.h"

namespace ptx::emulator {
namespace {

constexpr int64_t kHoldAfter = 2048;  // instructions a fragment runs while others of its warp could

uint32_t order_of(const Code& code, uint32_t pc) { return code.blocks[code.block_of[pc]].order; }

// Whether a is behind b: an inner activation before its caller's continuation, else by order in the common function.
bool is_behind(const Fragment& a, const Fragment& b) {
  const Frame *x = a.frame, *y = b.frame;
  uint32_t x_pc = a.pc, y_pc = b.pc;
  while (x->depth > y->depth) x_pc = x->return_pc - 1, x = x->parent;
  while (y->depth > x->depth) y_pc = y->return_pc - 1, y = y->parent;
  while (x != y && x->parent) {
    x_pc = x->return_pc - 1, x = x->parent;
    y_pc = y->return_pc - 1, y = y->parent;
  }
  const uint32_t x_order = order_of(*x->code, x_pc), y_order = order_of(*y->code, y_pc);
  if (x_order != y_order) return x_order < y_order;
  if (x_pc != y_pc) return x_pc < y_pc;
  return a.frame->depth > b.frame->depth;
}

// Sometimes picks another fragment than `best`: rarely, since lanes separated by chance may take long to merge.
int pick_by_seed(WarpState& w, int best) {
  const uint32_t n = static_cast<uint32_t>(w.fragments.size());
  if (n == 1) return best;
  Choices& choices = *w.block->launch->choices;
  if (!choices.one_in(8)) return best;
  const uint32_t other = choices.below(n);
  const Fragment& f = w.fragments[other];
  return f.state == FragmentState::kRunnable && !f.held ? static_cast<int>(other) : best;
}

// Index of the fragment to run, or -1.
int pick(WarpState& w) {
  int best = -1;
  bool any_held = false;
  for (int k = 0; k < static_cast<int>(w.fragments.size()); ++k) {
    const Fragment& f = w.fragments[static_cast<size_t>(k)];
    if (f.state != FragmentState::kRunnable) continue;
    if (f.held)
      any_held = true;
    else if (best < 0 || is_behind(f, w.fragments[static_cast<size_t>(best)]))
      best = k;
  }
  if (best >= 0 && w.block->launch->choices) return pick_by_seed(w, best);
  if (best >= 0 || !any_held) return best;
  for (Fragment& f : w.fragments) f.held = false;
  return pick(w);
}

// Fragment `current` continues without considering others while it is before this order.
uint32_t order_to_stop_at(const WarpState& w) {
  if (w.fragments.size() == 1) return ~0u;
  if (w.block->launch->choices) return 0;
  const Fragment& f = w.fragments[w.current];
  uint32_t order = ~0u;
  for (const Fragment& g : w.fragments) {
    if (&g == &f || g.state == FragmentState::kArrived) continue;
    if (g.frame != f.frame) return 0;
    order = std::min(order, order_of(*g.frame->code, g.pc));
  }
  return order;
}

void select(WarpState& w, Executor& executor, const Fragment& f) {
  const Code& code = *f.frame->code;
  const bool observed = executor.launch->observes;
  const Instruction* instructions = observed ? code.observed_instructions.data() : code.instructions.data();
  w.registers = f.frame->registers.get();
  w.active = f.mask;
  if (w.instructions == instructions) return;
  w.instructions = instructions;
  w.inner = observed ? code.observed_inner.data() : code.inner.data();
  w.operands = code.operands.data();
  w.groups = code.load_groups.data();
  w.grouped_loads = code.grouped_loads.data();
  const size_t n = code.instructions.size();
  auto& ranges = executor.ranges[&code];
  if (ranges.size() != 2 * n) ranges.resize(2 * n);
  w.ranges = ranges.data();
  w.granted = w.ranges + n;
  w.local_unseen = !executor.counts;
  if (executor.launch->checks) executor.launch->checks->enter(w, code);
}

// Merges fragment k with another at the same place. Returns whether it did; the other's slot is then removed.
bool merge(WarpState& w, size_t k) {
  if (w.fragments.size() == 1 || w.fragments[k].alone) return false;
  bool merged = false;
  for (size_t other = 0; other < w.fragments.size();) {
    Fragment& f = w.fragments[k];
    Fragment& g = w.fragments[other];
    if (other == k || g.pc != f.pc || g.frame != f.frame || g.state == FragmentState::kArrived) {
      ++other;
      continue;
    }
    f.mask |= g.mask;
    f.held = f.held && g.held;
    f.state = FragmentState::kRunnable;
    w.fragments[other] = w.fragments.back();
    if (k == w.fragments.size() - 1) k = other;
    w.fragments.pop_back();
    merged = true;
    other = 0;
  }
  w.current = static_cast<uint32_t>(k);
  return merged;
}

void split(WarpState& w, Fragment& f, uint32_t lanes, uint32_t pc) {
  Fragment other = f;
  other.mask = lanes;
  other.pc = pc;
  f.mask &= ~lanes;
  w.fragments.push_back(other);
}

// Lanes exit. True if the fragment becomes empty.
bool exit_lanes(WarpState& w, size_t k, uint32_t lanes) {
  Fragment& f = w.fragments[k];
  w.live &= ~lanes;
  leave_frame(w, f.frame, lanes);
  for (Fragment& other : w.fragments) {
    if (other.state == FragmentState::kSync) other.state = FragmentState::kRunnable;
  }
  f.mask &= ~lanes;
  if (f.mask) return false;
  w.fragments[k] = w.fragments.back();
  w.fragments.pop_back();
  return true;
}

void branch_indexed(WarpState& w, Fragment& f, const Instruction& i, uint32_t lanes) {
  const auto& table = f.frame->code->jump_tables[static_cast<size_t>(i.immediate)];
  const uint32_t* index = reinterpret_cast<const uint32_t*>(w.registers + i.a);
  uint32_t left = lanes;
  std::vector<std::pair<uint32_t, uint32_t>> parts;  // target, lanes
  while (left) {
    const uint32_t first = index[std::countr_zero(left)];
    uint32_t same = 0;
    for (uint32_t l = 0; l < kLanes; ++l) same |= (left >> l & 1) && index[l] == first ? 1u << l : 0;
    left &= ~same;
    if (first >= table.size()) {
      fault_at_instruction(
          w, i, FaultKind::kInvalidCall,
          "branches to entry " + std::to_string(first) + " of a table of " + std::to_string(table.size()));
      return;
    }
    parts.emplace_back(table[first], same);
  }
  f.pc = parts[0].first;
  for (size_t p = 1; p < parts.size(); ++p) split(w, w.fragments[w.current], parts[p].second, parts[p].first);
}

void enter(WarpState& w, size_t k, const Instruction& i, const Code* callee, const CallSite& site, uint32_t lanes) {
  Fragment& f = w.fragments[k];
  Frame* caller = f.frame;
  if (callee->parameters.size() != site.arguments.size() || callee->results.size() != site.results.size()) {
    return fault_at_instruction(w, i, FaultKind::kInvalidCall,
                                "calls " + callee->name + ", whose parameters differ from the prototype's");
  }
  Frame* frame = enter_frame(w, *callee, caller, lanes, i.index + 1, &site);
  if (!frame)
    return fault_at_instruction(w, i, FaultKind::kStackOverflow, "calls " + callee->name + " beyond the stack's limit");
  f.frame = frame;
  f.pc = 0;
}

void call(WarpState& w, Fragment& f, const Instruction& i) {
  const CallSite& site = f.frame->code->calls[static_cast<size_t>(i.immediate)];
  if (site.builtin) {
    call_builtin(w, site, i, f.mask, f.frame->local_base);
    f.pc = i.index + 1;
    return;
  }
  if (site.callee) return enter(w, w.current, i, site.callee, site, f.mask);
  const uint64_t* targets = reinterpret_cast<const uint64_t*>(w.registers + site.target);
  uint32_t left = f.mask;
  while (left) {
    const uint64_t target = targets[std::countr_zero(left)];
    uint32_t same = 0;
    for (uint32_t l = 0; l < kLanes; ++l) same |= (left >> l & 1) && targets[l] == target ? 1u << l : 0;
    left &= ~same;
    const Code* callee = w.block->launch->module->function_at(target);
    if (!callee || callee->is_entry)
      return fault_at_instruction(w, i, FaultKind::kInvalidCall, "calls an address that is no function");
    size_t k = w.current;
    if (left) {
      split(w, w.fragments[k], same, w.fragments[k].pc);
      k = w.fragments.size() - 1;
    }
    enter(w, k, i, callee, site, same);
  }
}

void return_lanes(WarpState& w, Fragment& f, uint32_t lanes) {
  Frame* frame = f.frame;
  const CallSite& site = *frame->site;
  const Code& callee = *frame->code;
  for (size_t r = 0; r < site.results.size(); ++r) {
    const uint32_t from = frame->local_base + callee.results[r].offset,
                   to = frame->parent->local_base + site.results[r].offset;
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      for (uint32_t b = 0; b < site.results[r].bytes; ++b) *local_at(w, l, to + b) = *local_at(w, l, from + b);
    }
  }
  const uint32_t back = frame->return_pc;
  Frame* parent = frame->parent;
  if (lanes != f.mask) {
    Fragment other = f;
    other.mask = f.mask & ~lanes;
    other.pc = f.pc + 1;
    f.mask = lanes;
    w.fragments.push_back(other);
  }
  Fragment& self = w.fragments[w.current];
  self.frame = parent;
  self.pc = back;
  frame->lanes &= ~lanes;
  if (frame->lanes == 0) leave_frame(w, frame, 0);
}

enum class After : uint8_t { kContinue, kReselect, kYield };

// A masked operation at f.pc needs absent lanes, so the fragment may wait, even if its own lanes arrived separately.
// Lanes whose partners are all present continue alone.
void wait_for_lanes(WarpState& w) {
  const uint32_t ready = w.ready;
  w.stop = false;
  w.ready = 0;
  if (ready == 0) {
    if (!merge(w, w.current)) w.fragments[w.current].state = FragmentState::kSync;
    return;
  }
  Fragment& f = w.fragments[w.current];
  split(w, f, f.mask & ~ready, f.pc);
  w.fragments.back().state = FragmentState::kSync;
  w.fragments[w.current].alone = true;
}

// A fragment that ran long while others could is moved behind them.
void account(WarpState& w, int64_t ran) {
  Fragment& f = w.fragments[w.current];
  f.alone = false;
  if (w.fragments.size() == 1) return;
  f.ran += ran;
  if (f.ran < kHoldAfter) return;
  f.ran = 0;
  f.held = true;
}

// Straight-line code from pc to the block's end; false if a masked operation must wait (w.stop, pc set to it).
inline bool run_straight(WarpState& w, uint32_t& pc, uint32_t end) {
  const Instruction* i = w.instructions + pc;
  const Instruction* const stop = w.instructions + end;
  if (w.active == kAllLanes) {
    for (; i != stop; ++i) i->full(w, *i);
    pc = end;
    return true;
  }
  for (; i != stop; ++i) {
    i->masked(w, *i);
    if (__builtin_expect(w.stop, 0)) {
      pc = i->index;
      return false;
    }
  }
  pc = end;
  return true;
}

// Charges `count` instructions from `start` on to the turn and to the counters.
inline void count_run(Executor& executor, const Code& code, uint32_t start, uint32_t count, uint32_t n_lanes,
                      int64_t& budget) {
  budget -= count;
  executor.counters.instructions += count;
  executor.counters.lane_instructions += uint64_t{count} * n_lanes;
  if (__builtin_expect(executor.counts != nullptr, 0)) executor.counts->ran(code, start, count, n_lanes);
}

// Runs both paths of a fork in sequence, without separate fragments.
void run_fork(WarpState& w, Executor& executor, const Code& code, const Fork& fork, uint32_t branching,
              int64_t& budget) {
  const uint32_t together = w.active, lanes_of[2] = {together & ~branching, branching};
  for (int side = 0; side < 2; ++side) {
    w.active = lanes_of[side];
    const uint32_t n_lanes = static_cast<uint32_t>(std::popcount(w.active));
    for (uint32_t b : fork.ways[side]) {
      const BasicBlock& block = code.blocks[b];
      uint32_t pc = block.begin;
      run_straight(w, pc, block.end);
      count_run(executor, code, block.begin, block.end - block.begin + (block.has_terminator ? 1 : 0), n_lanes, budget);
      if (w.faulted) return;
    }
  }
  w.active = together;
}

// Splits the lanes of a branch; a fork, which reconverges at once, needs no fragments.
After diverge(WarpState& w, Executor& executor, uint32_t pc, uint32_t branching, int64_t& budget) {
  Fragment& f = w.fragments[w.current];
  const Code& code = *f.frame->code;
  ++executor.counters.divergent_branches;
  if (executor.counts) executor.counts->diverged(code, pc);
  const uint32_t fork = code.fork_of[code.block_of[pc]];
  if (fork != 0 && !executor.launch->choices) {
    f.pc = code.forks[fork - 1].join;
    run_fork(w, executor, code, code.forks[fork - 1], branching, budget);
    return After::kContinue;
  }
  split(w, f, branching, static_cast<uint32_t>(code.instructions[pc].immediate));
  w.fragments[w.current].pc = pc + 1;
  return After::kReselect;
}

// Executes the terminator at `pc` for fragment `current`.
After terminate(WarpState& w, Executor& executor, uint32_t pc, int64_t& budget) {
  Fragment& f = w.fragments[w.current];
  const Instruction& i = f.frame->code->instructions[pc];
  const uint32_t lanes = guard_lanes(w, i) & f.mask;
  f.pc = pc;
  if (LaunchChecks* checks = executor.launch->checks) {
    if (!checks->registers(w, i, *f.frame->code, f.mask)) return After::kReselect;
  }
  switch (i.control) {
    case Control::kBranch: {
      const uint32_t target = static_cast<uint32_t>(i.immediate);
      const bool backward = target <= pc;
      After after = After::kContinue;
      if (lanes == f.mask)
        f.pc = target;
      else if (lanes == 0)
        f.pc = pc + 1;
      else
        after = diverge(w, executor, pc, lanes, budget);
      if (backward && lanes && w.polled) {
        w.polled = false;
        return After::kYield;
      }
      return after;
    }
    case Control::kExit:
      if (lanes == 0) {
        f.pc = pc + 1;
        return After::kReselect;
      }
      f.pc = pc + 1;
      exit_lanes(w, w.current, lanes);
      return After::kReselect;
    case Control::kReturn:
      if (lanes == 0)
        f.pc = pc + 1;
      else
        return_lanes(w, f, lanes);
      return After::kReselect;
    case Control::kCall:
      call(w, f, i);
      return After::kReselect;
    case Control::kBranchIndexed:
      if (lanes != f.mask) split(w, f, f.mask & ~lanes, pc + 1);
      if (lanes == 0) return After::kReselect;
      branch_indexed(w, w.fragments[w.current], i, lanes);
      return After::kReselect;
    case Control::kBarrier:
      f.state = FragmentState::kAtBarrier;
      ++executor.counters.barriers;
      return After::kReselect;
    default:
      if (lanes) fault_at_instruction(w, i, FaultKind::kTrap, "traps");
      f.pc = pc + 1;
      return After::kReselect;
  }
}

}  // namespace

bool WarpState::has_runnable() const {
  return std::ranges::any_of(fragments, [](const Fragment& f) { return f.state == FragmentState::kRunnable; });
}

WarpResult run_warp(WarpState& w, Executor& executor, int64_t& budget) {
  while (true) {
    const int picked = pick(w);
    if (picked < 0) return w.fragments.empty() ? WarpResult::kFinished : WarpResult::kBlocked;
    w.current = static_cast<uint32_t>(picked);
    merge(w, w.current);
    select(w, executor, w.fragments[w.current]);
    const Code& code = *w.fragments[w.current].frame->code;
    uint32_t pc = w.fragments[w.current].pc;
    const uint32_t n_lanes = static_cast<uint32_t>(std::popcount(w.active)), stop_order = order_to_stop_at(w);
    while (true) {
      const BasicBlock& block = code.blocks[code.block_of[pc]];
      const uint32_t start = pc;
      const bool through = run_straight(w, pc, block.end);
      const uint32_t ran = pc - start + (through && block.has_terminator ? 1 : 0);
      count_run(executor, code, start, ran, n_lanes, budget);
      if (__builtin_expect(w.faulted, 0)) return WarpResult::kFaulted;
      Fragment& f = w.fragments[w.current];
      f.pc = pc;
      if (!through) {
        wait_for_lanes(w);
        break;
      }
      account(w, ran);
      const After after = block.has_terminator ? terminate(w, executor, pc, budget) : After::kContinue;
      if (w.faulted) return WarpResult::kFaulted;
      if (after == After::kYield) {
        if (w.fragments.size() == 1) return WarpResult::kPolled;
        w.fragments[w.current].held = true;
        if (std::ranges::all_of(w.fragments,
                                [](const Fragment& g) { return g.held || g.state != FragmentState::kRunnable; })) {
          return WarpResult::kPolled;
        }
        break;
      }
      if (budget <= 0) return WarpResult::kBudget;
      if (after == After::kReselect) break;
      const Fragment& next = w.fragments[w.current];
      pc = next.pc;
      if (w.fragments.size() > 1 && (next.held || order_of(code, pc) >= stop_order)) break;
    }
  }
}

}  // namespace ptx::emulator
