// The kernels that a device has had compiled so far, for whoever wants to read them on another thread.
#pragma once
#include <mutex>
#include <vector>

#include "engine/device_report.h"
#include "engine/driver/module.h"

namespace warpchat {

class KernelTexts {
 public:
  // Once for each name. blocks: of its launches; the last ones given count.
  void add(const LoadedKernel& kernel, ptx::Dimensions blocks);
  void add(const LoadedKernel& kernel) { add(kernel, kernel.kernel().launch.blocks); }
  std::vector<KernelText> list() const;  // in the order of their first add; copies no text

 private:
  mutable std::mutex mutex_;
  std::vector<KernelText> texts_;
};

// "480 blocks of 256 threads, 12.0 KiB shared memory, all resident"
std::string describe_launch(const ptx::Kernel& kernel, ptx::Dimensions blocks);

}  // namespace warpchat
