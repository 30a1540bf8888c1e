// Every row of the instruction table as lines of PTX, for the judges of the table: ptxas and the emulator.
#pragma once
#include <string>
#include <vector>

#include "ptx/instruction_table.h"

namespace ptx::testing {

// The instruction with registers and constants that fit.
std::string example_line(const Form& form, const Signature& signature);

// A kernel of the given lines, the first of which stands in line `first_line`, and an end.
std::string kernel_around(const std::vector<std::string>& lines, Target target, Version version, const std::string& end,
                          int& first_line);

}  // namespace ptx::testing
