// The first seconds on a device: whether loading, launching and talking to it work at all, and the rate that bounds
// everything else.
#pragma once
#include <string>

#include "engine/driver/context.h"

namespace warpchat {

// A row a check. Error at the end if one of them failed.
void measure_probe(const std::string& device);

// Bytes per second, the best of some launches over a buffer far larger than any cache.
double read_ceiling(const ContextPointer& context);

}  // namespace warpchat
