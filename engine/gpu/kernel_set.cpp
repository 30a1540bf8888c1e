// One thread per module: the driver's compiler takes at least 0.1 ms per line, seconds for a model's kernels.
#include "engine/gpu/kernel_set.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace warpchat {

namespace {

// Device functions are compiled into each calling kernel, so all its lines count.
size_t lines_of(const ptx::Kernel& kernel) { return static_cast<size_t>(std::ranges::count(kernel.text, '\n')); }

}  // namespace

std::vector<std::vector<ptx::Kernel>> split_into_modules(std::vector<ptx::Kernel> kernels) {
  std::set<std::string> names;
  std::erase_if(kernels, [&](const ptx::Kernel& kernel) { return !names.insert(kernel.name).second; });
  std::ranges::stable_sort(kernels, std::greater(), lines_of);
  const size_t lines = std::transform_reduce(kernels.begin(), kernels.end(), size_t{0}, std::plus(), lines_of);
  const size_t max = std::min(kMaxModules, kernels.size());
  std::vector<std::vector<ptx::Kernel>> modules(std::min(max, 1 + lines / kModuleLines));
  std::vector<size_t> filled(modules.size(), 0);
  for (ptx::Kernel& kernel : kernels) {
    const auto least_filled = static_cast<size_t>(std::ranges::min_element(filled) - filled.begin());
    filled[least_filled] += lines_of(kernel);
    modules[least_filled].push_back(std::move(kernel));
  }
  return modules;
}

KernelSet::KernelSet(ContextPointer context, std::vector<ptx::Kernel> kernels) {
  for (std::vector<ptx::Kernel>& module : split_into_modules(std::move(kernels))) {
    for (size_t i = 0; i < module.size(); ++i) places_[module[i].name] = {modules_.size(), i};
    modules_.emplace_back(context->watch(), [context, kernels_of_module = std::move(module)]() mutable {
      context->make_current();
      return std::make_unique<Module>(context, std::move(kernels_of_module));
    });
  }
}

bool KernelSet::is_ready() const {
  return std::ranges::all_of(modules_, [](const auto& module) { return module.is_ready(); });
}

const LoadedKernel& KernelSet::operator[](const std::string& name) const {
  const Place& place = places_.at(name);
  return modules_[place.module].get()->kernel(place.index);
}

}  // namespace warpchat
