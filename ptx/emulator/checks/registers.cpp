// The check for registers that a thread reads before writing.
#include <bit>

#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/guard.h"

namespace ptx::emulator {
namespace {

using Tracked = TrackedInstruction;

uint32_t& word(Warp& w, uint32_t offset) { return *reinterpret_cast<uint32_t*>(w.registers + offset); }

// Lanes whose generic address is in the thread's own local memory, where an undefined value is harmless.
uint32_t local_lanes(Warp& w, const Instruction& i) {
  if ((static_cast<Space>(i.flags >> access::kSpaceShift & 7)) != Space::generic || i.a == kNoColumn) return 0;
  uint32_t lanes = 0;
  const uint64_t* addresses = reinterpret_cast<const uint64_t*>(w.registers + i.a);
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint64_t address = addresses[l] + static_cast<uint64_t>(i.immediate);
    lanes |= address - kLocalWindow < kWindowBytes ? 1u << l : 0;
  }
  return lanes;
}

// Lanes in which the results are defined.
uint32_t defined_lanes(Warp& w, const Instruction& i, const Tracked& t) {
  uint32_t all = kAllLanes, any = 0, first = kAllLanes, second = kAllLanes;
  for (const Tracked::Source& s : t.sources) {
    const uint32_t lanes = word(w, s.word);
    if (s.role == Tracked::kFirst) first = lanes;
    if (s.role == Tracked::kSecond) second = lanes;
    if (s.role != Tracked::kPassed) continue;
    all &= lanes;
    any |= lanes;
  }
  switch (t.rule) {
    case Tracked::kAll:
      return all;
    case Tracked::kAny:
      return t.has_other_source ? kAllLanes : any | all;
    case Tracked::kSelect: {
      const uint32_t choice = *reinterpret_cast<const uint32_t*>(w.registers + i.c) ^ i.flags;
      return all & ((choice & first) | (~choice & second));
    }
    default:
      return kAllLanes;
  }
}

void run_tracked(Warp& w, const Instruction& i, uint32_t lanes, bool full) {
  const Code& code = code_of(w, i);
  const Tracked& t = code.tracked[code.tracked_of[i.index] - 1];
  LaunchChecks* checks = w.block->launch->checks;  // null if the launch is only counted
  if (checks && !checks->registers(w, i, code, lanes)) return;
  (full ? t.handler.full : t.handler.masked)(w, i);
}

}  // namespace

// False if a needed register is undefined; `lanes` execute the instruction.
bool LaunchChecks::registers(Warp& w, const Instruction& i, const Code& code, uint32_t lanes) {
  if (!checks_.uninitialised || code.tracked_of.empty() || code.tracked_of[i.index] == 0) return true;
  const Tracked& t = code.tracked[code.tracked_of[i.index] - 1];
  const uint32_t guarded = guard_lanes(w, i) & lanes;
  for (const Tracked::Source& s : t.sources) {
    if (s.role < Tracked::kNeeded) continue;
    uint32_t missing = (s.role == Tracked::kGuard ? lanes : guarded) & ~word(w, s.word);
    if (missing != 0 && s.role == Tracked::kStored) missing &= ~local_lanes(w, i);
    if (missing == 0) continue;
    const uint32_t active = w.active;
    w.active = missing;
    fault_at_instruction(w, i, FaultKind::kUninitialised, "reads " + s.name + ", which was never written");
    w.active = active;
    return false;
  }
  const uint32_t defined = t.results.empty() ? 0 : defined_lanes(w, i, t);
  for (uint32_t result : t.results) word(w, result) = (word(w, result) & ~guarded) | (defined & guarded);
  return true;
}

void tracked_full(Warp& w, const Instruction& i) { run_tracked(w, i, kAllLanes, true); }
void tracked_masked(Warp& w, const Instruction& i) { run_tracked(w, i, w.active, false); }

}  // namespace ptx::emulator
