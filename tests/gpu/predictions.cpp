#include "tests/gpu/predictions.h"

#include <algorithm>
#include <cmath>

namespace warpchat {

Predictions::Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu)
    : shape_(shape), context_(context), traits_(gpu_of_driver(gpu)) {
  if (traits_ != nullptr) work_.emplace(launches_of(shape_, {PassKind::kDecode, 1, context_}), traits_->target);
}

template <class Value>
Predicted Predictions::by_both(Value&& value) const {
  if (traits_ == nullptr) return {NAN, NAN};
  return {value(with_constants(*traits_, ConstantSet::kExpected)),
          value(with_constants(*traits_, ConstantSet::kHarsh))};
}

Predicted Predictions::tokens_per_second(uint32_t position, LaunchMode mode) const {
  return by_both([&](const GpuTraits& gpu) {
    const TokensPerSecond speeds = predict(gpu, work_->at(position), work_->barriers());
    return mode == LaunchMode::kStream ? speeds.stream : mode == LaunchMode::kGraph ? speeds.graph : speeds.persistent;
  });
}

Predicted Predictions::prefill_tokens_per_second(uint32_t n_tokens) {
  const PassShape pass{PassKind::kPrefill, std::min(kPromptColumns, context_), context_};
  if (work_ && !prompt_work_) prompt_work_.emplace(launches_of(shape_, pass), traits_->target, &*work_);
  return by_both([&](const GpuTraits& gpu) { return n_tokens / prompt_seconds(gpu, *prompt_work_, n_tokens); });
}

Predicted Predictions::kernel_seconds(const std::string& kernel, uint32_t position) const {
  return by_both([&](const GpuTraits& gpu) -> double {
    for (const KernelGroup& group : work_->at(position)) {
      if (group.form == KernelGroup::Form::kPersistent) continue;
      for (const KernelWork& work : group.kernels)
        if (work.name == kernel) return launch_seconds(gpu, work, gpu.graph_node_seconds).total();
    }
    return NAN;
  });
}

}  // namespace warpchat
