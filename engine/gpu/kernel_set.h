// The kernels of a decoder on one device: compiled as one module, found again by name.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/driver/module.h"

namespace warpchat {

class KernelSet {
 public:
  // Kernels of equal name are one kernel. DriverError if the driver refuses the text.
  KernelSet(ContextPointer context, std::vector<ptx::Kernel> kernels);

  const LoadedKernel& operator[](const std::string& name) const { return module_.kernel(index_.at(name)); }
  const Module& module() const { return module_; }

 private:
  Module module_;
  std::map<std::string, size_t> index_;
};

}  // namespace warpchat
