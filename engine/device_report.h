// What a device reports to a profiler besides calls: memory by purpose, and kernel text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace warpchat {

struct MemoryUse {
  std::string purpose;  // "weights", "KV cache", "activations"
  uint64_t bytes;
};

// Launch shape and text of a kernel. The text outlives the device.
struct KernelText {
  std::string name;                        // same as OperationProfile::name
  std::string launch;                      // "480 blocks of 256 threads, 12.0 KiB shared memory"
  std::shared_ptr<const std::string> ptx;  // never null
};

}  // namespace warpchat
