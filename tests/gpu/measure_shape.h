// Measures a decoder of a known shape on a device, beside the speed model's predictions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/driver/device_choice.h"

namespace warpchat {

struct BenchPlan {
  std::vector<uint32_t> depths = {0, 4096, 32000};  // positions in the cache before decoding begins
  std::vector<uint32_t> prompts = {512, 4096};
  std::vector<uint32_t> batches = {1, 2, 4, 8, 16, 32, 64};  // numbers of sequences
  uint32_t tokens = 64;                                      // decoded in each test
  uint32_t rounds = 3;                                       // per test; the median counts
  std::string predicted_gpu;                                 // GPU of the speed model; empty: the device itself
  bool times_kernels = true;                                 // each kernel, and the persistent decoder's phases
};

// read_ceiling: measured read bandwidth in bytes per second. Tests for which the device lacks memory are skipped with a
// message.
void measure_shape(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling);

}  // namespace warpchat
