// Instructions of a kernel, counted: it runs in the emulator over buffers of zeros.
#pragma once
#include <cstdint>

#include "ptx/kernel.h"

namespace warpchat {

// What is launched, and what its numbers are: those that are in memory, and those that are parameters.
struct LaunchSizes {
  ptx::Dimensions blocks;
  uint32_t position = 0;                  // of every column
  uint32_t rows = 0, k = 0, columns = 1;  // rows: of the first product, and the others have none
  uint32_t format = 0;                    // its number, of a kernel that takes several
  bool normalises = false;                // where a kernel takes a gamma that may be null
  uint64_t most_blocks = UINT64_MAX;      // at least one: that run
};

struct InstructionCount {  // of warps; of a region: of the named one of the text
  uint64_t all = 0, of_region = 0;
  uint64_t loads_of_region = 0;  // among them, from device memory
};

// Error for a kernel that does not end well.
InstructionCount count_instructions(const ptx::Kernel& kernel, const LaunchSizes& sizes, const char* region = nullptr);

}  // namespace warpchat
