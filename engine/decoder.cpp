// One pass through the model, top to bottom: every device carries out these steps in this order.
#include "engine/decoder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/device_sampler.h"

namespace warpchat {

Decoder::Decoder(const ModelConfig& config, std::unique_ptr<Steps> steps) : config_(config), steps_(std::move(steps)) {}

bool Decoder::forward(std::span<const Token> tokens, uint32_t position, Logits wanted, const std::atomic<bool>* stop,
                      uint32_t sequence) {
  columns_.clear();
  for (const Token token : tokens) columns_.push_back({token, position++, sequence});
  return forward(columns_, wanted, stop);
}

bool Decoder::forward(std::span<const Column> columns, Logits wanted, const std::atomic<bool>* stop) {
  assert(!columns.empty() && columns.size() <= (wanted == Logits::kAll ? max_logits_columns() : max_columns()));
  steps_->begin(columns);
  return run(wanted, stop);
}

std::optional<uint32_t> Decoder::prefill(std::span<const Token> tokens, uint32_t position, uint32_t sequence,
                                         const PrefillWatch& watch) {
  for (;;) {
    const size_t n = std::min<size_t>(max_columns(), tokens.size());
    const bool is_last = n == tokens.size();
    if (!forward(tokens.first(n), position, is_last ? Logits::kLast : Logits::kNone, watch.stop, sequence))
      return std::nullopt;
    if (watch.after_pass) watch.after_pass(tokens.first(n));
    if (is_last) return static_cast<uint32_t>(n) - 1;
    tokens = tokens.subspan(n);
    position += static_cast<uint32_t>(n);
  }
}

bool Decoder::forward_sampled(Logits wanted, const std::atomic<bool>* stop) {
  steps_->sampler()->begin_next();
  return run(wanted, stop);
}

bool Decoder::run(Logits wanted, const std::atomic<bool>* stop) {
  const PassState& s = steps_->buffers();
  steps_->embed(s.hidden);
  for (uint32_t layer = 0; layer < config_.n_layers; ++layer) {
    if (stop != nullptr && *stop) return false;
    steps_->norm_qkv(layer, s.hidden, s.q, s.k, s.v);
    steps_->rope_scatter(layer, s.q, s.k, s.v);
    steps_->attention(layer, s.q, s.mixed);
    steps_->output_residual(layer, s.mixed, s.hidden);
    steps_->norm_gate_up(layer, s.hidden, s.inner);
    steps_->down_residual(layer, s.inner, s.hidden);
  }
  if (wanted != Logits::kNone) steps_->norm_logits(s.hidden, wanted, s.logits);
  return true;
}

}  // namespace warpchat
