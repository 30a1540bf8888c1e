// Predicated instructions: lanes whose guard holds run Code::inner.
#pragma once

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

inline uint32_t guard_lanes(const Warp& w, const Instruction& i) {
  if (i.guard == kNoGuard) return kAllLanes;
  const uint32_t bits = *reinterpret_cast<const uint32_t*>(w.registers + i.guard);
  return i.guard_negated ? ~bits : bits;
}

void guarded_full(Warp& w, const Instruction& i);
void guarded_masked(Warp& w, const Instruction& i);

}  // namespace ptx::emulator
