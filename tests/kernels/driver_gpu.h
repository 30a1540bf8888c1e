// The device that WARPCHAT_TEST_DEVICE names, through its driver: for kernel tests, which otherwise call the emulator's
// machine with its checks and counters. Its buffers are pinned host memory, which host and device know by one address,
// so that a test reads and writes them as it does the emulator's.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/driver/module.h"

namespace warpchat {

class DriverGpu {
 public:
  static std::unique_ptr<DriverGpu> if_asked_for();  // null where the emulator's machine is to be used

  // Aligned to kAlignment; freed with this object.
  void* allocate(uint64_t n_bytes);
  // parameters: packed as the kernel lists them. "" or what went wrong. A kernel is compiled once a process.
  std::string launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters);

 private:
  static constexpr uint64_t kAlignment = 4096, kSlabBytes = 4 << 20;
  explicit DriverGpu(ContextPointer context) : context_(std::move(context)), stream_(context_) {}
  ContextPointer context_;
  Stream stream_;
  std::vector<HostMemory> slabs_;  // one after the other: pinning takes long
  uint64_t used_ = 0;              // of the last
};

}  // namespace warpchat
