#include "tests/gpu/measure_shape.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "engine/driver/context.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/speed_model.h"
#include "engine/gpu/token_work.h"
#include "engine/profile_report.h"
#include "engine/token_source.h"
#include "models/message.h"
#include "tests/gpu/shaped_model.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr uint32_t kFirstPrompt = 16;
constexpr uint32_t kWarm = 3;  // tokens before the clock starts: they compile, record and raise the clocks

// Tokens per second as a chat decodes them behind `depth` positions, sampled on the device.
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

double prefill_speed(Decoder& decoder, uint32_t tokens) {
  const std::vector<Token> prompt(tokens, 1);
  const auto start = Clock::now();
  decoder.prefill(prompt, 0);
  decoder.wait();
  return tokens / seconds_since(start);
}

// All sequences together, each from its first position on.
double batch_speed(Decoder& decoder, uint32_t sequences, uint32_t tokens) {
  std::vector<Column> columns(sequences);
  Clock::time_point start;
  for (uint32_t i = 0; i < kWarm + tokens; ++i) {
    if (i == kWarm) start = Clock::now();
    for (uint32_t s = 0; s < sequences; ++s) columns[s] = {static_cast<Token>(i + s), i, s};
    decoder.forward(columns, Logits::kAll);
    decoder.wait();
  }
  return sequences * tokens / seconds_since(start);
}

const GpuTraits* traits_of(const GpuDevice& device) {
  for (const GpuTraits& gpu : known_gpus()) {
    const std::string model(gpu.title.substr(gpu.title.rfind(' ') + 1));
    if (device.name.find(model) != std::string::npos) return &gpu;
  }
  return nullptr;
}

double predicted(const TokensPerSecond& speeds, LaunchMode mode) {
  return mode == LaunchMode::kStream ? speeds.stream : mode == LaunchMode::kGraph ? speeds.graph : speeds.persistent;
}

class ShapeBench {
 public:
  ShapeBench(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling)
      : name_(name), plan_(plan), device_(device), ceiling_(read_ceiling), shape_(model_shape(name)), model_(shape_) {}

  void run() {
    std::printf("\n## %s\n\n%s bytes of weights\n\n", name_.c_str(), grouped(model_.n_bytes()).c_str());
    one_sequence();
    batches();
    std::fflush(stdout);
  }

 private:
  uint32_t context() const {
    const uint32_t depth = *std::max_element(plan_.depths.begin(), plan_.depths.end()) + plan_.tokens + kWarm + 2;
    const uint32_t prompt = *std::max_element(plan_.prompts.begin(), plan_.prompts.end());
    return std::min(model_.config().context_length, std::max({depth, prompt, kFirstPrompt}));
  }

  void one_sequence() {
    const ContextPointer context_before = Context::open(*device_.table, device_.gpu);
    const auto start = Clock::now();
    std::unique_ptr<GpuDecoderSteps> own =
        make_gpu_steps(model_.config(), model_.tensors(), {device_, {.context = context()}});
    GpuDecoderSteps& steps = *own;
    Profile& profile = steps.profile();
    profile.set_enabled(false);
    Decoder decoder(model_.config(), std::move(own));
    const double load_seconds = seconds_since(start);
    decoder.forward(std::vector<Token>(kFirstPrompt, 1), 0, Logits::kLast);
    decoder.wait();
    std::printf("Loaded in %.2f s; the logits behind a prompt of %u tokens after %.2f s, the context being there.\n\n",
                load_seconds, kFirstPrompt, seconds_since(start));
    decode(decoder, steps);
    prefill(decoder);
    steps.set_launch_mode(LaunchMode::kStream, "");
    profile.set_peak_bandwidth(ceiling_);
    profile.set_enabled(true);
    decode_speed(decoder, 0, plan_.tokens);
    std::printf("%s\n", profile_markdown(profile, name_ + ", kernels of decode at 0").c_str());
  }

  void decode(Decoder& decoder, GpuDecoderSteps& steps) {
    const GpuTraits* traits = traits_of(device_.gpu);
    std::optional<TokenWork> work;
    if (traits)
      work.emplace(decoder_specs(model_.config(), shape_.formats, context(), PassKind::kToken, 1), traits->target);
    std::printf(
        "| decode at | launch | tokens/s | of the read ceiling | analytic model |\n| ---: | --- | ---: | ---: | ---: "
        "|\n");
    for (const uint32_t depth : plan_.depths) {
      if (depth + plan_.tokens + kWarm + 1 > decoder.max_positions()) continue;
      if (depth > 0) decoder.prefill(std::vector<Token>(depth, 1), 0);
      for (const LaunchMode mode : kLaunchModes) {
        steps.set_launch_mode(mode, "");
        const double speed = decode_speed(decoder, depth, plan_.tokens);
        const uint64_t cached =
            uint64_t{4} * model_.config().n_layers * model_.config().n_kv_heads * model_.config().head_dim;
        const double bytes = static_cast<double>(model_.n_bytes() + cached * depth);
        std::printf("| %u | %s | %.1f | %.1f%% | ", depth, std::string(name_of(mode)).c_str(), speed,
                    100 * bytes * speed / ceiling_);
        if (work)
          std::printf("%.1f |\n", predicted(predict(*traits, work->at(depth), work->barriers()), mode));
        else
          std::printf("|\n");
      }
    }
  }

  void prefill(Decoder& decoder) {
    const GpuTraits* traits = traits_of(device_.gpu);
    std::printf("\n| prefill of | tokens/s | analytic model |\n| ---: | ---: | ---: |\n");
    for (const uint32_t prompt : plan_.prompts) {
      if (prompt > decoder.max_positions()) continue;
      prefill_speed(decoder, prompt);
      std::printf("| %u | %.1f | ", prompt, prefill_speed(decoder, prompt));
      std::printf(traits ? "%.1f |\n" : "|\n",
                  traits ? prefill_bound(*traits, model_.config(), model_.n_bytes(), prompt) : 0);
    }
    std::printf("\n");
  }

  void batches() {
    std::printf(
        "\n| sequences | tokens/s of all, stream | graph | by bytes at the read ceiling |\n"
        "| ---: | ---: | ---: | ---: |\n");
    for (const uint32_t sequences : plan_.batches) {
      try {
        std::unique_ptr<GpuDecoderSteps> own = make_gpu_steps(
            model_.config(), model_.tensors(), {device_, {.context = plan_.tokens + kWarm, .sequences = sequences}});
        GpuDecoderSteps& steps = *own;
        steps.profile().set_enabled(false);
        Decoder decoder(model_.config(), std::move(own));
        const double streamed = batch_speed(decoder, sequences, plan_.tokens);
        steps.set_launch_mode(LaunchMode::kGraph, "");
        std::printf("| %u | %.1f | %.1f | %.1f |\n", sequences, streamed, batch_speed(decoder, sequences, plan_.tokens),
                    sequences * ceiling_ / static_cast<double>(model_.n_bytes()));
      } catch (const Error& error) {
        std::printf("| %u | left out: %s |\n", sequences, error.what());
      }
    }
  }

  std::string name_;
  const BenchPlan& plan_;
  const DeviceChoice& device_;
  double ceiling_;
  ModelShape shape_;
  ShapedModel model_;
};

}  // namespace

void measure_shape(const std::string& name, const BenchPlan& plan, const DeviceChoice& device, double read_ceiling) {
  ShapeBench(name, plan, device, read_ceiling).run();
}

}  // namespace warpchat
