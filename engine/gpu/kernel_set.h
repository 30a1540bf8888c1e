// Kernels of a pass, compiled as a few modules in parallel and looked up by name.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/driver/device_task.h"
#include "engine/driver/module.h"

namespace warpchat {

class KernelSet {
 public:
  // Kernels with equal names are the same kernel. Starts one compiler thread per module and returns.
  KernelSet(ContextPointer context, std::vector<ptx::Kernel> kernels);

  // Waits for the module of the kernel, which must be in the set. Every look-up throws DriverError if the driver
  // refused the module, or DeviceLost.
  const LoadedKernel& operator[](const std::string& name) const;
  bool is_ready() const;  // no look-up would wait

 private:
  struct Place {
    size_t module, index;
  };
  std::vector<DeviceTask<std::unique_ptr<Module>>> modules_;  // their destructors wait
  std::map<std::string, Place> places_;
};

// Splits kernels into at most kMaxModules modules of about kModuleLines lines of PTX; equal names count once. The
// longest kernel goes to the shortest module first. The result depends on the kernels alone, not on the machine.
constexpr size_t kModuleLines = 1500, kMaxModules = 8;
std::vector<std::vector<ptx::Kernel>> split_into_modules(std::vector<ptx::Kernel> kernels);

}  // namespace warpchat
