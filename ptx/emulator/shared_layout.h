// Where the shared variables of a module lie in a block's shared memory, and how much of it each kernel needs.
// A kernel pays for the variables that it and the functions it may call use; those of other kernels may overlap them.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

struct SharedLayout {
  std::unordered_map<const Variable*, uint64_t> offsets;      // of sized .shared variables, module's and functions'
  std::unordered_map<const SyntaxFunction*, uint64_t> bytes;  // of entries
};

SharedLayout lay_out_shared(const SyntaxModule& module);

}  // namespace ptx::emulator
