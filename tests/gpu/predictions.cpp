#include "tests/gpu/predictions.h"

#include <cmath>

namespace warpchat {
namespace {

constexpr double kUnknown = NAN;

const GpuTraits* traits_of(const std::string& name) {
  for (const GpuTraits& gpu : known_gpus()) {
    const std::string model(gpu.title.substr(gpu.title.rfind(' ') + 1));  // "H200" of "NVIDIA H200"
    if (name == gpu.name || name.find(model) != std::string::npos) return &gpu;
  }
  return nullptr;
}

}  // namespace

Predictions::Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu)
    : config_(shape.config), traits_(traits_of(gpu)) {
  if (traits_ != nullptr)
    work_.emplace(decoder_specs(shape.config, shape.formats, context, PassKind::kToken, 1), traits_->target);
}

double Predictions::tokens_per_second(uint32_t position, LaunchMode mode) const {
  if (!work_) return kUnknown;
  const TokensPerSecond speeds = predict(*traits_, work_->at(position), work_->barriers());
  return mode == LaunchMode::kStream ? speeds.stream : mode == LaunchMode::kGraph ? speeds.graph : speeds.persistent;
}

double Predictions::prefill_tokens_per_second(uint64_t weight_bytes, uint32_t n_tokens) const {
  return traits_ == nullptr ? kUnknown : prefill_bound(*traits_, config_, weight_bytes, n_tokens);
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
