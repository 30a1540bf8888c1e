#include "engine/gpu/kernel_texts.h"

#include <algorithm>
#include <cstdio>

#include "models/text_format.h"

namespace warpchat {

namespace {

// "480", "24 x 8": omits trailing ones.
std::string shape(ptx::Dimensions d) {
  std::string text = grouped(d.x);
  if (d.y > 1 || d.z > 1) text += " x " + grouped(d.y);
  return d.z > 1 ? text + " x " + grouped(d.z) : text;
}

}  // namespace

std::string describe_launch(const ptx::Kernel& kernel, ptx::Dimensions blocks) {
  std::string text =
      shape(blocks) + (blocks.total() == 1 ? " block of " : " blocks of ") + shape(kernel.launch.threads) + " threads";
  char number[48];
  const uint64_t shared = uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes;
  std::snprintf(number, sizeof number, ", %.1f KiB shared memory", static_cast<double>(shared) / 1024);
  if (shared > 0) text += number;
  return kernel.launch.cooperative ? text + ", all resident" : text;
}

void KernelTexts::add(const LoadedKernel& kernel, ptx::Dimensions blocks) {
  const std::shared_ptr<const ptx::Kernel> shared = kernel.shared();
  KernelText text{shared->name, describe_launch(*shared, blocks), {shared, &shared->text}};
  std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(texts_, text.name, &KernelText::name);
  if (known == texts_.end())
    texts_.push_back(std::move(text));
  else
    *known = std::move(text);
}

std::vector<KernelText> KernelTexts::list() const {
  std::lock_guard lock(mutex_);
  return texts_;
}

}  // namespace warpchat
