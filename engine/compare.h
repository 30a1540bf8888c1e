// Two devices over the same passes of a text, step by step: where they first differ, and by how much. What the first
// device computed is the next step's input on both, so that a difference is that of its own step: rounding does not add
// up over the layers.
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

struct Difference {               // between the two devices' columns of a step's output
  std::string_view step, vector;  // by the names of steps.h
  std::optional<uint32_t> layer;
  uint32_t column = 0, element = 0;  // of the pass; the one that differs most
  float first = 0, second = 0;       // that element on the devices
  double relative = 0;  // norm of the columns' difference over the larger of their norms; infinite if only one has NaN
};

// A column whose experts differ though its scores agree within the bound: two scores are so near that rounding decides.
// Its experts' output is not compared.
struct ExpertChoice {
  uint32_t layer, column;
  std::vector<uint32_t> first, second;  // numbers of the experts, ascending
};

struct PassDifference {
  uint32_t position, n_tokens;
  uint32_t n_steps = 0;  // that both devices show
  Difference largest;
  std::optional<Difference> first;                   // beyond the bound, in the page's order
  uint32_t n_beyond = 0;                             // columns of step outputs
  std::optional<ExpertChoice> choice;                // the first
  bool is_by_layers() const { return n_steps > 2; }  // else by the logits, and what a graph leaves
};

// Of a difference's norm over the vector's. Each device's logits are within half of it of the exact ones; a step gives
// up to 5e-4 in the tests' models, 3e-3 where a channel is an outlier. Over all layers a cache in q8_0 adds more.
inline constexpr double kDefaultBound = 1e-2, kDefaultBoundOfLogitsInQ8 = 5e-2;

struct ComparisonPlan {
  std::span<const Token> tokens;  // from position 0 on; at most max_positions() of either device
  uint32_t n_decoded = 0;         // of them, the last, a pass each
  double bound = kDefaultBound;
  uint64_t record_bytes = 512 << 20;  // most that a pass's outputs may take on the host: its columns follow from it
};

// Up to the first pass that differs by more than the bound. Layers are compared kernel by kernel. A pass that a device
// launches as a graph, or leaves to its persistent kernel, shows the last layer's output or less, and the logits, with
// all that rounding adds up to.
std::vector<PassDifference> compare_devices(const ModelConfig& config, Steps& first, Steps& second,
                                            const ComparisonPlan& plan);

}  // namespace warpchat
