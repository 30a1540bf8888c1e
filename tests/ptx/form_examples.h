// Every row of the instruction table as lines of PTX, to be checked by ptxas and the emulator.
#pragma once
#include <string>
#include <vector>

#include "ptx/instruction_table.h"

namespace ptx::testing {

// The instruction with suitable registers and constants.
std::string example_line(const Form& form, const Signature& signature);

// A kernel with the given lines, the first of them at line `first_line`.
std::string kernel_around(const std::vector<std::string>& lines, Target target, Version version, const std::string& end,
                          int& first_line);

}  // namespace ptx::testing
