#include "engine/observed_steps.h"

#include <algorithm>
#include <cassert>

namespace warpchat {

void ObservedSteps::begin(std::span<const Run> runs) {
  assert(runs.size() == 1);
  first_ = 0, n_columns_ = runs[0].n_columns(), n_wanted_ = runs[0].n_wanted();
  ForwardingSteps::begin(runs);
}

void ObservedSteps::show(std::string_view step, std::string_view vector, std::optional<uint32_t> layer, Buffer buffer,
                         uint32_t begin) {
  const uint32_t width = buffer.width - begin;
  values_.resize(uint64_t{n_columns_} * buffer.width);
  if (!read_columns(buffer, first_, values_)) return;
  for (uint64_t column = 0; begin > 0 && column < n_columns_; ++column)
    std::copy_n(values_.data() + column * buffer.width + begin, width, values_.data() + column * width);
  const std::span<const float> instead =
      observe_({step, vector, layer, first_, width, std::span(values_).first(uint64_t{n_columns_} * width)});
  if (!instead.empty()) replace(buffer, begin, instead);
}

void ObservedSteps::replace(Buffer buffer, uint32_t begin, std::span<const float> values) {
  if (begin == 0) return void(write_columns(buffer, first_, values));
  read_columns(buffer, first_, values_);  // keeps the values before `begin`
  const uint32_t width = buffer.width - begin;
  for (uint64_t column = 0; column < n_columns_; ++column)
    std::copy_n(values.data() + column * width, width, values_.data() + column * buffer.width + begin);
  write_columns(buffer, first_, values_);
}

void ObservedSteps::embed(Buffer hidden) {
  ForwardingSteps::embed(hidden);
  show("embed", "hidden", {}, hidden);
}

void ObservedSteps::norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  ForwardingSteps::norm_qkv(layer, hidden, q, k, v);
  show("norm_qkv", "q", layer, q);
  show("norm_qkv", "k", layer, k);
  show("norm_qkv", "v", layer, v);
}

void ObservedSteps::attention(uint32_t layer, Buffer q, Buffer k, Buffer v, Buffer mixed) {
  ForwardingSteps::attention(layer, q, k, v, mixed);
  show("attention", "mixed", layer, mixed);
}

bool ObservedSteps::keep_wanted(Buffer mixed, Buffer hidden) {
  first_ = n_columns_ - n_wanted_, n_columns_ = n_wanted_;
  return ForwardingSteps::keep_wanted(mixed, hidden);
}

void ObservedSteps::output_residual(uint32_t layer, Buffer mixed, Buffer hidden) {
  ForwardingSteps::output_residual(layer, mixed, hidden);
  show("output_residual", "hidden", layer, hidden);
}

void ObservedSteps::norm_delta(uint32_t layer, Buffer hidden, const DeltaBuffers& x) {
  ForwardingSteps::norm_delta(layer, hidden, x);
  show("norm_delta", "qkv", layer, x.qkv);
  show("norm_delta", "z", layer, x.z);
  show("norm_delta", "alpha", layer, x.alpha);
  show("norm_delta", "beta", layer, x.beta);
}

// A GPU normalises queries and keys, and transforms alpha and beta, in the next step: only values compare.
void ObservedSteps::conv_step(uint32_t layer, const DeltaBuffers& x) {
  ForwardingSteps::conv_step(layer, x);
  show("conv_step", "values", layer, x.qkv, 2 * net_.n_k_heads * net_.head_dim);
}

void ObservedSteps::delta_step(uint32_t layer, const DeltaBuffers& x) {
  ForwardingSteps::delta_step(layer, x);
  show("delta_step", "mixed", layer, x.mixed);
}

void ObservedSteps::norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) {
  ForwardingSteps::norm_gate_up(layer, hidden, inner);
  show("norm_gate_up", "inner", layer, inner);
}

void ObservedSteps::down_residual(uint32_t layer, Buffer inner, Buffer hidden) {
  ForwardingSteps::down_residual(layer, inner, hidden);
  show("down_residual", "hidden", layer, hidden);
}

void ObservedSteps::norm_route(uint32_t layer, Buffer hidden, Buffer scores) {
  ForwardingSteps::norm_route(layer, hidden, scores);
  show("norm_route", "scores", layer, scores);
}

void ObservedSteps::experts_residual(uint32_t layer, Buffer hidden) {
  ForwardingSteps::experts_residual(layer, hidden);
  show("experts_residual", "hidden", layer, hidden);
}

void ObservedSteps::norm_logits(Buffer hidden, Buffer logits) {
  ForwardingSteps::norm_logits(hidden, logits);
  for (uint32_t column = first_; column < first_ + n_columns_; ++column)
    observe_({"norm_logits", "logits", {}, column, logits.width, read_logits(column)});
}

}  // namespace warpchat
