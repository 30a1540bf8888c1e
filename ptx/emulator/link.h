// Links separately compiled modules into one.
#pragma once

#include <vector>

#include "ptx/emulator/link_input.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

// modules[i] was parsed from inputs[i]. Declarations are replaced by visible definitions of other modules. The first of
// several weak definitions wins, and module-private names stay separate. The newest version and target apply. Throws
// LoadError for undefined names, and for duplicate or conflicting definitions.
SyntaxModule link(std::vector<SyntaxModule> modules, const std::vector<LinkInput>& inputs);

}  // namespace ptx::emulator
