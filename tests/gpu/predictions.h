// What the analytic model says of a decoder, to stand beside what is measured: the one place here that asks it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "engine/gpu/token_work.h"
#include "engine/launch_mode.h"
#include "kernels/shapes.h"

namespace warpchat {

class Predictions {
 public:
  // gpu: the model's name of it, "h200"; or what a driver calls a GPU. Of one that the model does not know all answers
  // are NaN.
  Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu);

  double tokens_per_second(uint32_t position, LaunchMode mode) const;
  double prefill_tokens_per_second(uint32_t n_tokens);
  // Of a launch in a graph, by the kernel's name.
  double kernel_seconds(const std::string& kernel, uint32_t position) const;
  double read_bytes_per_second() const;

 private:
  DecoderSpecs specs(PassKind kind, uint32_t columns) const;

  ModelShape shape_;
  uint32_t context_;
  const GpuTraits* traits_;
  std::optional<TokenWork> work_;
  std::optional<PassWork> prompt_work_;  // once it is asked for
};

}  // namespace warpchat
