// Time stamps of the persistent decoder's blocks: the duration of every phase and of the wait after it.
#pragma once
#include <string>

#include "engine/decoder.h"
#include "engine/gpu/gpu_steps.h"

namespace warpchat {

// Decodes several tokens after `depth` positions, which must be in the cache. Every block records stamps, which slows
// it. One row per phase: means over tokens and layers, without the outermost twentieths.
void measure_phases(const std::string& shape, const std::string& device, Decoder& decoder, Steps& steps, uint32_t depth,
                    uint32_t tokens);

}  // namespace warpchat
