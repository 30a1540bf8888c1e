#include "kernels/matmul/shared_input.h"

#include <algorithm>
#include <utility>

#include "kernels/common/warp_sums.h"
#include "kernels/matmul/integer_unit.h"

namespace warpchat {

using namespace ptx;

SharedInput::SharedInput(Builder& b, const GemvPlan& plan, const VirtualBlock& block)
    : b_(b),
      plan_(plan),
      block_(block),
      plane_words_(plan.tile_units * 4),
      planes_(block.shared<b32>("input", uint64_t{plan.spec.columns} * plan.input_column_bytes() / 4)) {
  if (plan.normalises())
    squares_.emplace(block.shared<f32>("squares", uint64_t{plan.spec.columns} * plan.squares_slots()));
}

void SharedInput::clear_squares() {
  if (!squares_) return;
  b_.for_("slot", block_.thread(), plan_.spec.columns * plan_.squares_slots(), plan_.threads(),
          [&](Reg<u32> slot) { squares_->store(slot, 0.0f); });
}

void SharedInput::fill(const Global<f32>& x, const std::optional<Global<f32>>& gamma,
                       const std::optional<Reg<u32>>& n_columns, const FirstUnit& first) {
  const auto from = [&](const Global<f32>& p) { return first ? p + *first * plan_.unit_weights : p; };
  Column tile{from(x), {}, planes_};
  if (gamma) tile.gamma.emplace(from(*gamma));
  const auto fill_column = [&](const std::optional<Reg<u32>>& column) {
    Var<f32> squares = b_.var("squares", 0.0f);
    fill_floats(column_at(tile, column), first, squares);
    if (squares_) store_squares(column ? *column * plan_.warps + block_.warp() : block_.warp(), squares, {});
  };
  b_.region("normalise", [&] {
    if (!plan_.has_float_input)
      fill_integers(tile, first);
    else if (n_columns)
      b_.for_("column", 0, *n_columns, 1, [&](Reg<u32> column) { fill_column(column); });
    else
      fill_column({});
  });
}

SharedInput::Column SharedInput::column_at(const Column& first, const std::optional<Reg<u32>>& column) const {
  if (!column) return first;
  return {first.x + wide(*column) * plan_.spec.k, first.gamma,
          first.planes + *column * (plan_.input_column_bytes() / 4)};
}

// Loads N values from `first` on together, scales them by gamma and accumulates their squares; zeros outside.
template <int N>
std::vector<Reg<f32>> SharedInput::load_values(const Column& column, const Reg<u32>& first,
                                               const std::optional<Pred>& is_inside, Var<f32>& squares) {
  const auto load_from = [&](const Global<f32>& p) {
    const Global<f32> from = p + first;
    std::vector<Reg<f32>> values;
    if constexpr (N == 1) {
      values.push_back(from.load());
    } else {
      for (int i = 0; i < N; i += 4) {
        Vec<f32, 4> four = from.template load<4>(i);
        for (int j = 0; j < 4; ++j) values.push_back(four[j]);
      }
    }
    return values;
  };
  const auto load = [&] {
    const std::vector<Reg<f32>> x = load_from(column.x);
    if (!column.gamma) return x;
    const std::vector<Reg<f32>> gamma = load_from(*column.gamma);
    std::vector<Reg<f32>> scaled;
    for (int i = 0; i < N; ++i) {
      squares = b_.fma(x[i], x[i], squares);
      scaled.push_back(x[i] * gamma[i]);
    }
    return scaled;
  };
  if (!is_inside) return load();
  VarVec<f32, N> values = b_.vars<f32, N>("value", 0.0f);
  b_.if_(*is_inside, [&] {
    const std::vector<Reg<f32>> loaded = load();
    for (int i = 0; i < N; ++i) values[i] = loaded[i];
  });
  std::vector<Reg<f32>> all;
  for (int i = 0; i < N; ++i) all.emplace_back(values[i]);
  return all;
}

// Four lanes per unit, eight values per lane; lanes must not diverge around the shuffles. Rounds are distributed over
// the warps. Several are loaded at once and rotate through the first place.
void SharedInput::fill_integers(const Column& tile, const FirstUnit& first) {
  constexpr uint32_t kUnits = GemvPlan::kFillUnits, kValues = 8;
  const uint32_t n_ahead = plan_.prefetched_fill_rounds(), warps = plan_.warps;
  const bool is_ragged = plan_.n_units % (plan_.is_tiled() ? plan_.tile_units : kUnits) != 0;
  Reg<u32> quarter = b_.lane() % 4, n_rounds = b_.var("n_rounds", plan_.fill_rounds());
  const auto is_present = [&](const Reg<u32>& index) -> std::optional<Pred> {
    if (n_ahead == 1) return {};
    return index < n_rounds;
  };
  const auto round_at = [&](const Reg<u32>& index) {
    Reg<u32> unit = (index * kUnits + b_.lane() / 4).named("unit");
    const auto there = is_present(index);
    if (!is_ragged) return Round{unit, there};
    Pred is_inside = (first ? unit + *first : unit) < plan_.n_units;
    if (there) return Round{unit, is_inside && *there};
    return Round{unit, is_inside};
  };
  const auto load = [&](const Round& round, Var<f32>& squares) {
    return load_values<kValues>(tile, round.unit * 32 + quarter * kValues, round.is_inside, squares);
  };
  b_.for_("round", block_.warp(), n_rounds, warps * n_ahead, [&](Reg<u32> index) {
    std::vector<Var<f32>> ahead;  // per round: values, and the sum of their squares
    for (uint32_t i = 0; i < n_ahead; ++i) {
      const Round round = round_at(i == 0 ? index : index + i * warps);
      Var<f32> squares = b_.var("squares", 0.0f);
      const std::vector<Reg<f32>> values = load(round, squares);
      if (n_ahead == 1) {
        store_integers(tile, round, quarter, values);
        if (squares_) store_squares(index, squares, {});
        return;
      }
      for (const Reg<f32>& value : values) ahead.push_back(b_.var("value", value));
      if (squares_) ahead.push_back(std::move(squares));
    }
    b_.for_("turn", index, index + n_ahead * warps, warps, [&](Reg<u32> own) {
      store_integers(tile, round_at(own), quarter, {ahead.begin(), ahead.begin() + kValues});
      if (squares_) store_squares(own, ahead[kValues], is_present(own));
      const size_t of_round = ahead.size() / n_ahead;
      for (size_t i = of_round; i < ahead.size(); ++i) ahead[i - of_round] = ahead[i];
    });
  });
}

void SharedInput::store_integers(const Column& tile, const Round& round, const Reg<u32>& quarter,
                                 const std::vector<Reg<f32>>& values) {
  const Reg<u32>& unit = round.unit;
  const IntegerPart part = integers_of(b_, values, plan_.has_input_sums);
  Reg<u32> half = quarter / 2;
  where(round.is_inside, [&] {
    Shared<b32> words = tile.planes + half * plane_words_ + unit * 4 + quarter % 2 * 2;
    words.store(0, part.high);
    words.store(2 * plane_words_, part.low);
    if (part.sum) b_.if_(quarter % 2 == 0, [&] { sums_of(tile.planes).store(unit * 2 + half, part.sum->as<b32>()); });
    b_.if_(quarter == 0, [&] { scales_of(tile.planes).store(unit, part.scale(b_)); });
  });
}

void SharedInput::fill_floats(const Column& column, const FirstUnit& first, Var<f32>& squares) {
  const uint32_t unit_weights = plan_.unit_weights, n_values = plan_.tile_units * unit_weights;
  const bool is_ragged = plan_.spec.k % (plan_.is_tiled() ? n_values : unit_weights) != 0;
  b_.for_("i", block_.thread(), n_values, plan_.threads(), [&](Reg<u32> i) {
    std::optional<Pred> is_inside;
    if (is_ragged) is_inside.emplace((first ? i + *first * unit_weights : i) < plan_.spec.k);
    Reg<f32> value = load_values<1>(column, i, is_inside, squares)[0];
    if (unit_weights == 4) {
      column.planes.as<f32>().store(i, value);
    } else {
      Shared<b32> plane = column.planes + (i >> 2 & 1) * plane_words_;
      plane.as<f32>().store((i >> 3) * 4 + (i & 3), value);
    }
  });
}

void SharedInput::store_squares(const Reg<u32>& slot, const Reg<f32>& squares, const std::optional<Pred>& condition) {
  Reg<f32> total = warp_sum(b_, squares);
  Pred stores = b_.lane() == 0;
  b_.if_(condition ? stores && *condition : stores, [&] {
    if (plan_.is_tiled())
      squares_->store(slot, squares_->load(slot) + total);
    else
      squares_->store(slot, total);
  });
}

Shared<f32> SharedInput::scales_of(const Shared<b32>& planes) const {
  return (planes + (plan_.has_input_sums ? 4 * plane_words_ + 2 * plan_.tile_units : 4 * plane_words_)).as<f32>();
}

SharedInput::Place SharedInput::place(const Reg<u32>& unit) const {
  Shared<b32> words = (planes_.as<u8>() + unit * 16).as<b32>();
  if (plan_.has_float_input) return {words, planes_, planes_.as<f32>()};
  Shared<b32> sums = plan_.has_input_sums ? (sums_of(planes_).as<b64>() + unit).as<b32>() : planes_;
  return {words, sums, scales_of(planes_) + unit};
}

InputUnit SharedInput::load_integers(const Place& place) const {
  InputUnit input;
  for (uint32_t half = 0; half < 2; ++half) {
    Vec<b32, 4> high = place.words.load<4>(half * plane_words_);
    Vec<b32, 4> low = place.words.load<4>((2 + half) * plane_words_);
    for (int i = 0; i < 4; ++i) {
      input.high.push_back(high[i]);
      input.low.push_back(low[i]);
    }
  }
  if (plan_.has_input_sums) {
    Vec<b32, 2> sums = place.sums.load<2>();
    for (int i = 0; i < 2; ++i) input.sums.push_back(sums[i].as<s32>());
  }
  input.scale.push_back(place.scale.load());
  return input;
}

std::vector<Reg<f32>> SharedInput::load_floats(const Place& place, uint32_t column) const {
  const uint32_t offset = column * (plan_.input_column_bytes() / 4);
  std::vector<Reg<f32>> values;
  for (uint32_t plane = 0; plane < plan_.unit_weights / 4; ++plane) {
    Vec<f32, 4> four = place.words.as<f32>().load<4>(offset + plane * plane_words_);
    for (int i = 0; i < 4; ++i) values.push_back(four[i]);
  }
  return values;
}

Reg<f32> SharedInput::rms_factor(const Reg<u32>& column) const {
  const uint32_t n = plan_.squares_slots();
  Shared<f32> of_column = *squares_ + column * n;
  std::vector<Reg<f32>> squares;
  for (uint32_t slot = 0; slot < n; slot += 4) {
    if (n % 4 == 0) {
      Vec<f32, 4> four = of_column.load<4>(slot);
      for (int i = 0; i < 4; ++i) squares.push_back(four[i]);
    } else {
      for (uint32_t i = slot; i < std::min(slot + 4, n); ++i) squares.push_back(of_column.load(i));
    }
  }
  Var<f32> sum = b_.var("sum", squares[0]);
  for (size_t i = 1; i < squares.size(); ++i) sum += squares[i];
  return b_.rsqrt(b_.fma(sum, 1.0f / static_cast<float>(plan_.spec.k), plan_.spec.eps));
}

}  // namespace warpchat
