#include "tests/gpu/measure_shape.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/driver/context.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "models/text_format.h"
#include "tests/gpu/measure_kernels.h"
#include "tests/gpu/measure_phases.h"
#include "tests/gpu/predictions.h"
#include "tests/gpu/results.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr uint32_t kFirstPrompt = 16;
constexpr uint32_t kStampedTokens = 16;  // all their stamps fit into a trace
constexpr uint32_t kWarm = 3;            // untimed tokens of each round

// Tokens per second when decoding as in a chat after `depth` positions, sampled on the device.
double decode_speed(Decoder& decoder, uint32_t depth, uint32_t tokens) {
  SamplingParams greedy;
  greedy.temperature = 0;
  const Token first = 1;
  decoder.forward({&first, 1}, depth, Logits::kLast);
  const auto source = make_token_source(decoder, {greedy, {first}, depth + 1, 0, uint64_t{kWarm} + tokens});
  const std::atomic<bool> stop = false;
  for (uint32_t i = 0; i < kWarm; ++i) source->next(stop);
  const auto start = Clock::now();
  for (uint32_t i = 0; i < tokens; ++i) source->next(stop);
  return tokens / seconds_since(start);
}

// Differing tokens, because equal ones would all select the same experts.
std::vector<Token> prompt_of(const Decoder& decoder, uint32_t tokens) {
  std::vector<Token> prompt(tokens);
  for (uint32_t i = 0; i < tokens; ++i) prompt[i] = static_cast<Token>((1 + 7919 * i) % decoder.config().n_vocab);
  return prompt;
}

double prefill_speed(Decoder& decoder, uint32_t tokens) {
  const std::vector<Token> prompt = prompt_of(decoder, tokens);
  const auto start = Clock::now();
  decoder.prefill(prompt, 0);
  decoder.wait();
  return tokens / seconds_since(start);
}

// Tokens per second of all sequences together, from position 0 on.
double batch_speed(Decoder& decoder, uint32_t sequences, uint32_t tokens) {
  std::vector<Run> runs(sequences);
  std::vector<Token> chosen(sequences);
  Clock::time_point start;
  for (uint32_t i = 0; i < kWarm + tokens; ++i) {
    if (i == kWarm) start = Clock::now();
    for (uint32_t s = 0; s < sequences; ++s) {
      chosen[s] = static_cast<Token>(i + s);
      runs[s] = {s, i, {&chosen[s], 1}, Logits::kLast};
    }
    decoder.forward(runs);
    decoder.wait();
  }
  return sequences * tokens / seconds_since(start);
}

struct Rate {
  double value, spread_percent;  // median, and (max - min) / median
};

// Ignores the first warm_seconds: they compile and record, and raise the clocks from a sixth, where an idle GPU has
// them.
template <class Measure>
Rate rate_of(uint32_t rounds, double warm_seconds, Measure&& measure) {
  for (const auto start = Clock::now(); seconds_since(start) < warm_seconds;) measure();
  std::vector<double> rates;
  for (uint32_t i = 0; i < std::max(1u, rounds); ++i) rates.push_back(measure());
  const auto [min, max] = std::ranges::minmax(rates);
  const double middle = median(rates);
  return {middle, 100 * (max - min) / middle};
}

class ShapeBench {
 public:
  ShapeBench(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling)
      : name_(name),
        plan_(plan),
        device_(device),
        ceiling_(read_ceiling),
        shape_(bench_shape(name)),
        model_(shape_),
        predictions_(shape_, context(), plan.predicted_gpu.empty() ? device.gpu.name : plan.predicted_gpu) {}

  void run() {
    say("\n### " + name_ + "\n\n" + grouped(model_.n_bytes()) + " bytes of weights.");
    one_sequence();
    batches();
  }

 private:
  uint32_t context() const {
    uint32_t most = kFirstPrompt;
    for (const uint32_t depth : plan_.depths) most = std::max(most, depth + plan_.tokens + kWarm + 2);
    for (const uint32_t prompt : plan_.prompts) most = std::max(most, prompt);
    return std::min(model_.config().context_length, most);
  }
  double warm_seconds() const { return device_.gpu.is_emulated ? 0 : 0.5; }
  ResultTable table(const std::string& name, std::vector<std::string> columns) const {
    columns.insert(columns.begin(), "shape");
    return ResultTable(name, device_.gpu.name, std::move(columns));
  }

