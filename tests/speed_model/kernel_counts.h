// Counts a kernel's instructions: the kernel runs in the emulator over buffers of zeros.
#pragma once
#include <cstdint>

#include "ptx/kernel.h"

namespace warpchat {

// A launch and its numbers, in memory or as parameters.
struct LaunchSizes {
  ptx::Dimensions blocks;
  uint32_t position = 0;                  // the same for every column
  uint32_t rows = 0, k = 0, columns = 1;  // rows: of the first product; the others have none
  uint32_t format = 0;                    // format number, for kernels that accept several
  bool normalises = false;                // for kernels whose gamma may be null
  uint64_t max_blocks = UINT64_MAX;       // limit of blocks to run; at least one
};

struct InstructionCount {  // warp instructions: the kernel, and a named region of its PTX
  uint64_t all = 0, of_region = 0;
  uint64_t loads_of_region = 0;  // from device memory
};

// Throws Error if the kernel faults.
InstructionCount count_instructions(const ptx::Kernel& kernel, const LaunchSizes& sizes, const char* region = nullptr);

}  // namespace warpchat
