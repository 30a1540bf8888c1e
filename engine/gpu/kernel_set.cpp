#include "engine/gpu/kernel_set.h"

#include <set>

namespace warpchat {

namespace {

std::vector<ptx::Kernel> without_duplicates(std::vector<ptx::Kernel> kernels) {
  std::set<std::string> names;
  std::erase_if(kernels, [&](const ptx::Kernel& kernel) { return !names.insert(kernel.name).second; });
  return kernels;
}

}  // namespace

KernelSet::KernelSet(ContextPointer context, std::vector<ptx::Kernel> kernels)
    : module_(std::move(context), without_duplicates(std::move(kernels))) {
  for (size_t i = 0; i < module_.size(); ++i) index_[module_.kernel(i).kernel().name] = i;
}

}  // namespace warpchat
