// First seconds on a device: whether loading, launching and host communication work, and its read bandwidth, which
// bounds everything else.
#pragma once
#include <string>

#include "engine/driver/context.h"

namespace warpchat {

// One row per check. Throws Error at the end if a check failed.
void measure_probe(const std::string& device);

// Bytes per second: the best of several launches over a buffer much larger than any cache.
double read_ceiling(const ContextPointer& context);

}  // namespace warpchat
