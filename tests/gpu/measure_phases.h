// The time stamps of the persistent decoder's blocks: what every phase takes, and every wait behind it.
#pragma once
#include <string>

#include "engine/decoder.h"
#include "engine/gpu/gpu_steps.h"

namespace warpchat {

// Decodes some tokens behind `depth` positions, which must be in the cache, with every block keeping time: slower than
// without. A row a phase, means over tokens and layers without the twentieth at either end.
void measure_phases(const std::string& shape, const std::string& device, Decoder& decoder, Steps& steps, uint32_t depth,
                    uint32_t tokens);

}  // namespace warpchat
