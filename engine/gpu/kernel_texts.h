// Kernels compiled so far; readable from other threads.
#pragma once
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device_report.h"
#include "engine/driver/module.h"
#include "models/text_format.h"

namespace warpchat {

// "480 blocks of 256 threads, 12.0 KiB shared memory, all resident"
inline std::string describe_launch(const ptx::Kernel& kernel, ptx::Dimensions blocks) {
  const auto shape = [](ptx::Dimensions d) {  // "480", "24 x 8": omits trailing ones
    std::string text = grouped(d.x);
    if (d.y > 1 || d.z > 1) text += " x " + grouped(d.y);
    return d.z > 1 ? text + " x " + grouped(d.z) : text;
  };
  std::string text =
      shape(blocks) + (blocks.total() == 1 ? " block of " : " blocks of ") + shape(kernel.launch.threads) + " threads";
  char number[48];
  const uint64_t shared = uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes;
  std::snprintf(number, sizeof number, ", %.1f KiB shared memory", static_cast<double>(shared) / 1024);
  if (shared > 0) text += number;
  return kernel.launch.cooperative ? text + ", all resident" : text;
}

class KernelTexts {
 public:
  // Adds a kernel, once per name. blocks: of its launches; the latest value counts.
  void add(const LoadedKernel& kernel, ptx::Dimensions blocks) {
    const std::shared_ptr<const ptx::Kernel> shared = kernel.shared();
    KernelText text{shared->name, describe_launch(*shared, blocks), {shared, &shared->text}};
    std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(texts_, text.name, &KernelText::name);
    if (known == texts_.end())
      texts_.push_back(std::move(text));
    else
      *known = std::move(text);
  }
  void add(const LoadedKernel& kernel) { add(kernel, kernel.kernel().launch.blocks); }
  // Ordered by first add(); copies no text.
  std::vector<KernelText> list() const {
    std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<KernelText> texts_;
};

}  // namespace warpchat
