// One pass through the model, top to bottom: every device carries out these operations in this order.
#include "engine/decoder.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <utility>

#include "engine/device_sampler.h"

namespace warpchat {

namespace {

constexpr size_t kPassesAhead = 1;  // queued behind the running pass, so that the GPU does not idle between two

bool is_set(const std::atomic<bool>* flag) { return flag != nullptr && *flag; }

PassLength pass_length_of(const ModelConfig& config, const Steps& steps, uint32_t max) {
  const uint32_t unit = steps.is_gpu() && steps.n_states() > 0 ? PassLength::kChunk : PassLength::kUnit;
  const uint32_t for_experts =
      config.experts.n == 0 ? 0 : PassLength::kColumnsOfAnExpert * config.experts.n / config.experts.n_used;
  return {max, steps.is_emulated(), steps.is_gpu(), unit, std::max(PassLength::kMin, for_experts)};
}

}  // namespace

Network text_decoder(const ModelConfig& config) {
  using W = Weight;
  using B = Buffer;
  Network network;
  uint32_t layer = config.n_layers;
  bool begins_part = false;
  const auto add = [&](std::string_view name, auto what) {
    const auto index = static_cast<uint32_t>(network.size());
    network.push_back({name, layer, std::exchange(begins_part, false), std::move(what), index});
  };
  add("embed", Embedding{.output = B::kHidden});
  for (layer = 0; layer < config.n_layers; ++layer) {
    begins_part = true;
    B mixed = B::kMixed;
    switch (config.layers[layer].mixer) {
      case Mixer::kAttention: {
        Products projections{.input = B::kHidden, .norm = W::kAttnNorm};
        projections.products = {{.weights = W::kQ, .bias = W::kQBias, .output = B::kQ},
                                {.weights = W::kK, .bias = W::kKBias, .output = B::kK},
                                {.weights = W::kV, .bias = W::kVBias, .output = B::kV}};
        Attention attend{.q = B::kQ, .k = B::kK, .v = B::kV, .output = mixed};
        if (config.gated_attention) {
          projections.products.push_back({.weights = W::kQGate, .output = B::kQGate});
          attend.gate = B::kQGate;
        }
        add("norm_qkv", std::move(projections));
        add("attention", attend);
        break;
      }
      case Mixer::kDeltaNet: {
        mixed = B::kDeltaMixed;
        Products projections{.input = B::kHidden, .norm = W::kAttnNorm};
        projections.products = {{.weights = W::kQkv, .output = B::kQkv},
                                {.weights = W::kZ, .output = B::kZ},
                                {.weights = W::kAlpha, .output = B::kAlpha},
                                {.weights = W::kBeta, .output = B::kBeta}};
        add("norm_delta", std::move(projections));
        add("conv_step", Convolution{.qkv = B::kQkv, .alpha = B::kAlpha, .beta = B::kBeta});
        add("delta_step",
            Recurrence{.qkv = B::kQkv, .z = B::kZ, .alpha = B::kAlpha, .beta = B::kBeta, .output = mixed});
        break;
      }
    }
    if (layer + 1 == config.n_layers) add("keep_wanted", WantedColumns{{mixed, B::kHidden}});
    const MatrixProduct output{.weights = W::kOutput, .bias = W::kOutputBias, .output = B::kHidden, .adds = true};
    add("output_residual", Products{.input = mixed, .norm = W::kNone, .products = {output}});
    begins_part = true;
    switch (config.layers[layer].ffn) {
      case Ffn::kDense: {
        const MatrixProduct gate_up{
            .weights = W::kGate, .bias = W::kGateBias, .output = B::kInner, .up = W::kUp, .up_bias = W::kUpBias};
        add("norm_gate_up", Products{.input = B::kHidden, .norm = W::kFfnNorm, .products = {gate_up}});
        const MatrixProduct down{.weights = W::kDown, .bias = W::kDownBias, .output = B::kHidden, .adds = true};
        add("down_residual", Products{.input = B::kInner, .norm = W::kNone, .products = {down}});
        break;
      }
      case Ffn::kExperts: {
        Products scores{.input = B::kHidden, .norm = W::kFfnNorm};
        scores.products = {{.weights = W::kRouter, .output = B::kScores}};
        Experts experts{.input = B::kHidden, .norm = W::kFfnNorm, .output = B::kHidden};
        experts.gate_up = {.weights = W::kExpertGate, .output = B::kExpertInner, .up = W::kExpertUp};
        experts.down = {.weights = W::kExpertDown, .output = B::kExpertOutputs};
        if (config.experts.shared_ffn > 0) {
          scores.products.push_back({.weights = W::kSharedExpertGate, .output = B::kSharedExpertGate});
          experts.shared_gate_up = {.weights = W::kSharedGate, .output = B::kSharedInner, .up = W::kSharedUp};
          experts.shared_down = {.weights = W::kSharedDown, .output = B::kSharedOutput};
        }
        add("norm_route", Routing{std::move(scores)});
        add("experts_residual", experts);
        break;
      }
    }
  }
  const MatrixProduct logits{.weights = W::kLogits, .bias = W::kLogitsBias, .output = B::kLogits};
  add("norm_logits", Products{.input = B::kHidden, .norm = W::kLogitsNorm, .products = {logits}});
  return network;
}

Decoder::Decoder(const ModelConfig& config, std::unique_ptr<Steps> steps)
    : config_(config),
      network_(text_decoder(config)),
      steps_(std::move(steps)),
      pass_length_(pass_length_of(config_, *steps_, steps_->max_columns() - (max_sequences() - 1))) {}

bool Decoder::forward(std::span<const Run> runs, const std::atomic<bool>* stop) {
  assert(!runs.empty());
  steps_->begin(runs);
  return run(stop);
}

bool Decoder::forward(std::span<const Token> tokens, uint32_t position, Logits wanted, const std::atomic<bool>* stop,
                      uint32_t sequence) {
  const Run run{sequence, position, tokens, wanted};
  return forward({&run, 1}, stop);
}

std::optional<uint32_t> Decoder::prefill(std::span<const Token> tokens, uint32_t position, uint32_t sequence,
                                         const PrefillWatch& watch) {
  struct Begun {
    std::span<const Token> tokens;
    PassEnd end;
  };
  std::deque<Begun> begun;  // not known to be finished
  const auto await = [&](size_t max_left) {
    while (!begun.empty()) {
      const Begun& pass = begun.front();
      const std::optional<double> seconds = pass.end(/*wait=*/begun.size() > max_left && !is_set(watch.stop));
      if (!seconds) return;
      pass_length_.record_time(static_cast<uint32_t>(pass.tokens.size()), *seconds);
      if (watch.after_pass) watch.after_pass(pass.tokens);
      begun.pop_front();
    }
  };
  for (;;) {
    const uint32_t n = pass_length_.next(tokens.size());
    const bool is_last = n == tokens.size();
    if (!forward(tokens.first(n), position, is_last ? Logits::kLast : Logits::kNone, watch.stop, sequence)) break;
    begun.push_back({tokens.first(n), steps_->end_pass()});
    await(is_last ? 0 : kPassesAhead);
    if (is_last && begun.empty()) return n - 1;
    if (is_last) break;
    tokens = tokens.subspan(n);
    position += n;
  }
  await(begun.size());
  return std::nullopt;
}

bool Decoder::forward_sampled(const std::atomic<bool>* stop) {
  steps_->sampler()->begin_next();
  return run(stop);
}

bool Decoder::run(const std::atomic<bool>* stop) {
  for (const Operation& operation : network_) {
    if (operation.begins_part && is_set(stop)) return false;
    if (!steps_->run(operation)) return true;
  }
  return true;
}

}  // namespace warpchat
