// Counts a kernel's instructions: the kernel runs in the emulator over buffers of zeros.
#pragma once
#include <cstdint>

#include "ptx/kernel.h"

namespace warpchat {

// A launch and its numbers, both those in memory and those that are parameters.
struct LaunchSizes {
  ptx::Dimensions blocks;
  uint32_t position = 0;                  // of every column
  uint32_t rows = 0, k = 0, columns = 1;  // rows: of the first product, and the others have none
  uint32_t format = 0;                    // its number, for a kernel that takes several
  bool normalises = false;                // for a kernel that takes a gamma that may be null
  uint64_t max_blocks = UINT64_MAX;       // that run; at least one
};

struct InstructionCount {  // warp instructions, of the kernel and of a named region of its PTX
  uint64_t all = 0, of_region = 0;
  uint64_t loads_of_region = 0;  // from device memory
};

// Error for a kernel that does not end well.
InstructionCount count_instructions(const ptx::Kernel& kernel, const LaunchSizes& sizes, const char* region = nullptr);

}  // namespace warpchat
