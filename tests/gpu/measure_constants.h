// What a device's latencies, gaps and rates are: the numbers that an analytic model of a decoder's speed needs.
#pragma once
#include <string>

namespace warpchat {

// device: as --device names it, of a process that has not started its driver yet. The driver's cache of compiled
// kernels must be off, or the compiler's time is not measured. On the emulator they are the emulator's numbers.
void measure_constants(const std::string& device);

}  // namespace warpchat
