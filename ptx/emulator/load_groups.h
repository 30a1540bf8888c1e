// Loads already fetched by their group's first load; they run Code::inner only if that was not possible.
#pragma once

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

void grouped_full(Warp& w, const Instruction& i);
void grouped_masked(Warp& w, const Instruction& i);

}  // namespace ptx::emulator
