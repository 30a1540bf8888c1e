// What the emulator counts of the kernels that it runs in this process; a real GPU has clocks instead.
#pragma once
#include <string>
#include <vector>

#include "engine/profile.h"

namespace warpchat {

// For launches from now on; counting makes them slower.
void count_emulated_launches(bool on);

struct CountedKernel {
  std::string name;
  KernelCounters counters;  // summed over its launches
};

// Since the last call, of launches that a wait for their stream has ended.
std::vector<CountedKernel> take_emulated_counters();

}  // namespace warpchat
