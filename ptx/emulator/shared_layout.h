// Offsets of a module's shared variables, and the shared memory each kernel needs. A kernel only pays for variables
// that it, or functions it may call, use; other kernels' variables may overlap them.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

struct SharedLayout {
  std::unordered_map<const Variable*, uint64_t> offsets;      // sized .shared variables of the module and its functions
  std::unordered_map<const SyntaxFunction*, uint64_t> bytes;  // of entries
};

SharedLayout lay_out_shared(const SyntaxModule& module);

}  // namespace ptx::emulator
