// The 16-byte parts of a column lie in their order in columns of even number, and those of neighbouring units exchanged
// in the others: so the two columns that eight lanes read at once have no bank conflicts.
#include "kernels/gemm_input.h"

#include <algorithm>
#include <bit>

#include "kernels/columns.h"
#include "kernels/half_columns.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kPartPairs = 4, kPartBytes = 16, kUnitParts = 4;
constexpr uint32_t kRowPairs = kGemmTileK / 2, kRowParts = kRowPairs / kPartPairs;

// A block of no more columns passes over this one.
uint32_t most_that_pass_over(uint32_t column) { return column < kGemmFewColumns ? 0 : std::bit_floor(column); }

}  // namespace

GemmInput::GemmInput(Builder& b, const GemmPlan& plan)
    : b_(b),
      plan_(plan),
      halves_(b.shared<b32>("input", std::max(2 * tile_pairs(), plan.warps * plan.stage_floats()))),
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

// Columns beyond those of the block are its last one again.
void GemmInput::begin(const Columns& columns) {
  columns_.emplace(columns);
  b_.for_("column", b_.thread(), plan_.columns, plan_.threads(), [&](Reg<u32> column) {
    Reg<u32> place = columns.place(b_.min(column, columns.count - 1));
    places_.store(column, place);
    factors_.store(column, columns.factors.load(place, kReadOnly));
  });
  row_bytes_.emplace(
      ((columns.k + (kHalfColumnStep - 1)) / kHalfColumnStep * (kHalfColumnStep * 2)).named("row_bytes"));
  first_part_.emplace(b_.address(columns.halves) + wide(part_ * kPartBytes));
  b_.barrier();
  ask_into(Reg<u32>(b_.var("first", 0u)), tile_);
}

void GemmInput::arrive() {
  if (runs(b_.target(), sm_80)) b_.wait_copies();
  b_.barrier();
}

void GemmInput::ask(const Reg<u32>& first_unit) { ask_into(first_unit, tile_pairs() - tile_); }

void GemmInput::turn() { tile_ = tile_pairs() - tile_; }

// Of columns that the products pass over nothing.
void GemmInput::ask_into(const Reg<u32>& first_unit, const Reg<u32>& tile) {
  Reg<u64> from = *first_part_ + wide(first_unit * (kUnitParts * kPartBytes));
  const Shared<b32> to = own_ + tile;
  for (uint32_t first = 0; first < plan_.columns; first += columns_at_once()) {
    const uint32_t passed_over = most_that_pass_over(first);
    const auto ask = [&] {
      copy(to + first * kRowPairs,
           b_.pointer<b32>(b_.mad_wide(places_.load(column_ + first), *row_bytes_, from), kPartBytes));
    };
    const auto ask_of_block = [&] {
      if (first + columns_at_once() <= plan_.columns) return ask();
      b_.if_(column_ < plan_.columns - first, ask);
    };
    passed_over == 0 ? ask_of_block() : b_.if_(columns_->count > passed_over, ask_of_block);
  }
}

void GemmInput::copy(const Shared<b32>& to, const Global<b32>& from) const {
  if (runs(b_.target(), sm_80))
    b_.copy_async(to.aligned(kPartBytes), from, Bytes<kPartBytes>{});
  else
    to.aligned(kPartBytes).store(0, from.load<4>(0, kReadOnly));
}

GemmInput::Place GemmInput::place(const Reg<u32>& unit) const {
  return (fragment_ + tile_ + (unit ^ odd_) * (kGemmUnit / 2)).aligned(kPartBytes);
}

Vec<f16x2, 4> GemmInput::load(const Place& place, uint32_t i) const {
  return place.load<4>(i * 8 * kRowPairs).as<f16x2>();
}

}  // namespace warpchat
