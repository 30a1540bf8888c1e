// What the analytic model says of a decoder, to stand beside what is measured.
#pragma once
#include <optional>
#include <string>

#include "engine/launch_mode.h"
#include "kernels/shapes.h"
#include "tests/speed_model/token_work.h"

namespace warpchat {

// By the likely constants and by the worst that are plausible; NaN for a GPU that the model does not know.
struct Predicted {
  double expected, harsh;
};

class Predictions {
 public:
  // gpu: the model's name of it, "h200", or what a driver calls it.
  Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu);

  Predicted tokens_per_second(uint32_t position, LaunchMode mode) const;
  Predicted prefill_tokens_per_second(uint32_t n_tokens);
  // Of a launch in a graph, by the kernel's name.
  Predicted kernel_seconds(const std::string& kernel, uint32_t position) const;

 private:
  DecoderSpecs specs(PassKind kind, uint32_t columns) const;
  template <class Value>  // of a GpuTraits
  Predicted by_both(Value&& value) const;

  ModelShape shape_;
  uint32_t context_;
  const GpuTraits* traits_;
  std::optional<TokenWork> work_;
  std::optional<PassWork> prompt_work_;  // once it is asked for
};

}  // namespace warpchat
