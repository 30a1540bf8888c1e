// Ranges of immediates that instructions accept; registers are not restricted.
#pragma once

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

void check_numbers(const Statement& s);  // throws ParseProblem

}  // namespace ptx::emulator
