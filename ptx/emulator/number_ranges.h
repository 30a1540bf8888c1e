// Which numbers instructions take where they take one; registers in the same place are as free as they are in PTX.
#pragma once

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

void check_numbers(const Statement& s);  // throws ParseProblem

}  // namespace ptx::emulator
