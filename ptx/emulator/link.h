// Modules that were compiled apart become one: what one declares, another defines.
#pragma once

#include <vector>

#include "ptx/emulator/link_input.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

// modules[i] was parsed from inputs[i]. Declarations are replaced by the definitions that other modules make visible,
// of weak ones the first is taken, and names that only their own module sees stay apart. The newest version and target
// hold for all. Throws LoadError: what is used and defined nowhere, what is defined twice or under another signature.
SyntaxModule link(std::vector<SyntaxModule> modules, const std::vector<LinkInput>& inputs);

}  // namespace ptx::emulator
