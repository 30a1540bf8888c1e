// Selects the kernel table for this machine.
#pragma once
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels.h"

namespace warpchat {

// Tables that this machine supports, best first; never empty.
std::vector<const CpuKernels*> usable_kernels();

// The best table if name is empty, else the named one. Throws with the list if the machine lacks it.
const CpuKernels& choose_kernels(const std::string& name);

// Combines the kernels of `narrow` with `wide` for many columns.
CpuKernels with_wide(const CpuKernels& narrow, const WideKernels& wide, const char* name, const char* shown);

}  // namespace warpchat
