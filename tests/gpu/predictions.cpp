#include "tests/gpu/predictions.h"

#include <algorithm>
#include <cmath>

namespace warpchat {
namespace {

constexpr double kUnknown = NAN;
constexpr uint32_t kPromptColumns = 512;  // of a pass, as by default

const GpuTraits* traits_of(const std::string& name) {
  for (const GpuTraits& gpu : known_gpus()) {
    const std::string model(gpu.title.substr(gpu.title.rfind(' ') + 1));  // "H200" of "NVIDIA H200"
    if (name == gpu.name || name.find(model) != std::string::npos) return &gpu;
  }
  return nullptr;
}

}  // namespace

Predictions::Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu)
    : shape_(shape), context_(context), traits_(traits_of(gpu)) {
  if (traits_ != nullptr) work_.emplace(specs(PassKind::kToken, 1), traits_->target);
}

DecoderSpecs Predictions::specs(PassKind kind, uint32_t columns) const {
  return decoder_specs(shape_.config, shape_.formats, context_, kind, columns);
}

double Predictions::tokens_per_second(uint32_t position, LaunchMode mode) const {
  if (!work_) return kUnknown;
  const TokensPerSecond speeds = predict(*traits_, work_->at(position), work_->barriers());
  return mode == LaunchMode::kStream ? speeds.stream : mode == LaunchMode::kGraph ? speeds.graph : speeds.persistent;
}

double Predictions::prefill_tokens_per_second(uint32_t n_tokens) {
  if (!work_) return kUnknown;
  const uint32_t columns = std::min(kPromptColumns, context_);
  if (!prompt_work_) prompt_work_.emplace(specs(PassKind::kPrompt, columns), traits_->target, columns, *work_);
  return n_tokens / prompt_seconds(*traits_, *prompt_work_, columns, n_tokens);
}

double Predictions::kernel_seconds(const std::string& kernel, uint32_t position) const {
  if (!work_) return kUnknown;
  for (const KernelGroup& group : work_->at(position)) {
    if (group.form == KernelGroup::Form::kPersistent) continue;
    for (const KernelWork& work : group.kernels)
      if (work.name == kernel) return launch_seconds(*traits_, work, traits_->graph_node_seconds).total();
  }
  return kUnknown;
}

double Predictions::read_bytes_per_second() const { return traits_ == nullptr ? kUnknown : traits_->bytes_per_second; }

}  // namespace warpchat
