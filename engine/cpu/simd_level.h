// Which table of kernels this machine runs.
#pragma once
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels.h"

namespace warpchat {

// The tables this machine can run, best first; never empty.
std::vector<const CpuKernels*> usable_kernels();

// The best one if name is empty, else the one named. Error with the list if the machine has none of that name.
const CpuKernels& choose_kernels(const std::string& name);

// The kernels of `narrow`, and `wide` for many columns.
CpuKernels with_wide(const CpuKernels& narrow, const WideKernels& wide, const char* name, const char* shown);

}  // namespace warpchat
