// Each kernel of a token by itself: what the driver's compiler made of it, its bytes in flight, and the rate it
// reaches.
#pragma once
#include <string>

#include "engine/decoder.h"
#include "engine/driver/device_choice.h"
#include "engine/gpu/gpu_steps.h"
#include "tests/gpu/predictions.h"

namespace warpchat {

// Every matrix product of a token, as a graph of launches. Weights repeat only after some 500 MB, so no cache holds
// them. Reports time, bandwidth, and the speed model's prediction.
void measure_products(const std::string& name, const ModelShape& shape, const DeviceChoice& device,
                      const Predictions& predictions);

// All kernels of several tokens after `depth` positions, which must be in the cache. They are launched in a stream with
// an event after each, so times include the gap between launches.
void measure_kernels_in_a_stream(const std::string& name, const std::string& device, Decoder& decoder, Steps& steps,
                                 uint32_t depth, uint32_t tokens, const Predictions& predictions);

}  // namespace warpchat
