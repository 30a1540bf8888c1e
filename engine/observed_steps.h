// A device's steps that show on the host what each of them computed, and may be given something else to go on with. A
// decoder over them goes through its page as ever.
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
  std::string_view step, vector;  // by the names of steps.h: "norm_qkv", "q"
  std::optional<uint32_t> layer;  // none: before or after the layers
  uint32_t first_column, width;   // of the pass, consecutive
  std::span<const float> values;  // [columns, width], valid during the call
};

// Of passes of one run. Each step waits for the device, which is slow. Of a graph only what its last step computed is
// shown, and the logits.
class ObservedSteps final : public ForwardingSteps {
 public:
  // Returns what the next step is to read in place of the output's values; empty: these.
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
  // begin: of a column, the first value that is shown.
  void show(std::string_view step, std::string_view vector, std::optional<uint32_t> layer, Buffer buffer,
            uint32_t begin = 0);
  void replace(Buffer buffer, uint32_t begin, std::span<const float> values);  // of those that were shown

  DeltaNetConfig net_;
  Observe observe_;
  uint32_t first_ = 0, n_columns_ = 0, n_wanted_ = 0;  // of the pass, those that are still computed; the last ones
  std::vector<float> values_;                          // [n_columns, width]
};

}  // namespace warpchat
