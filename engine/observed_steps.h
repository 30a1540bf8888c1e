// Wraps a device's steps: shows on the host what each operation computed, and can replace it before the next reads it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/forwarding_steps.h"
#include "models/model_config.h"

namespace warpchat {

struct StepOutput {
  std::string_view step, vector;  // the operation, and its output: "norm_qkv", "q"
  std::optional<uint32_t> layer;  // none: before or after the layers
  uint32_t first_column, width;   // first of consecutive columns of the pass
  std::span<const float> values;  // [columns, width], valid during the call
};

// For passes of one run. Each operation waits for the device, which is slow. A graph shows only its last operation's
// output and the logits.
class ObservedSteps final : public ForwardingSteps {
 public:
  // Returns replacement values for the next operation to read; empty: keeps the output.
  using Observe = std::function<std::span<const float>(const StepOutput&)>;
  ObservedSteps(Steps& steps, const ModelConfig& config, Observe observe)
      : ForwardingSteps(steps), config_(config), observe_(std::move(observe)) {}

  void begin(std::span<const Run> runs) override;
  bool run(const Operation& operation) override;

 private:
  void show(const Operation& operation, Buffer buffer);

  ModelConfig config_;
  Observe observe_;
  uint32_t first_ = 0, n_columns_ = 0, n_wanted_ = 0;  // columns still computed, from first_ on; wanted ones
  std::vector<float> values_, shown_;                  // [n_columns, width]
};

}  // namespace warpchat
