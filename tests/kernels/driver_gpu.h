// The device WARPCHAT_TEST_DEVICE through its driver, for kernel tests. Without it, they call the emulator's machine
// with its checks and counters. WARPCHAT_TEST_MEMORY selects the memory of a test's buffers:
//   mapped, the default  pinned host memory with one address for host and device; all reads go over the bus, so caches,
//                        atomics and barriers behave differently from device memory
//   device               device memory, with a copy of all buffers in before each launch, and out after it
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/driver/module.h"

namespace warpchat {

class DriverGpu {
 public:
  static std::unique_ptr<DriverGpu> if_asked_for();  // null: use the emulator's machine

  // Aligned to kAlignment; freed with this object.
  void* allocate(uint64_t n_bytes);
  // parameters: packed in the kernel's order. Returns "" or the fault. Each kernel is compiled once per process.
  std::string launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters);

 private:
  static constexpr uint64_t kAlignment = 4096, kSlabBytes = 4 << 20;
  // Carves buffers out of large slabs, because pinning is slow.
  struct Slab {
    HostMemory host;
    DeviceMemory device;  // as large as host, or empty
    uint64_t n_used = 0;  // bytes
  };
  DriverGpu(ContextPointer context, bool has_device_memory)
      : context_(std::move(context)), stream_(context_), has_device_memory_(has_device_memory) {}
  uint64_t device_address(uint64_t address) const;  // translates host addresses; other numbers are unchanged
  void copy_in() const;
  void copy_out() const;
  ContextPointer context_;
  Stream stream_;
  bool has_device_memory_;
  std::vector<Slab> slabs_;
};

}  // namespace warpchat
