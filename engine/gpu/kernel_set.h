// The kernels of a pass on one device: compiled as a few modules, several at once, and found again by name.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/driver/device_task.h"
#include "engine/driver/module.h"

namespace warpchat {

class KernelSet {
 public:
  // Kernels of equal name are one kernel. Starts to compile, each module on a thread of its own, and returns.
  KernelSet(ContextPointer context, std::vector<ptx::Kernel> kernels);

  // The kernel of that name, which must be in the set, once its module is compiled. DriverError, at every look-up, if
  // the driver refused the module's text; DeviceLost.
  const LoadedKernel& operator[](const std::string& name) const;
  bool is_ready() const;  // whether no look-up has to wait

 private:
  struct Place {
    size_t module, index;
  };
  std::vector<DeviceTask<std::unique_ptr<Module>>> modules_;  // whoever destroys the set waits for them
  std::map<std::string, Place> places_;
};

// Into modules of about kModuleLines lines of PTX, which depend on the kernels alone and not on the machine: the
// longest kernel goes where least is so far. At most kMostModules; kernels of equal name once.
constexpr size_t kModuleLines = 1500, kMostModules = 8;
std::vector<std::vector<ptx::Kernel>> split_into_modules(std::vector<ptx::Kernel> kernels);

}  // namespace warpchat
