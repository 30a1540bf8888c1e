// One pass through the model, top to bottom: every device carries out these steps in this order.
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

Decoder::Decoder(const ModelConfig& config, std::unique_ptr<Steps> steps)
    : config_(config),
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
  const PassState& s = steps_->buffers();
  steps_->embed(s.hidden);
  for (uint32_t layer = 0; layer < config_.n_layers; ++layer) {
    if (is_set(stop)) return false;
    const bool is_attention = config_.layers[layer].mixer == Mixer::kAttention;
    const Buffer mixed = is_attention ? s.mixed : s.delta.mixed;
    if (is_attention) {
      steps_->norm_qkv(layer, s.hidden, s.q, s.k, s.v);
      steps_->attention(layer, s.q, s.k, s.v, mixed);
    } else {
      steps_->norm_delta(layer, s.hidden, s.delta);
      steps_->conv_step(layer, s.delta);
      steps_->delta_step(layer, s.delta);
    }
    if (layer + 1 == config_.n_layers && !steps_->keep_wanted(mixed, s.hidden)) return true;
    steps_->output_residual(layer, mixed, s.hidden);
    if (is_set(stop)) return false;
    switch (config_.layers[layer].ffn) {
      case Ffn::kDense:
        steps_->norm_gate_up(layer, s.hidden, s.inner);
        steps_->down_residual(layer, s.inner, s.hidden);
        break;
      case Ffn::kExperts:
        steps_->norm_route(layer, s.hidden, s.scores);
        steps_->experts_residual(layer, s.hidden);
        break;
    }
  }
  steps_->norm_logits(s.hidden, s.logits);
  return true;
}

}  // namespace warpchat
