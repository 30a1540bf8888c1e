// Even columns store their 16-byte parts in order; odd columns swap the parts of neighbouring units. So the two columns
// that eight lanes read together do not conflict.
#include "kernels/matmul/gemm_input.h"

#include <algorithm>

#include "kernels/common/columns.h"
#include "kernels/matmul/f16_activations.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kPartPairs = 4, kPartBytes = 16, kUnitParts = 4, kUnitPairs = kUnitParts * kPartPairs;
constexpr uint32_t kRowPairs = kGemmTileK / 2, kRowParts = kRowPairs / kPartPairs;
constexpr uint32_t kMeanPairs = kGemmTileK / kHalfMeanValues, kMeanParts = kMeanPairs / kPartPairs;
static_assert(kGemmTileK == kF16ActivationStep);

}  // namespace

GemmInput::GemmInput(Builder& b, const GemmPlan& plan)
    : b_(b),
      plan_(plan),
      halves_(b.shared<b32>("input", std::max(2 * tile_pairs(), plan.warps * plan.stage_floats()))),
      means_(b.shared<b32>("means", plan.has_lowest() ? 2 * plan.columns * kMeanPairs : kPartPairs)),
      places_(b.shared<u32>("places", plan.columns)),
      factors_(b.shared<f32>("scales_of_columns", plan.columns)),
      part_(b.thread() % kRowParts),
      column_(b.thread() / kRowParts),
      odd_((b.lane() >> 2) & 1),
      own_(halves_ + column_ * kRowPairs + (part_ ^ ((column_ & 1) * kUnitParts)) * kPartPairs),
      fragment_(halves_ + (b.lane() >> 2) * kRowPairs + (b.lane() & 3) * kPartPairs),
      tile_(b.var("tile", 0u)) {}

uint32_t GemmInput::columns_at_once() const { return plan_.threads() / kRowParts; }
uint32_t GemmInput::tile_pairs() const { return plan_.columns * kRowPairs; }

// Columns beyond the block's last repeat it.
void GemmInput::begin(const Columns& columns, const Reg<u32>& first_unit) {
  columns_.emplace(columns);
  b_.for_("column", b_.thread(), plan_.columns, plan_.threads(), [&](Reg<u32> column) {
    Reg<u32> place = columns.place(b_.min(column, columns.count - 1));
    places_.store(column, place);
    factors_.store(column, columns.factors.load(place, kReadOnly));
  });
  Reg<u32> n_steps = (columns.k + (kF16ActivationStep - 1)) / kF16ActivationStep;
  step_bytes_.emplace((n_steps * (kF16ActivationStep * 2)).named("step_bytes"));
  row_bytes_.emplace((n_steps * static_cast<uint32_t>(f16_activation_size(kF16ActivationStep) * 2)).named("row_bytes"));
  first_part_.emplace(b_.address(columns.halves) + wide(part_ * kPartBytes));
  b_.barrier();
  ask_into(first_unit, tile_);
}

void GemmInput::arrive() {
  if (runs(b_.target(), sm_80)) b_.wait_copies();
  b_.barrier();
}

void GemmInput::ask(const Reg<u32>& first_unit) { ask_into(first_unit, tile_pairs() - tile_); }

void GemmInput::turn() { tile_ = tile_pairs() - tile_; }

// Skips columns that no product reads.
void GemmInput::ask_into(const Reg<u32>& first_unit, const Reg<u32>& tile) {
  Reg<u64> from = *first_part_ + wide(first_unit * (kUnitParts * kPartBytes));
  const Shared<b32> to = (own_ + tile).aligned(kPartBytes);
  const Shared<u32> places = places_ + column_;
  for (uint32_t first = 0; first < plan_.columns; first += columns_at_once()) {
    const uint32_t skipped_columns = max_columns_skipping(first);
    const auto ask = [&] {
      copy(to + first * kRowPairs, b_.pointer<b32>(b_.mad_wide(places.load(first), *row_bytes_, from), kPartBytes));
    };
    const auto ask_of_block = [&] {
      if (first + columns_at_once() <= plan_.columns) return ask();
      b_.if_(column_ < plan_.columns - first, ask);
    };
    skipped_columns == 0 ? ask_of_block() : b_.if_(columns_->count > skipped_columns, ask_of_block);
  }
  if (plan_.has_lowest()) ask_means(first_unit, tile);
}

// Each thread loads one or more parts of the columns that the block computes.
void GemmInput::ask_means(const Reg<u32>& first_unit, const Reg<u32>& tile) {
  const Shared<b32> to = (means_ + tile / (kRowPairs / kMeanPairs)).aligned(kPartBytes);
  Reg<u64> from = b_.address(columns_->halves) + wide(*step_bytes_ + first_unit / kGemmTileUnits * (kMeanPairs * 4));
  const uint32_t n_parts = plan_.columns * kMeanParts;
  const auto ask_part = [&](const Reg<u32>& part) {
    Reg<u32> column = part / kMeanParts;
    const auto ask = [&] {
      Reg<u64> own = b_.mad_wide(places_.load(column), *row_bytes_, from + wide(part % kMeanParts * kPartBytes));
      copy(to + part * kPartPairs, b_.pointer<b32>(own, kPartBytes));
    };
    if (plan_.columns <= kMinComputedColumns) return ask();
    Var<u32> computed = b_.var("computed", kMinComputedColumns);
    for (uint32_t few = kMinComputedColumns; few < plan_.columns; few *= 2)
      computed = b_.select(columns_->count > few, few * 2, computed);
    b_.if_(column < computed, ask);
  };
  if (n_parts <= plan_.threads()) return b_.if_(b_.thread() < n_parts, [&] { ask_part(b_.thread()); });
  b_.for_("mean_part", b_.thread(), n_parts, plan_.threads(), ask_part);
}

void GemmInput::copy(const Shared<b32>& to, const Global<b32>& from) const {
  if (runs(b_.target(), sm_80))
    b_.copy_async(to, from, Bytes<kPartBytes>{});
  else
    to.store(0, from.load<4>(0, kReadOnly));
}

// In odd columns, even units move up by one and odd units move down.
GemmInput::Place GemmInput::place(const Reg<u32>& unit) const {
  return (fragment_ + b_.mad(unit ^ odd_, kUnitPairs, tile_)).aligned(kPartBytes);
}

Vec<f16x2, 4> GemmInput::load(const Place& place, uint32_t i) const {
  return place.load<4>(i * 8 * kRowPairs).as<f16x2>();
}

Shared<b32> GemmInput::place_means() const {
  Reg<u32> of_tile = tile_ / (kRowPairs / kMeanPairs) + ((b_.lane() >> 2) * kMeanPairs + (b_.lane() & 3) * 2);
  return (means_ + of_tile).aligned(8);
}

Vec<f16x2, 2> GemmInput::load_means(const Shared<b32>& place, uint32_t i) const {
  return place.load<2>(i * 8 * kMeanPairs).as<f16x2>();
}

}  // namespace warpchat