  void one_sequence() {
    std::unique_ptr<Steps> own = make_gpu_steps(model_.config(), model_.tensors(), {device_, {.context = context()}});
    Steps& steps = *own;
    Decoder decoder(model_.config(), std::move(own));
    decode(decoder, steps);
    prefill(decoder);
    if (!plan_.times_kernels) return;
    for (const uint32_t depth : plan_.depths) {
      if (depth + plan_.tokens + 2 > decoder.max_positions()) continue;
      fill(decoder, depth);
      if (steps.can_launch(LaunchMode::kPersistent))
        measure_phases(name_, device_.gpu.name, decoder, steps, depth, std::min(plan_.tokens, kStampedTokens));
      measure_kernels_in_a_stream(name_, device_.gpu.name, decoder, steps, depth, plan_.tokens, predictions_);
    }
    measure_products(name_, shape_, device_, predictions_);
  }

  static void fill(Decoder& decoder, uint32_t depth) {
    if (depth > 0) decoder.prefill(prompt_of(decoder, depth), 0);
  }

  void decode(Decoder& decoder, Steps& steps) {
    ResultTable rows = table("decode", {"depth", "launch", "tokens/s", "spread, %", "of the read ceiling, %",
                                        "expected tokens/s", "harsh tokens/s"});
    for (const uint32_t depth : plan_.depths) {
      if (depth + plan_.tokens + kWarm + 1 > decoder.max_positions()) continue;
      fill(decoder, depth);
      for (const LaunchMode mode : kLaunchModes) {
        if (!steps.can_launch(mode)) continue;
        steps.set_launch_mode(mode);
        const Rate rate =
            rate_of(plan_.rounds, warm_seconds(), [&] { return decode_speed(decoder, depth, plan_.tokens); });
        const uint64_t cached =
            uint64_t{4} * model_.config().n_layers * model_.config().n_kv_heads * model_.config().head_dim;
        const double bytes = static_cast<double>(steps.weight_bytes_per_token() + cached * depth);
        const Predicted predicted = predictions_.tokens_per_second(depth, mode);
        rows.row({name_, uint64_t{depth}, std::string(name_of(mode)), number(rate.value, 1),
                  number(rate.spread_percent, 1), number(100 * bytes * rate.value / ceiling_, 1),
                  number(predicted.expected, 1), number(predicted.harsh, 1)});
      }
    }
  }

  void prefill(Decoder& decoder) {
    ResultTable rows = table("prefill", {"tokens", "tokens/s", "spread, %", "expected tokens/s", "harsh tokens/s"});
    for (const uint32_t prompt : plan_.prompts) {
      if (prompt > decoder.max_positions()) continue;
      const Rate rate = rate_of(plan_.rounds, warm_seconds(), [&] { return prefill_speed(decoder, prompt); });
      const Predicted predicted = predictions_.prefill_tokens_per_second(prompt);
      rows.row({name_, uint64_t{prompt}, number(rate.value, 1), number(rate.spread_percent, 1),
                number(predicted.expected, 1), number(predicted.harsh, 1)});
    }
  }

  void batches() {
    ResultTable rows = table(
        "batches", {"sequences", "launch", "tokens/s of all", "spread, %", "by bytes at the read ceiling, tokens/s"});
    for (const uint32_t sequences : plan_.batches) {
      try {
        std::unique_ptr<Steps> own = make_gpu_steps(
            model_.config(), model_.tensors(), {device_, {.context = plan_.tokens + kWarm, .sequences = sequences}});
        Steps& steps = *own;
        Decoder decoder(model_.config(), std::move(own));
        for (const LaunchMode mode : {LaunchMode::kStream, LaunchMode::kGraph}) {
          steps.set_launch_mode(mode);
          const Rate rate =
              rate_of(plan_.rounds, warm_seconds(), [&] { return batch_speed(decoder, sequences, plan_.tokens); });
          rows.row({name_, uint64_t{sequences}, std::string(name_of(mode)), number(rate.value, 1),
                    number(rate.spread_percent, 1),
                    number(sequences * ceiling_ / static_cast<double>(steps.weight_bytes_per_token()), 1)});
        }
      } catch (const Error& error) {
        say("\n" + std::to_string(sequences) + " sequences are left out: " + error.what());
      }
    }
  }

  std::string name_;
  const BenchPlan& plan_;
  const DeviceChoice& device_;
  double ceiling_;
  ModelShape shape_;
  ShapedModel model_;
  Predictions predictions_;
};

}  // namespace

void measure_shape(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling) {
  ShapeBench(name, plan, device, read_ceiling).run();
}

}  // namespace warpchat
