// From arguments to an exit code: 0, 1 error, 2 usage, 130 interrupted.
#pragma once
#include <string>
#include <vector>

#include "app/settings/options.h"

namespace warpchat {

// arguments: without the program's name. Every error is one line "NAME: sentence" on standard error.
int run_program(std::vector<std::string> arguments);

// The same for arguments that are parsed already.
int run_program(const ParsedOptions& parsed);

}  // namespace warpchat
