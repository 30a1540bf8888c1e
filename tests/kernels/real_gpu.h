// The GPU that WARPCHAT_TEST_DEVICE=cuda[:N] names, for kernel tests that otherwise run in the emulator. Its buffers
// are pinned host memory, which host and device know by one address, so that a test reads and writes them as it does
// the emulator's.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/driver/module.h"

namespace warpchat {

class RealGpu {
 public:
  static std::unique_ptr<RealGpu> if_asked_for();  // null where the emulator is to be used

  ptx::Target target() const { return context_->device().target(); }
  void* allocate(uint64_t n_bytes);  // page-aligned; freed with this object
  // parameters: packed as the kernel lists them. "" or what went wrong.
  std::string launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters);

 private:
  explicit RealGpu(ContextPointer context) : context_(std::move(context)), stream_(context_) {}
  ContextPointer context_;
  Stream stream_;
  std::vector<HostMemory> buffers_;
};

}  // namespace warpchat
