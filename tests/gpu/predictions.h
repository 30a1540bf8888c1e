// The speed model's predictions for a decoder, to compare with measurements.
#pragma once
#include <optional>
#include <string>

#include "engine/launch_mode.h"
#include "kernels/shapes.h"
#include "tests/speed_model/launch_work.h"

namespace warpchat {

// Predictions by the expected and by the harsh constants; NaN for a GPU that the speed model does not know.
struct Predicted {
  double expected, harsh;
};

class Predictions {
 public:
  // gpu: the speed model's name ("h200") or the driver's.
  Predictions(const ModelShape& shape, uint32_t context, const std::string& gpu);

  Predicted tokens_per_second(uint32_t position, LaunchMode mode) const;
  Predicted prefill_tokens_per_second(uint32_t n_tokens);
  // Duration of the kernel of this name, launched in a graph.
  Predicted kernel_seconds(const std::string& kernel, uint32_t position) const;

 private:
  template <class Value>  // computed from GpuTraits
  Predicted by_both(Value&& value) const;

  ModelShape shape_;
  uint32_t context_;
  const GpuTraits* traits_;
  std::optional<PassWork> work_, prompt_work_;  // the second is made when first needed
};

}  // namespace warpchat
