// An extension of the Driver API: counters of launches on emulated devices.
//
//   count_launches(true);
//   ... launches ..., cuStreamSynchronize
//   for (const KernelCounters& k : take_counters()) show(k.kernel, k.counters.loads.sectors / k.launches);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/emulator/counters.h"

namespace ptx::emulator::driver {

struct KernelCounters {
  std::string kernel;
  uint64_t launches = 0;
  Counters counters;  // sums over the launches; tags merged by name
};

// Applies to launches that begin later. Counting slows a launch down by a factor of 1.5 or more.
void count_launches(bool on);

// Counters of launches that have ended since the last call, per kernel, in order of first end. A launch is included
// once its stream, or an event after it, has been synchronised.
std::vector<KernelCounters> take_counters();

// Used by the device: whether to count, and a launch's counters.
bool launches_are_counted();
void keep_counters(const std::string& kernel, const Counters& counters);

}  // namespace ptx::emulator::driver
