// NVIDIA's assembler, if the CUDA toolkit is installed.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ptx/target.h"

namespace ptx::testing {

// The path of ptxas, from PATH or /usr/local/cuda/bin; empty if there is none.
std::string find_ptxas();

struct Assembly {
  bool accepted = false;
  std::set<int> error_lines;  // of the text, from 1
  std::string output;         // includes warnings of spills
};
Assembly assemble(const std::string& text, Target target);

// What kernels are assembled for: with $WARPCHAT_FULL_TESTS every target; else without sm_86 and sm_89, which have
// sm_80's text, and sm_100, which has sm_90's.
std::vector<Target> assembled_targets();

}  // namespace ptx::testing
