// What a device tells a profiler of itself, beside the calls it records: where its memory goes, and its kernels' text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace warpchat {

struct MemoryUse {
  std::string purpose;  // "weights", "KV cache", "activations"
  uint64_t bytes;
};

// How a kernel is launched, and its text, which outlives the device.
struct KernelText {
  std::string name;                        // as OperationProfile::name
  std::string launch;                      // "480 blocks of 256 threads, 12.0 KiB shared memory"
  std::shared_ptr<const std::string> ptx;  // never null
};

}  // namespace warpchat
