// Records every step output of the first device's pass, then compares the second device's pass with the record.
#include "engine/compare.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "engine/decoder.h"
#include "engine/observed_steps.h"

namespace warpchat {

namespace {

// Floats per column that a recorded pass keeps on the host, without the logits.
uint64_t floats_per_column(const ModelConfig& config) {
  uint64_t n = 0;
  for (const Operation& operation : text_decoder(config))
    for (const Buffer buffer : outputs_of(operation))
      if (buffer != Buffer::kLogits) n += shape_of(buffer, config).width;
  return n;
}

Difference difference_of(std::span<const float> first, std::span<const float> second) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Difference result;
  double largest = -1, squares = 0, first_norm = 0, second_norm = 0;
  for (uint32_t i = 0; i < first.size(); ++i) {
    const double a = first[i], b = second[i];
    const bool is_same = a == b || (std::isnan(a) && std::isnan(b));
    double distance = is_same ? 0 : std::abs(a - b);
    if (std::isnan(distance)) distance = kInfinity;
    squares += distance * distance;
    if (std::isfinite(a) && std::isfinite(b)) first_norm += a * a, second_norm += b * b;
    if (distance > largest) largest = distance, result.element = i, result.first = first[i], result.second = second[i];
  }
  if (squares == 0) return result;
  result.relative = std::isinf(squares) ? kInfinity : std::sqrt(squares / std::max(first_norm, second_norm));
  return result;
}

// Same rule as on both devices: of equal scores the lower number wins.
std::vector<uint32_t> best_experts(std::span<const float> scores, uint32_t n_used) {
  std::vector<uint32_t> experts(scores.size());
  std::iota(experts.begin(), experts.end(), 0u);
  std::ranges::stable_sort(experts, [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  experts.resize(n_used);
  std::ranges::sort(experts);
  return experts;
}

struct Pass {
  uint32_t position;
  std::span<const Token> tokens;
};

class PassComparison {
 public:
  PassComparison(const ModelConfig& config, double bound, const Pass& pass)
      : config_(config), bound_(bound), result_{pass.position, static_cast<uint32_t>(pass.tokens.size())} {}

  std::span<const float> record(const StepOutput& output) {  // for the first device
    record_[key_of(output)].assign(output.values.begin(), output.values.end());
    return {};
  }

  std::span<const float> compare(const StepOutput& output) {  // for the second device
    const auto recorded = record_.find(key_of(output));
    if (recorded == record_.end()) return {};
    count(output);
    for (uint32_t i = 0; i < output.values.size() / output.width; ++i) {
      const auto column_of = [&](std::span<const float> values) {
        return values.subspan(uint64_t{i} * output.width, output.width);
      };
      compare_column(output, output.first_column + i, column_of(recorded->second), column_of(output.values));
    }
    return recorded->second;
  }

  const PassDifference& result() const { return result_; }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::optional<uint32_t>, uint32_t>;
  static Key key_of(const StepOutput& o) { return {o.step, o.vector, o.layer, o.first_column}; }

  void count(const StepOutput& output) {
    const std::pair step(output.step, output.layer);
    if (result_.n_steps == 0 || step != last_step_) ++result_.n_steps;
    last_step_ = step;
  }

  void compare_column(const StepOutput& output, uint32_t column, std::span<const float> first,
                      std::span<const float> second) {
    if (output.step == "norm_route") compare_choice(*output.layer, column, first, second);
    if (output.step == "experts_residual" && other_experts_.contains({*output.layer, column})) return;
    Difference difference = difference_of(first, second);
    difference.step = output.step, difference.vector = output.vector;
    difference.layer = output.layer, difference.column = column;
    if (result_.largest.step.empty() || difference.relative > result_.largest.relative) result_.largest = difference;
    if (difference.relative <= bound_) return;
    if (!result_.first) result_.first = difference;
    ++result_.n_beyond;
  }

  void compare_choice(uint32_t layer, uint32_t column, std::span<const float> first, std::span<const float> second) {
    const auto is_nan = [](float score) { return std::isnan(score); };
    if (std::ranges::any_of(first, is_nan) || difference_of(first, second).relative > bound_) return;
    const uint32_t n_used = config_.experts.n_used;
    ExpertChoice choice{layer, column, best_experts(first, n_used), best_experts(second, n_used)};
    if (choice.first == choice.second) return;
    other_experts_.emplace(layer, column);
    if (!result_.choice) result_.choice = std::move(choice);
  }

  const ModelConfig& config_;
  double bound_;
  PassDifference result_;
  std::map<Key, std::vector<float>> record_;
  std::set<std::pair<uint32_t, uint32_t>> other_experts_;  // layer and column
  std::pair<std::string_view, std::optional<uint32_t>> last_step_;
};

class Device {
 public:
  Device(const ModelConfig& config, Steps& steps)
      : decoder_(config,
                 std::make_unique<ObservedSteps>(steps, config, [this](const StepOutput& o) { return observe_(o); })) {}

  // Decodes in the device's own loop, if it has one. compute() then reports the logits of each token.
  void decode(std::span<const Token> tokens, uint32_t position) {
    decoder_.steps().teacher_force(tokens, position, [&](std::span<const float> logits) {
      decoded_.insert_or_assign(position++, std::vector(logits.begin(), logits.end()));
    });
  }

  void compute(const Pass& pass, const ObservedSteps::Observe& observe) {
    if (const auto decoded = decoded_.find(pass.position); decoded != decoded_.end()) {
      const std::vector<float>& logits = decoded->second;
      observe({"norm_logits", "logits", {}, 0, static_cast<uint32_t>(logits.size()), logits});
      return;
    }
    observe_ = observe;
    decoder_.forward(pass.tokens, pass.position, Logits::kLast);
  }

 private:
  ObservedSteps::Observe observe_;
  Decoder decoder_;
  std::map<uint32_t, std::vector<float>> decoded_;  // by position
};

std::vector<Pass> passes_of(const ComparisonPlan& plan, uint32_t max_columns) {
  const auto n_tokens = static_cast<uint32_t>(plan.tokens.size());
  const uint32_t n_prefill = n_tokens - plan.n_decoded;
  std::vector<Pass> passes;
  for (uint32_t position = 0, n; position < n_tokens; position += n) {
    n = position < n_prefill ? std::min(max_columns, n_prefill - position) : 1;
    passes.push_back({position, plan.tokens.subspan(position, n)});
  }
  return passes;
}

}  // namespace

std::vector<PassDifference> compare_devices(const ModelConfig& config, Steps& first, Steps& second,
                                            const ComparisonPlan& plan) {
  assert(plan.n_decoded <= plan.tokens.size());
  const uint64_t recorded = plan.record_bytes / sizeof(float) / floats_per_column(config);
  const auto max_columns =
      static_cast<uint32_t>(std::clamp<uint64_t>(recorded, 1, std::min(first.max_columns(), second.max_columns())));
  const uint32_t first_decoded = static_cast<uint32_t>(plan.tokens.size()) - plan.n_decoded;
  Device devices[] = {{config, first}, {config, second}};
  std::vector<PassDifference> results;
  for (const Pass& pass : passes_of(plan, max_columns)) {
    if (pass.position == first_decoded && plan.n_decoded > 0)
      for (Device& device : devices) device.decode(plan.tokens.subspan(first_decoded), first_decoded);
    PassComparison comparison(config, plan.bound, pass);
    devices[0].compute(pass, [&](const StepOutput& output) { return comparison.record(output); });
    devices[1].compute(pass, [&](const StepOutput& output) { return comparison.compare(output); });
    results.push_back(comparison.result());
    if (results.back().first) break;
  }
  return results;
}

}  // namespace warpchat
