// Counts a kernel's instructions: the kernel runs in the emulator over buffers of zeros.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/launch_list.h"

namespace warpchat {

struct LaunchSizes {
  ptx::Dimensions blocks;
  uint32_t position = 0;             // the same for every column
  uint32_t columns = 1;              // with experts, assignments: all of the first expert
  uint64_t max_blocks = UINT64_MAX;  // limit of blocks to run; at least one
};

struct InstructionCount {  // warp instructions: the kernel, and a named region of its PTX
  uint64_t all = 0, of_region = 0;
  uint64_t loads_of_region = 0;  // from device memory
};

// operands: in the order of the kernel's parameters, as operands_of() gives them. None: addresses are of plain memory,
// and the only number is that of columns. Throws Error if the kernel faults.
InstructionCount count_instructions(const ptx::Kernel& kernel, std::span<const Operand> operands,
                                    const LaunchSizes& sizes, const char* region = nullptr);

}  // namespace warpchat
