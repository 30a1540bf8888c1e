// The launches of one kind of pass with their compiled kernels, each with its profile row. Kernels are compiled on
// demand, those of the layers together and those of the logits alone separately.
#pragma once
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/kernel_set.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/profile.h"
#include "kernels/launch_list.h"

namespace warpchat {

struct BoundLaunch {
  const KernelLaunch* launch;
  const LoadedKernel* kernel;
  uint32_t profile_row;
  std::vector<Operand> operands;  // in the order of the kernel's parameters
};

class CompiledPass {
 public:
  // Compiles nothing. profile, texts: must outlive this.
  CompiledPass(ContextPointer context, LaunchList list, Profile& profile, KernelTexts& texts);

  // Start compiling on other threads, unless started already. UnsupportedModel.
  void prepare();
  void prepare_logits();
  bool is_ready() const;  // all compilations started so far are done

  // Wait for compilation. DriverError if the driver refuses a kernel; a later call compiles again.
  void await_layers();
  void await_logits();
  std::span<const BoundLaunch> launches(uint32_t operation);  // in order

  const LaunchList& list() const { return list_; }

 private:
  bool is_of_logits(const OperationLaunches& operation) const {
    return !operation.launches.empty() && operation.launches.back().phase == PhaseKind::kLogits;
  }
  std::vector<ptx::Kernel> generate(bool of_logits) const;
  void bind(bool of_logits);
  BoundLaunch bind(const KernelLaunch& launch) const;

  ContextPointer context_;
  LaunchList list_;
  Profile& profile_;
  KernelTexts& texts_;
  std::set<std::string> layer_names_;                            // of kernels
  bool logits_use_layers_ = false, has_logits_kernels_ = false;  // kernels that a layer has, or none
  std::optional<KernelSet> layer_kernels_, logits_kernels_;
  bool are_layers_bound_ = false, are_logits_bound_ = false;
  std::vector<std::vector<BoundLaunch>> bound_;  // [operations]
};

}  // namespace warpchat
