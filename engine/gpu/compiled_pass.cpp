#include "engine/gpu/compiled_pass.h"

#include <algorithm>
#include <utility>

#include "engine/gpu/gpu_steps.h"
#include "kernels/persistent/token_functions.h"

namespace warpchat {

CompiledPass::CompiledPass(ContextPointer context, LaunchList list, Profile& profile, KernelTexts& texts)
    : context_(std::move(context)),
      list_(std::move(list)),
      profile_(profile),
      texts_(texts),
      bound_(list_.operations.size()) {
  for (const OperationLaunches& operation : list_.operations)
    for (const KernelLaunch& launch : operation.launches)
      if (!is_of_logits(operation)) layer_names_.insert(name_of(launch.spec));
  for (const OperationLaunches& operation : list_.operations)
    for (const KernelLaunch& launch : operation.launches)
      if (is_of_logits(operation))
        (layer_names_.contains(name_of(launch.spec)) ? logits_use_layers_ : has_logits_kernels_) = true;
}

void CompiledPass::prepare() {
  if (!layer_kernels_) layer_kernels_.emplace(context_, generate(/*of_logits=*/false));
}

void CompiledPass::prepare_logits() {
  if (!has_logits_kernels_) return prepare();
  if (!logits_kernels_) logits_kernels_.emplace(context_, generate(/*of_logits=*/true));
}

bool CompiledPass::is_ready() const {
  return (!layer_kernels_ || layer_kernels_->is_ready()) && (!logits_kernels_ || logits_kernels_->is_ready());
}

std::vector<ptx::Kernel> CompiledPass::generate(bool of_logits) const {
  try {
    return kernels_of(list_, context_->device().target(),
                      [&](const std::string& name) { return layer_names_.contains(name) != of_logits; });
  } catch (const Error& error) {
    throw UnsupportedModel(std::string("the GPU kernels cannot compute this model: ") + error.what());
  }
}

void CompiledPass::await_layers() {
  if (std::exchange(are_layers_bound_, true)) return;
  try {
    prepare();
    bind(/*of_logits=*/false);
  } catch (const Error&) {
    are_layers_bound_ = false;
    layer_kernels_.reset();
    throw;
  }
}

void CompiledPass::await_logits() {
  if (std::exchange(are_logits_bound_, true)) return;
  try {
    if (logits_use_layers_) await_layers();
    prepare_logits();
    bind(/*of_logits=*/true);
  } catch (const Error&) {
    are_logits_bound_ = false;
    logits_kernels_.reset();
    throw;
  }
}

std::span<const BoundLaunch> CompiledPass::launches(uint32_t operation) {
  is_of_logits(list_.operations[operation]) ? await_logits() : await_layers();
  return bound_[operation];
}

void CompiledPass::bind(bool of_logits) {
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (is_of_logits(list_.operations[i]) != of_logits) continue;
    bound_[i].clear();
    for (const KernelLaunch& launch : list_.operations[i].launches) bound_[i].push_back(bind(launch));
  }
}

// Matches the launch's arguments with the kernel's parameters: each of both must have its counterpart.
BoundLaunch CompiledPass::bind(const KernelLaunch& launch) const {
  const std::string name = name_of(launch.spec);
  const KernelSet& kernels = layer_names_.contains(name) ? layer_kernels_.value() : logits_kernels_.value();
  const LoadedKernel& kernel = kernels[name];
  texts_.add(kernel);
  return {&launch, &kernel, profile_.operation(name), operands_of(launch, kernel.kernel())};
}

}  // namespace warpchat
