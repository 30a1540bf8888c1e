// Wraps a device's steps: shows on the host what each computed, and can replace it before the next step reads it.
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
  std::string_view step, vector;  // named as in steps.h: "norm_qkv", "q"
  std::optional<uint32_t> layer;  // none: before or after the layers
  uint32_t first_column, width;   // first of consecutive columns of the pass
  std::span<const float> values;  // [columns, width], valid during the call
};

// For passes of one run. Each step waits for the device, which is slow. A graph shows only its last step's output and
// the logits.
class ObservedSteps final : public ForwardingSteps {
 public:
  // Returns replacement values for the next step to read; empty: keeps the output.
  using Observe = std::function<std::span<const float>(const StepOutput&)>;
  ObservedSteps(Steps& steps, const ModelConfig& config, Observe observe)
      : ForwardingSteps(steps), net_(config.delta_net), observe_(std::move(observe)) {}

  void begin(std::span<const Run> runs) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer k, Buffer v, Buffer mixed) override;
  bool keep_wanted(Buffer mixed, Buffer hidden) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_delta(uint32_t layer, Buffer hidden, const DeltaBuffers& x) override;
  void conv_step(uint32_t layer, const DeltaBuffers& x) override;
  void delta_step(uint32_t layer, const DeltaBuffers& x) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_route(uint32_t layer, Buffer hidden, Buffer scores) override;
  void experts_residual(uint32_t layer, Buffer hidden) override;
  void norm_logits(Buffer hidden, Buffer logits) override;

 private:
  // begin: first value of a column that is shown.
  void show(std::string_view step, std::string_view vector, std::optional<uint32_t> layer, Buffer buffer,
            uint32_t begin = 0);
  void replace(Buffer buffer, uint32_t begin, std::span<const float> values);  // replaces the values shown

  DeltaNetConfig net_;
  Observe observe_;
  uint32_t first_ = 0, n_columns_ = 0, n_wanted_ = 0;  // columns still computed, from first_ on; wanted ones
  std::vector<float> values_;                          // [n_columns, width]
};

}  // namespace warpchat
