// The device for tests of the GPU path: WARPCHAT_TEST_DEVICE, or the emulator. A process makes one context and keeps it
// to the end, because making one on a GPU is slow.
#pragma once
#include <cstdlib>
#include <mutex>

#include "engine/driver/context.h"
#include "engine/driver/device_choice.h"

namespace warpchat {

// The emulator delays loads until the device is idle, as a driver may; with $WARPCHAT_FULL_TESTS it does not.
inline const bool emulator_drains =
    std::getenv("WARPCHAT_FULL_TESTS") == nullptr && setenv("CUDA_EMULATOR_LOADS_DRAIN", "1", /*overwrite=*/0) == 0;

// Counts the contexts that the process makes of a device. A context lives until its last release.
class ContextCount {
 public:
  // The functions of `real` with counted contexts. One table per process.
  static DriverTable counting(const DriverTable& real) {
    real_ = &real;
    DriverTable table = real;
    table.cuDevicePrimaryCtxRetain = retain;
    table.cuDevicePrimaryCtxRelease = release;
    return table;
  }
  static uint64_t made() {
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  static ptx::cuda::CUresult retain(ptx::cuda::CUcontext* context, ptx::cuda::CUdevice device) {
    const std::lock_guard lock(mutex_);
    const ptx::cuda::CUresult code = real_->cuDevicePrimaryCtxRetain(context, device);
    if (code == ptx::cuda::CUDA_SUCCESS && retained_++ == 0) ++made_;
    return code;
  }
  static ptx::cuda::CUresult release(ptx::cuda::CUdevice device) {
    const std::lock_guard lock(mutex_);
    --retained_;
    return real_->cuDevicePrimaryCtxRelease(device);
  }
  static inline std::mutex mutex_;
  static inline const DriverTable* real_ = nullptr;
  static inline uint64_t retained_ = 0, made_ = 0;
};

struct TestDevice {
  DeviceChoice choice;
  ContextPointer context;   // kept; null for the CPU
  uint64_t n_contexts = 1;  // made by this process
  bool has_table() const { return choice.table != nullptr; }
};

// Never destroyed: at exit the driver may be gone already.
inline TestDevice& kept_test_device() {
  static TestDevice& device = *[] {
    const char* name = std::getenv("WARPCHAT_TEST_DEVICE");
    auto* made = new TestDevice{choose_device(name != nullptr ? name : "emulator"), nullptr};
    if (!made->has_table()) return made;
    made->choice.table = new DriverTable(ContextCount::counting(*made->choice.table));
    made->context = Context::open(*made->choice.table, made->choice.gpu);
    return made;
  }();
  return device;
}

inline const DeviceChoice& test_device() { return kept_test_device().choice; }

// For a test that breaks its context: drops the kept one, lets the test break its own, and keeps a third.
inline void drop_test_context() {
  kept_test_device().context.reset();
  ++kept_test_device().n_contexts;
}
inline ContextPointer keep_new_test_context() {
  TestDevice& device = kept_test_device();
  ++device.n_contexts;
  return device.context = Context::open(*device.choice.table, device.choice.gpu);
}

}  // namespace warpchat
