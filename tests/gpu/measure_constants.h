// A device's latencies, gaps and rates: the constants that the speed model of a decoder needs.
#pragma once
#include <string>

namespace warpchat {

// device: a name as for --device; the process must not have started its driver. The driver's compute cache must be off,
// or the compiler's time is not measured. On the emulator, the values are the emulator's.
void measure_constants(const std::string& device);

}  // namespace warpchat
