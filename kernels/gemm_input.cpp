#include "kernels/gemm_input.h"

#include <algorithm>

#include "kernels/half_range.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kColumnPairs = kGemmTileK / 2 + 16;  // 64 bytes of padding: fragments have no bank conflicts

// Where the lane's quad of values goes: in its place for F16, else beside the quad 16 values away.
Reg<u32> quad_pair(const Reg<u32>& lane, bool in_order) {
  if (in_order) return lane * 2;
  return (lane >> 3) * 16 + (lane & 3) * 4 + (lane >> 2 & 1) * 2;
}

}  // namespace

GemmInput::GemmInput(Builder& b, const GemmPlan& plan, const Reg<u32>& k, const std::optional<Reg<u64>>& gamma)
    : b_(b),
      plan_(plan),
      k_(k),
      gamma_(gamma),
      halves_(b.shared<b32>(
          "input", std::max(plan.columns * kColumnPairs, plan.warps * plan.stage_columns() * plan.stage_column()))),
      factors_(b.shared<f32>("factors", plan.columns)),
      squares_(plan.takes_gamma() ? std::optional(b.shared<f32>("squares", plan.columns * kWarpSize)) : std::nullopt),
      fragment_(halves_ + (b.lane() >> 2) * kColumnPairs + (b.lane() & 3) * 4),
      exponent_(b.var("exponent", kLeastExponent)) {}

// Asked where it is needed: for all of k it would take a register that sums need.
GemmInput::Normalises GemmInput::normalises() const {
  if (!gamma_ || plan_.spec.experts > 0) return {};
  return Pred(*gamma_ != 0);
}

template <class Body>
void GemmInput::if_normalising(const Normalises& normalises, const Body& body) const {
  if (normalises) return b_.if_(*normalises, body);
  if (gamma_) body();
}

void GemmInput::clear(const Columns& columns) {
  b_.for_("pair", columns.count * kColumnPairs + b_.thread(), plan_.columns * kColumnPairs, plan_.threads(),
          [&](Reg<u32> pair) { halves_.store(pair, 0); });
  if (!squares_) return;
  b_.for_("slot", b_.thread(), plan_.columns * kWarpSize, plan_.threads(),
          [&](Reg<u32> slot) { squares_->store(slot, 0.0f); });
}

// A column's tile is a warp's, four values a lane. Lane i knows the exponent of the warp's column i.
void GemmInput::fill(const Columns& columns, const Reg<u32>& first_unit) {
  b_.region("fill", [&] {
    Reg<u32> first = (first_unit * kGemmUnit + b_.lane() * 4).named("first");
    const Normalises tells = normalises();
    VarVec<f32, 4> gamma = b_.vars<f32, 4>("gamma", 0.0f);
    if_normalising(tells, [&] { load_quad(b_.pointer<f32>(*gamma_, 4) + first, first, gamma); });
    Global<f32> x = (columns.uses ? columns.x : columns.x + b_.mul_wide(columns.first, k_)) + first;
    Shared<b32> quad = halves_ + quad_pair(b_.lane(), plan_.matrices[0].type == TensorType::kF16);
    Reg<u32> before = exponent_;
    Var<u32> turn = b_.var("turn", 0u);
    const auto load = [&](const Reg<u32>& column, VarVec<f32, 4>& values) {
      Reg<u32> row = columns.uses ? columns.uses->load(column) / plan_.spec.uses_per_input : column;
      load_quad(x + b_.mul_wide(row, k_), first, values);
    };
    const auto fill = [&](const Reg<u32>& column, VarVec<f32, 4>& values) {
      if_normalising(tells, [&] {
        add_squares(column, values);
        for (int i = 0; i < 4; ++i) values[i] *= gamma[i];
      });
      fill_column(column, turn, quad, values);
      turn += 1;
    };
    b_.for_("first_column", b_.warp(), columns.count, plan_.warps * plan_.columns_ahead, [&](Reg<u32> first_column) {
      std::vector<VarVec<f32, 4>> values;
      for (uint32_t i = 0; i < plan_.columns_ahead; ++i) {  // the last one again for those that are not there
        values.push_back(b_.vars<f32, 4>("value"));
        load(i == 0 ? first_column : b_.min(first_column + i * plan_.warps, columns.count - 1), values.back());
      }
      if (values.size() == 1) return fill(first_column, values[0]);
      // A loop that runs, so that the text holds the body once: each column comes to the first place in turn.
      Reg<u32> end = b_.min(first_column + plan_.warps * plan_.columns_ahead, columns.count);
      b_.for_("column", first_column, end, plan_.warps, [&](Reg<u32> column) {
        fill(column, values[0]);
        for (size_t i = 1; i < values.size(); ++i)
          for (int j = 0; j < 4; ++j) values[i - 1][j] = values[i][j];
      });
    });
    Reg<u32> own = own_column();
    b_.if_(own < plan_.columns, [&] {
      Reg<s32> ratio = (before - exponent_ + 127).as<s32>();
      factors_.store(own, power_of_two(b_.max(ratio, 0).as<u32>()));
    });
  });
}

