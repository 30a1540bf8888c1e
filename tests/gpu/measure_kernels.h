// Each kernel of a token by itself: what the driver's compiler made of it, what it keeps in flight, and what it
// reaches.
#pragma once
#include <string>

#include "engine/decoder.h"
#include "engine/driver/device_choice.h"
#include "engine/gpu/gpu_steps.h"
#include "tests/gpu/predictions.h"

namespace warpchat {

// Every matrix product of a token, in a graph of launches over weights that are never the same twice within some 500
// MB, so that no cache has them: time, bytes a second, and the model's prediction.
void measure_products(const std::string& name, const ModelShape& shape, const DeviceChoice& device,
                      const Predictions& predictions);

// All kernels of some tokens behind `depth` positions, which must be in the cache, launched in a stream with an event
// behind each: the gap between launches is in the times.
void measure_kernels_in_a_stream(const std::string& name, const std::string& device, Decoder& decoder, Steps& steps,
                                 uint32_t depth, uint32_t tokens, const Predictions& predictions);

}  // namespace warpchat
