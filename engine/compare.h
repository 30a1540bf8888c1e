// Runs two devices over the same passes of a text, step by step, and reports where they first differ and by how much.
// Both devices read the first one's output as the next step's input, so rounding does not add up over the layers.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/steps.h"
#include "models/model_config.h"

namespace warpchat {

struct Difference {               // one column of a step's output, on both devices
  std::string_view step, vector;  // named as in steps.h
  std::optional<uint32_t> layer;
  uint32_t column = 0, element = 0;  // column of the pass; element that differs most
  float first = 0, second = 0;       // that element on the devices
  double relative = 0;  // norm of the columns' difference over the larger of their norms; infinite if only one has NaN
};

// A column that goes to other experts though its scores agree within the bound: two scores are so close that rounding
// decides. The output of its experts is not compared.
struct ExpertChoice {
  uint32_t layer, column;
  std::vector<uint32_t> first, second;  // expert numbers, ascending
};

struct PassDifference {
  uint32_t position, n_tokens;
  uint32_t n_steps = 0;  // compared on both devices
  Difference largest;
  std::optional<Difference> first;                   // first difference beyond the bound, in decoder order
  uint32_t n_beyond = 0;                             // columns of step outputs beyond the bound
  std::optional<ExpertChoice> choice;                // first one in the pass
  bool is_by_layers() const { return n_steps > 2; }  // false: only the logits and what a graph reports
};

// Norm of the difference over the norm of the vector. Each device's logits are within half of it of the exact ones. A
// step adds up to 5e-4 in the tests' models, 3e-3 with an outlier channel. A q8_0 cache adds more over all layers.
inline constexpr double kDefaultBound = 1e-2, kDefaultBoundOfLogitsInQ8 = 5e-2;

struct ComparisonPlan {
  std::span<const Token> tokens;  // from position 0; at most max_positions() of either device
  uint32_t n_decoded = 0;         // last tokens, decoded in one pass each
  double bound = kDefaultBound;
  uint64_t record_bytes = 512 << 20;  // limits a pass's recorded outputs on the host, and so its columns
};

// Stops after the first pass that differs by more than the bound. Layers are compared kernel by kernel. A pass that a
// device launches as a graph or in its persistent kernel reports the last layer's output at most, and the logits. Those
// contain the rounding of all layers.
std::vector<PassDifference> compare_devices(const ModelConfig& config, Steps& first, Steps& second,
                                            const ComparisonPlan& plan);

}  // namespace warpchat