Reg<u32> GemmInput::own_column() { return b_.lane() * plan_.warps + b_.warp(); }

// Four values from `from`, which is the first-th; zeros beyond k.
void GemmInput::load_quad(const Global<f32>& from, const Reg<u32>& first, VarVec<f32, 4>& values) const {
  const auto load = [&] { values = from.aligned(16).load<4>(); };
  if (plan_.has_whole_tiles()) return load();
  for (int i = 0; i < 4; ++i) values[i] = 0.0f;
  if (plan_.k_step == 4) return b_.if_(first < k_, load);
  for (int i = 0; i < 4; ++i) b_.if_(first + i < k_, [&] { values[i] = from.load(i); });
}

// turn: which of the warp's columns it is; quad: where the lane's values of column 0 go
void GemmInput::fill_column(const Reg<u32>& column, const Reg<u32>& turn, const Shared<b32>& quad,
                            const VarVec<f32, 4>& values) {
  Reg<f32> scale = power_of_two(127 + 127 + kTopExponent - advance_exponent(turn, values));
  const auto pair = [&](int i) { return b_.convert_pair<f16x2>(values[i] * scale, values[i + 1] * scale).as<b32>(); };
  Reg<b32> front = pair(0), back = pair(2);
  (quad + column * kColumnPairs).store(0, Vec<b32, 2>(front, back));
}

void GemmInput::add_squares(const Reg<u32>& column, const VarVec<f32, 4>& values) {
  Shared<f32> slot = *squares_ + (column * kWarpSize + b_.lane());
  Var<f32> sum = b_.var("squares", slot.load());
  for (int i = 0; i < 4; ++i) sum = b_.fma(values[i], values[i], sum);
  slot.store(0, sum);
}

// The largest exponent of the column so far, which its lane keeps. Infinity has the largest of all, and NaN needs none.
Reg<u32> GemmInput::advance_exponent(const Reg<u32>& turn, const VarVec<f32, 4>& values) {
  Reg<f32> front = b_.max(b_.abs(values[0]), b_.abs(values[1])), back = b_.max(b_.abs(values[2]), b_.abs(values[3]));
  Reg<u32> most = b_.max(front, back).as<u32>() >> 23;
  Reg<u32> highest = b_.max(warp_max(b_, most), b_.shuffle(exponent_, turn));
  exponent_ = b_.select(b_.lane() == turn, highest, exponent_);
  return highest;
}

void GemmInput::settle() {
  Var<f32> factor = b_.var("factor", power_of_two(exponent_ - kTopExponent));
  if_normalising(normalises(), [&] {
    Reg<f32> one_kth = b_.rcp_approx(b_.convert<f32>(k_));
    Var<u32> turn = b_.var("turn", 0u);
    b_.for_("column", b_.warp(), plan_.columns, plan_.warps, [&](Reg<u32> column) {
      Reg<f32> sum = warp_sum(b_, squares_->load(column * kWarpSize + b_.lane()));
      Reg<f32> rms = b_.rsqrt(b_.fma(sum, one_kth, plan_.spec.eps));
      factor = b_.select(b_.lane() == turn, factor * rms, factor);
      turn += 1;
    });
  });
  Reg<u32> own = own_column();
  b_.if_(own < plan_.columns, [&] { factors_.store(own, factor); });
}

Vec<f16x2, 4> GemmInput::load(const Place& place, uint32_t i) const {
  return place.load<4>(i * 8 * kColumnPairs).as<f16x2>();
}

}  // namespace warpchat
