// Loads that another load has fetched for: they run what Code::inner holds only where it could not.
#pragma once

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

void grouped_full(Warp& w, const Instruction& i);
void grouped_masked(Warp& w, const Instruction& i);

}  // namespace ptx::emulator
