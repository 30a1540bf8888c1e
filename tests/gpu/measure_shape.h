// Measures a decoder of a known shape on a device, beside what the analytic model says of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/driver/device_choice.h"

namespace warpchat {

struct BenchPlan {
  std::vector<uint32_t> depths = {0, 4096, 32000};  // positions in the cache before decoding begins
  std::vector<uint32_t> prompts = {512, 4096};
  std::vector<uint32_t> batches = {1, 2, 4, 8, 16, 32, 64};  // sequences
  uint32_t tokens = 64;                                      // decoded in each test
  uint32_t rounds = 3;                                       // of each test: the median counts
  std::string predicted_gpu;                                 // of the model; empty: the device itself
  bool times_kernels = true;                                 // one by one, and the phases of the persistent decoder
};

// read_ceiling: bytes per second that the device's memory was measured to give. What the device has no memory for is
// left out, and said so.
void measure_shape(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling);

}  // namespace warpchat
