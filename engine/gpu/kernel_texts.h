// Kernels compiled so far; readable from other threads.
#pragma once
#include <mutex>
#include <vector>

#include "engine/device_report.h"
#include "engine/driver/module.h"

namespace warpchat {

class KernelTexts {
 public:
  // Adds a kernel, once per name. blocks: of its launches; the latest value counts.
  void add(const LoadedKernel& kernel, ptx::Dimensions blocks);
  void add(const LoadedKernel& kernel) { add(kernel, kernel.kernel().launch.blocks); }
  std::vector<KernelText> list() const;  // ordered by first add(); copies no text

 private:
  mutable std::mutex mutex_;
  std::vector<KernelText> texts_;
};

// "480 blocks of 256 threads, 12.0 KiB shared memory, all resident"
std::string describe_launch(const ptx::Kernel& kernel, ptx::Dimensions blocks);

}  // namespace warpchat
