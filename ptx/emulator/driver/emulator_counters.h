// Beside the Driver API, which has no such function: the counters of launches on emulated devices.
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
  Counters counters;  // their sum; its tags by name
};

// For launches that begin from now on. Counting makes a launch slower, by a half to several times as much.
void count_launches(bool on);

// The counted launches that have ended since the last call, by kernel, in order of their first end. A launch is among
// them once its stream has been synchronised, or an event behind it.
std::vector<KernelCounters> take_counters();

// For the device: whether to count, and what a launch counted.
bool launches_are_counted();
void keep_counters(const std::string& kernel, const Counters& counters);

}  // namespace ptx::emulator::driver
