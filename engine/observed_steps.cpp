#include "engine/observed_steps.h"

#include <algorithm>
#include <cassert>

namespace warpchat {

void ObservedSteps::begin(std::span<const Run> runs) {
  assert(runs.size() == 1);
  first_ = 0, n_columns_ = runs[0].n_columns(), n_wanted_ = runs[0].n_wanted();
  ForwardingSteps::begin(runs);
}

bool ObservedSteps::run(const Operation& operation) {
  if (std::holds_alternative<WantedColumns>(operation.what)) first_ = n_columns_ - n_wanted_, n_columns_ = n_wanted_;
  if (!ForwardingSteps::run(operation)) return false;
  for (const Buffer buffer : outputs_of(operation)) show(operation, buffer);
  return true;
}

void ObservedSteps::show(const Operation& operation, Buffer buffer) {
  const std::optional<uint32_t> layer =
      operation.layer < config_.n_layers ? std::optional(operation.layer) : std::nullopt;
  const uint32_t width = shape_of(buffer, config_).width;
  if (buffer == Buffer::kLogits) {
    for (uint32_t column = first_; column < first_ + n_columns_; ++column)
      observe_({operation.name, name_of(buffer), layer, column, width, read_logits(column)});
    return;
  }
  values_.resize(uint64_t{n_columns_} * width);
  if (!read_columns(buffer, first_, values_)) return;
  // A GPU normalises a convolution's queries and keys, and transforms alpha and beta, in the next operation: only
  // values compare.
  const bool is_convolution = std::holds_alternative<Convolution>(operation.what);
  const uint32_t begin = is_convolution ? 2 * config_.delta_net.n_k_heads * config_.delta_net.head_dim : 0;
  shown_.clear();
  for (uint64_t column = 0; column < n_columns_; ++column)
    shown_.insert(shown_.end(), values_.begin() + static_cast<ptrdiff_t>(column * width + begin),
                  values_.begin() + static_cast<ptrdiff_t>((column + 1) * width));
  const std::span<const float> instead =
      observe_({operation.name, is_convolution ? "values" : name_of(buffer), layer, first_, width - begin, shown_});
  if (instead.empty()) return;
  for (uint64_t column = 0; column < n_columns_; ++column)
    std::copy_n(instead.data() + column * (width - begin), width - begin, values_.data() + column * width + begin);
  write_columns(buffer, first_, values_);
}

}  // namespace warpchat
