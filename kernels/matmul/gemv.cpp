#include "kernels/matmul/gemv.h"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>

#include "kernels/common/columns.h"
#include "kernels/common/warp_sums.h"
#include "kernels/matmul/epilogue.h"
#include "kernels/matmul/gemv_body.h"
#include "kernels/matmul/gemv_columns.h"
#include "kernels/matmul/shared_input.h"
#include "kernels/matmul/weight_unit.h"

namespace warpchat {

using namespace ptx;

namespace {

// Per column unit, shared by all rows: sums of the integers, prepared for the format's zero point or minimum.
struct ScaledSums {
  std::vector<Reg<u32>> starts;     // initial value of the low products: -zero * sum
  std::vector<Reg<f32>> of_lowest;  // factors of the minimums
};

ScaledSums scaled_sums(Builder& b, const UnitFormat& format, const InputUnit& x) {
  ScaledSums result;
  if (format.zero == 0 && !format.has_lowest) return result;
  const std::vector<Reg<s32>> sums = format.n_scales == 1 ? std::vector<Reg<s32>>{x.sums[0] + x.sums[1]} : x.sums;
  for (const Reg<s32>& sum : sums) {
    if (format.has_lowest)
      result.of_lowest.push_back(b.convert<f32>(sum));
    else
      result.starts.push_back((sum * -format.zero).as<u32>());
  }
  return result;
}

// before + codes . n, for the two planes of four values.
Reg<s32> add_high(Builder& b, bool has_signed_codes, const Reg<b32>& codes, const Reg<b32>& n, In<s32> before) {
  if (has_signed_codes) return b.dp4a(codes.as<s8x4>(), n.as<s8x4>(), before);
  return b.dp4a(codes.as<u8x4>(), n.as<s8x4>(), before);
}
Reg<u32> add_low(Builder& b, bool has_signed_codes, const Reg<b32>& codes, const Reg<b32>& n,
                 const std::optional<Reg<u32>>& before) {
  if (!has_signed_codes) return b.dp4a(codes.as<u8x4>(), n.as<u8x4>(), before ? In<u32>(*before) : In<u32>(0u));
  const In<s32> sum = before ? In<s32>(before->as<s32>()) : In<s32>(0);
  return b.dp4a(codes.as<s8x4>(), n.as<u8x4>(), sum).as<u32>();
}

// Exact sum of (code - zero) * n over `n_words` words from `first` on. start: -zero times the sum of n, or none.
Reg<s32> dot(Builder& b, const UnitFormat& format, const DecodedCodes& w, const InputUnit& x, size_t first,
             size_t n_words, const std::optional<Reg<u32>>& start) {
  const bool is_signed = format.has_signed_codes;
  std::vector<Reg<s32>> high = {add_high(b, is_signed, w.codes[first], x.high[first], 0)};
  std::vector<Reg<u32>> low = {add_low(b, is_signed, w.codes[first], x.low[first], start)};
  for (size_t j = first + 1; j < first + n_words; ++j) {
    const Reg<s32> next_high = add_high(b, is_signed, w.codes[j], x.high[j], high.back());
    const Reg<u32> next_low = add_low(b, is_signed, w.codes[j], x.low[j], low.back());
    high.push_back(next_high);
    low.push_back(next_low);
  }
  return b.mad(high.back(), 256, low.back().as<s32>());
}

// sum += weights . values of the unit; kernels/matmul/gemv_columns.cpp adds in the same order.
void add_codes(Builder& b, const UnitFormat& format, const DecodedCodes& w, const InputUnit& x, const ScaledSums& sums,
               Var<f32>& sum) {
  const size_t n = 8 / format.n_scales;
  std::vector<Reg<f32>> total;
  const auto add = [&](const Reg<f32>& factor, const Reg<f32>& value) {
    const Reg<f32> next = total.empty() ? factor * value : b.fma(factor, value, total.back());
    total.push_back(next);
  };
  for (size_t part = 0; part < format.n_scales; ++part) {
    const auto start = sums.starts.empty() ? std::nullopt : std::optional(sums.starts[part]);
    add(w.scales[part], b.convert<f32>(dot(b, format, w, x, part * n, n, start)));
    if (format.has_lowest) add(w.lowest[part], sums.of_lowest[part]);
  }
  sum = b.fma(total.back(), x.scale[0], sum);
}

// Units of a lane's rows that are loaded together: [units, matrices * rows_per_warp].
using Round = std::vector<std::vector<RawUnit>>;

uint32_t units_of_lane(const GemvPlan& plan) { return ceil_div(plan.tile_units, plan.lanes_per_row); }
uint32_t units_of_round(const GemvPlan& plan) { return std::min(plan.units_in_flight, units_of_lane(plan)); }

// Registers that keep a loaded round until it is multiplied. They serve each of several plans, as only one of them is
// computed. Low codes come first, so that wide loads of any plan have the same registers: another order would move
// them, and wait for memory.
class KeptRound {
 public:
  KeptRound(Builder& b, std::span<const GemvPlan> plans) : b_(b) {
    RawUnitSize most{};
    for (const GemvPlan& plan : plans) {
      RawUnitSize all{};
      for_each_unit(plan, [&](uint32_t, const RawUnitSize& size) {
        all.low += size.low, all.others += size.others, all.halves += size.halves;
      });
      most = {std::max(most.low, all.low), std::max(most.others, all.others), std::max(most.halves, all.halves)};
    }
    // A warp without a step loads none.
    for (uint32_t i = 0; i < most.low; ++i) low_.push_back(b.var<b32>("kept", 0u));
    for (uint32_t i = 0; i < most.others; ++i) others_.push_back(b.var<b32>("kept", 0u));
    for (uint32_t i = 0; i < most.halves; ++i) halves_.push_back(b.var<b16>("kept", 0u));
  }

  void keep(const Round& round) {
    RawUnitSize at{};
    for (const std::vector<RawUnit>& rows : round) {
      for (const RawUnit& unit : rows) {
        for (const Reg<b32>& value : unit.low) low_[at.low++] = value;
        for (const Reg<b32>& value : unit.others) others_[at.others++] = value;
        for (const Reg<b16>& value : unit.halves) halves_[at.halves++] = value;
      }
    }
  }

  // Copies, so that the next round can be kept while this one is multiplied.
  Round copy(const GemvPlan& plan) const {
    Round round(units_of_round(plan));
    RawUnitSize at{};
    for_each_unit(plan, [&](uint32_t i, const RawUnitSize& size) {
      RawUnit& unit = round[i].emplace_back();
      for (uint32_t j = 0; j < size.low; ++j) unit.low.push_back(b_.var("copy", Reg<b32>(low_[at.low++])));
      for (uint32_t j = 0; j < size.others; ++j) unit.others.push_back(b_.var("copy", Reg<b32>(others_[at.others++])));
      for (uint32_t j = 0; j < size.halves; ++j) unit.halves.push_back(b_.var("copy", Reg<b16>(halves_[at.halves++])));
    });
    return round;
  }

 private:
  // body(index in the round, size) for the units of all rows, in the order of a round.
  template <class F>
  static void for_each_unit(const GemvPlan& plan, const F& body) {
    for (uint32_t i = 0; i < units_of_round(plan); ++i)
      for (const ProductMatrix& matrix : plan.matrices)
        for (uint32_t row = 0; row < plan.rows_per_warp; ++row) body(i, raw_unit_size(matrix.streams));
  }

  Builder& b_;
  std::vector<Var<b32>> low_, others_;
  std::vector<Var<b16>> halves_;
};

class GemvWriter {
 public:
  GemvWriter(Builder& b, const GemvPlan& plan, const GemvAddresses& at, const VirtualBlock& block, SharedInput& input)
      : b_(b), plan_(plan), spec_(plan.spec), at_(at), block_(block), input_(input) {
    if (at_.rows) n_steps_.emplace((*at_.rows + (plan_.rows_per_step - 1)) / plan_.rows_per_step);
  }

  // Requests the first round of write(), which needs no input.
  void load_first_round(KeptRound& kept) {
    Reg<u32> step = first_step();
    b_.if_(step < n_steps(), [&] { kept.keep(load_round(rows_of(step), 0)); });
  }

  // Every blocks()-th step of the block's warps. The input is resident, or streams in tiles. first_round: with
  // loads_ahead, what load_first_round() has requested.
  void write(KeptRound* first_round) {
    if (plan_.is_tiled()) {
      Reg<u32> first_step = block_.block() * plan_.warps;
      b_.for_("tiled_step", first_step, n_steps(), block_.blocks() * plan_.warps, [&](Reg<u32> block_step) {
        write_tiled(block_step + block_.warp());
        block_.barrier();  // the sums of squares have been read
      });
      return;
    }
    Reg<u32> stride = block_.blocks() * plan_.warps;
    if (plan_.loads_ahead) return write_with_loads_ahead(stride, *first_round);
    b_.for_("step", first_step(), n_steps(), stride, [&](Reg<u32> step) { write_rows_of(step); });
  }

 private:
  Reg<u32> first_step() const { return block_.block() * plan_.warps + block_.warp(); }

  using Sums = std::vector<Var<f32>>;  // [matrices, columns, rows_per_warp]
  // A lane's rows in a step: `row` and every n_groups-th after it. Rows before `first` belong to another warp.
  struct Rows {
    Reg<u32> first, row;
    std::vector<Global<u8>> starts;  // address of `row` in each matrix
  };

  // A warp's step with all of the input in shared memory.
  void write_rows_of(const Reg<u32>& step) {
    const Rows rows = rows_of(step);
    Sums sums = new_sums();
    add_products(rows, {}, sums);
    write_rows(rows, sums);
  }

  // The same sums in the same order, but a round's weights are requested before those of the round before, possibly in
  // the previous step, are multiplied: memory is never idle while a warp computes. ahead: the next step's first round.
  void write_with_loads_ahead(const Reg<u32>& stride, KeptRound& ahead) {
    const uint32_t n_rounds = ceil_div(units_of_lane(plan_), plan_.units_in_flight);
    b_.for_("step", first_step(), n_steps(), stride, [&](Reg<u32> step) {
      const Rows rows = rows_of(step);
      Sums sums = new_sums();
      std::vector<Round> rounds = {ahead.copy(plan_)};
      b_.region("products", [&] {
        for (uint32_t i = 0; i < n_rounds; ++i) {
          if (i + 1 < n_rounds)
            rounds.push_back(load_round(rows, i + 1));
          else
            b_.if_(step + stride < n_steps(), [&] { ahead.keep(load_round(rows_of(step + stride), 0)); });
          add_round(rounds[i], i, sums);
        }
      });
      write_rows(rows, sums);
    });
  }

  // A unit of the tile, one for each lane of a row; lanes behind the end have none.
  struct LaneUnit {
    Reg<u32> number;
    bool all_lanes_have_one;
  };
  // Loads beyond the end repeat the last unit. Unit: LoadedUnit, or RawUnit for units that are kept.
  template <class Unit>
  std::vector<Unit> load_unit_of_lane(const Rows& rows, const LaneUnit& unit, const FirstUnit& first) {
    const Reg<u32> number = unit.all_lanes_have_one ? unit.number : b_.min(unit.number, plan_.tile_units - 1);
    return load_rows<Unit>(rows, first ? number + *first : number);
  }
  template <class Unit>
  void add_unit_of_lane(const std::vector<Unit>& loaded, const LaneUnit& unit, Sums& sums) {
    const auto add = [&] { add_unit(loaded, input_.place(unit.number), sums); };
    unit.all_lanes_have_one ? add() : b_.if_(unit.number < plan_.tile_units, add);
  }

  LaneUnit unit_of_lane(uint32_t i) {
    return {i == 0 ? lane_of_row() : lane_of_row() + i * plan_.lanes_per_row,
            (i + 1) * plan_.lanes_per_row <= plan_.tile_units};
  }

  Round load_round(const Rows& rows, uint32_t round) {
    Round loaded;
    const uint32_t first = round * plan_.units_in_flight;
    for (uint32_t i = first; i < std::min(first + plan_.units_in_flight, units_of_lane(plan_)); ++i)
      loaded.push_back(load_unit_of_lane<RawUnit>(rows, unit_of_lane(i), {}));
    return loaded;
  }

  void add_round(const Round& loaded, uint32_t round, Sums& sums) {
    for (uint32_t i = 0; i < loaded.size(); ++i)
      add_unit_of_lane(loaded[i], unit_of_lane(round * plan_.units_in_flight + i), sums);
  }

  In<u32> n_steps() const { return n_steps_ ? In<u32>(*n_steps_) : In<u32>(plan_.n_steps); }
  bool overlaps() const { return at_.rows || spec_.rows % plan_.rows_per_step != 0; }

  void write_tiled(const Reg<u32>& step) {
    const Rows rows = rows_of(n_steps_ ? b_.min(step, *n_steps_ - 1) : b_.min(step, plan_.n_steps - 1));
    Sums sums = new_sums();
    input_.clear_squares();
    b_.for_("first_unit", 0, plan_.n_units, plan_.tile_units, [&](Reg<u32> first_unit) {
      block_.barrier();  // no thread reads the previous tile any more
      input_.fill(at_.x, at_.gamma, at_.n_columns, first_unit);
      block_.barrier();
      b_.if_(step < n_steps(), [&] { add_products(rows, first_unit, sums); });
    });
    b_.if_(step < n_steps(), [&] { write_rows(rows, sums); });
  }

  Rows rows_of(const Reg<u32>& step) {
    Reg<u32> first = (step * plan_.rows_per_step).named("first_row");
    const auto last_start = [&] {
      return at_.rows ? In<u32>(*at_.rows - plan_.rows_per_step) : In<u32>(spec_.rows - plan_.rows_per_step);
    };
    Reg<u32> start = overlaps() ? b_.min(first, last_start()) : first;
    Rows rows{first, plan_.n_groups == 1 ? start : start + b_.lane() / plan_.lanes_per_row, {}};
    for (size_t m = 0; m < plan_.matrices.size(); ++m)
      rows.starts.push_back(at_.matrices[m] + wide(rows.row) * plan_.matrices[m].row_bytes);
    return rows;
  }

  Sums new_sums() {
    Sums sums;
    const size_t n = plan_.matrices.size() * spec_.columns * plan_.rows_per_warp;
    for (size_t i = 0; i < n; ++i) sums.push_back(b_.var("sum", 0.0f));
    return sums;
  }
  size_t sum_index(size_t matrix, size_t column, size_t i) const {
    return (matrix * spec_.columns + column) * plan_.rows_per_warp + i;
  }

  Reg<u32> lane_of_row() { return plan_.n_groups == 1 ? b_.lane() : b_.lane() % plan_.lanes_per_row; }

  void add_products(const Rows& rows, const FirstUnit& first, Sums& sums) {
    const uint32_t lanes = plan_.lanes_per_row, n_units = plan_.tile_units, in_flight = plan_.units_in_flight;
    const auto add = [&](uint32_t n) {
      return [this, &rows, &first, &sums, n](const Reg<u32>& unit) { add_units(rows, first, unit, n, sums); };
    };
    b_.region("products", [&] {
      if (first && plan_.n_units % n_units != 0) {
        b_.for_("unit", lane_of_row(), b_.min(plan_.n_units - *first, n_units), lanes, add(1));
      } else {
        b_.for_("unit", lane_of_row(), n_units, lanes * in_flight, add(in_flight));
      }
    });
  }

  // Adds the products of n units of the tile, lanes_per_row apart; only the first is known to exist. All loads precede
  // decoding.
  void add_units(const Rows& rows, const FirstUnit& first, const Reg<u32>& first_unit, uint32_t n, Sums& sums) {
    std::vector<LaneUnit> units;
    std::vector<std::vector<LoadedUnit>> loaded;
    const bool is_whole = plan_.tile_units % (n * plan_.lanes_per_row) == 0;
    for (uint32_t i = 0; i < n; ++i) {
      units.push_back({i == 0 ? first_unit : first_unit + i * plan_.lanes_per_row, i == 0 || is_whole});
      loaded.push_back(load_unit_of_lane<LoadedUnit>(rows, units[i], first));
    }
    for (uint32_t i = 0; i < n; ++i) add_unit_of_lane(loaded[i], units[i], sums);
  }

  // A unit of each of the lane's rows: [matrices, rows_per_warp]
  template <class Unit>
  std::vector<Unit> load_rows(const Rows& rows, const Reg<u32>& unit) {
    std::vector<Unit> loaded;
    for (size_t m = 0; m < plan_.matrices.size(); ++m) {
      const ProductMatrix& matrix = plan_.matrices[m];
      const UnitPlace place = place_unit(rows.starts[m], matrix.streams, unit);
      const uint64_t stride = plan_.n_groups * matrix.row_bytes;
      for (uint32_t i = 0; i < plan_.rows_per_warp; ++i) {
        if constexpr (std::is_same_v<Unit, RawUnit>)
          loaded.push_back(load_raw_unit(matrix.streams, place, i * stride));
        else
          loaded.push_back(load_unit(matrix.type, matrix.streams, place, i * stride));
      }
    }
    return loaded;
  }

  // For float weights; the first column always exists.
  template <class F>
  void for_each_column(F&& body) {
    body(0u);
    for (uint32_t column = 1; column < spec_.columns; ++column) b_.if_(*at_.n_columns > column, [&] { body(column); });
  }

  template <class F>
  void for_each_row(F&& body) {
    for (size_t m = 0; m < plan_.matrices.size(); ++m)
      for (uint32_t i = 0; i < plan_.rows_per_warp; ++i) body(m, i);
  }

  const LoadedUnit& unpacked(const std::vector<LoadedUnit>& loaded, size_t m, uint32_t row) {
    return loaded[m * plan_.rows_per_warp + row];
  }
  LoadedUnit unpacked(const std::vector<RawUnit>& loaded, size_t m, uint32_t row) {
    return unpack(b_, plan_.matrices[m].type, plan_.matrices[m].streams, loaded[m * plan_.rows_per_warp + row]);
  }

  template <class Unit>
  void add_unit(const std::vector<Unit>& loaded, const SharedInput::Place& place, Sums& sums) {
    plan_.has_float_input ? add_float_unit(loaded, place, sums) : add_code_unit(loaded, place, sums);
  }

  template <class Unit>
  void add_code_unit(const std::vector<Unit>& loaded, const SharedInput::Place& place, Sums& sums) {
    std::vector<DecodedCodes> decoded;
    for_each_row([&](size_t m, uint32_t i) {
      const ProductMatrix& matrix = plan_.matrices[m];
      decoded.push_back(decode_codes(b_, matrix.type, matrix.streams, unpacked(loaded, m, i)));
    });
    const InputUnit x = input_.load_integers(place);
    std::vector<ScaledSums> scaled;
    for (const ProductMatrix& matrix : plan_.matrices) {
      const bool is_repeated = !scaled.empty() && matrix.type == plan_.matrices[0].type;
      const ScaledSums own = is_repeated ? scaled[0] : scaled_sums(b_, unit_format(matrix.type), x);
      scaled.push_back(own);
    }
    for_each_row([&](size_t m, uint32_t i) {
      add_codes(b_, unit_format(plan_.matrices[m].type), decoded[m * plan_.rows_per_warp + i], x, scaled[m],
                sums[sum_index(m, 0, i)]);
    });
  }

  template <class Unit>
  void add_float_unit(const std::vector<Unit>& loaded, const SharedInput::Place& place, Sums& sums) {
    std::vector<std::vector<Reg<f32>>> decoded;
    for_each_row([&](size_t m, uint32_t i) {
      decoded.push_back(decode_floats(b_, plan_.matrices[m].type, unpacked(loaded, m, i)));
    });
    for_each_column([&](uint32_t column) {
      const std::vector<Reg<f32>> x = input_.load_floats(place, column);
      for_each_row([&](size_t m, uint32_t i) {
        Var<f32>& sum = sums[sum_index(m, column, i)];
        for (size_t j = 0; j < x.size(); ++j) sum = b_.fma(decoded[m * plan_.rows_per_warp + i][j], x[j], sum);
      });
    });
  }

  // Sums over the lanes of a row, for as many of the [columns, rows_per_warp] sums at once as there are lanes; the
  // first lane with each sum writes it.
  void write_rows(const Rows& rows, const Sums& sums) {
    const uint32_t n_sums = spec_.columns * plan_.rows_per_warp;
    for (uint32_t first = 0; first < n_sums;) {
      const uint32_t n = std::min(std::bit_floor(n_sums - first), plan_.lanes_per_row);
      std::vector<Reg<f32>> totals;  // per matrix
      b_.region("reduce", [&] {
        for (size_t m = 0; m < plan_.matrices.size(); ++m) {
          const auto begin = sums.begin() + static_cast<ptrdiff_t>(sum_index(m, 0, first));
          totals.push_back(scattered_sums(b_, std::vector<Reg<f32>>(begin, begin + n), plan_.lanes_per_row));
        }
      });
      b_.region("write", [&] { write_totals(rows, totals, first, n); });
      first += n;
    }
  }

  // totals: n sums from `first` on, each in lanes_per_row / n lanes.
  void write_totals(const Rows& rows, const std::vector<Reg<f32>>& totals, uint32_t first, uint32_t n) {
    const uint32_t lanes_per_sum = plan_.lanes_per_row / n;
    Reg<u32> index = lane_of_row() / lanes_per_sum + first;
    Reg<u32> column = index / plan_.rows_per_warp;
    Reg<u32> row = plan_.rows_per_warp == 1 ? rows.row : rows.row + index % plan_.rows_per_warp * plan_.n_groups;
    std::vector<Pred> conditions;
    if (lanes_per_sum > 1) conditions.push_back(lane_of_row() % lanes_per_sum == 0);
    if (overlaps()) conditions.push_back(row >= rows.first);
    if (spec_.columns > 1) conditions.push_back(column < *at_.n_columns);
    const auto write = [&] { write_total(row, column, totals); };
    if (conditions.empty()) return write();
    Var<pred> is_mine = b_.var("is_mine", conditions[0]);
    for (size_t i = 1; i < conditions.size(); ++i) is_mine = is_mine && conditions[i];
    b_.if_(is_mine, write);
  }

  void write_total(const Reg<u32>& row, const Reg<u32>& column, const std::vector<Reg<f32>>& totals) {
    std::vector<Reg<f32>> products;
    std::optional<Reg<f32>> factor;
    if (plan_.normalises()) factor.emplace(input_.rms_factor(column));
    for (const Reg<f32>& total : totals) products.push_back(factor ? total * *factor : total);
    Global<f32> y = (spec_.columns == 1 ? at_.y : at_.y + wide(column) * spec_.rows) + row;
    const auto write = [&](GemvEpilogue epilogue) { write_product(b_, epilogue, products, at_.bias, row, y); };
    if (spec_.epilogue != GemvEpilogue::kBias || !at_.has_bias) return write(spec_.epilogue);
    b_.if_else(
        *at_.has_bias, [&] { write(GemvEpilogue::kBias); }, [&] { write(GemvEpilogue::kStore); });
  }

  Builder& b_;
  const GemvPlan& plan_;
  const GemvSpec& spec_;
  const GemvAddresses& at_;
  const VirtualBlock& block_;
  SharedInput& input_;
  std::optional<Reg<u32>> n_steps_;  // if the addresses include rows
};

GemvAddresses declare_addresses(Builder& b, const GemvPlan& plan) {
  const GemvSpec& s = plan.spec;
  std::vector<Global<u8>> matrices = declare_matrices(b, plan.matrices, s.rows);
  Global<f32> x = b.global<f32>("x", uint64_t{s.columns} * s.k);
  std::optional<Global<f32>> gamma, bias;
  if (plan.normalises()) gamma.emplace(b.global<f32>("gamma", s.k));
  if (adds_bias(s.epilogue)) bias.emplace(b.global<f32>("bias", s.rows * plan.matrices.size()));
  Global<f32> y = b.global<f32>("y", uint64_t{s.columns} * s.rows);
  return {std::move(matrices), x, gamma, bias, y, declare_columns(b, s.columns), {}, {}};
}

// Addresses of the block's columns, selected by its y. Exits blocks beyond the last.
GemvAddresses addresses_of_block(Builder& b, const GemvPlan& plan, GemvAddresses at) {
  const GemvSpec& s = plan.spec;
  if (s.columns == 1) return at;
  Reg<u32> first = (b.block(Axis::kY) * s.columns).named("first_column");
  b.return_if(first >= *at.n_columns);
  Reg<u32> n = b.min(*at.n_columns - first, s.columns);
  return {at.matrices, at.x + b.mul_wide(first, s.k), at.gamma, at.bias, at.y + b.mul_wide(first, s.rows), n, at.rows,
          at.has_bias};
}

}  // namespace

std::string name_of(const GemvSpec& spec) {
  return product_name("gemv", spec, std::to_string(spec.rows) + "x" + std::to_string(spec.k)) + "_c" +
         std::to_string(spec.columns) + name_part("w", spec.warps) + name_part("r", spec.rows_per_warp) +
         name_part("l", spec.lanes_per_row) + name_part("b", spec.rows_per_block);
}

void gemv_body(Builder& b, const GemvPlan& plan, const GemvAddresses& at, const VirtualBlock& block,
               const BeforeInput& before_input) {
  SharedInput input(b, plan, block);
  GemvWriter writer(b, plan, at, block, input);
  std::optional<KeptRound> first_round;
  if (plan.loads_ahead) writer.load_first_round(first_round.emplace(b, std::span(&plan, 1)));
  if (before_input) before_input();
  if (!plan.is_tiled()) {
    input.fill(at.x, at.gamma, at.n_columns, {});
    block.barrier();
  }
  writer.write(first_round ? &*first_round : nullptr);
}

void gemv_body(Builder& b, std::vector<GemvPlan> plans, const Reg<u32>& which, const GemvAddresses& at,
               const VirtualBlock& block, const BeforeInput& before_input) {
  if (plans.size() == 1) return gemv_body(b, plans[0], at, block, before_input);
  const auto is_of_first_kind = [&](const GemvPlan& plan) { return plan.has_float_input == plans[0].has_float_input; };
  const auto other = std::ranges::find_if_not(plans, is_of_first_kind);
  if (other != plans.end()) {  // floats and integers share no input
    const std::vector<GemvPlan> first(plans.begin(), other), rest(other, plans.end());
    const auto n_first = static_cast<uint32_t>(first.size());
    b.if_else(
        which < n_first, [&] { b.in_turn([&] { gemv_body(b, first, which, at, block, before_input); }); },
        [&] { b.in_turn([&] { gemv_body(b, rest, which - n_first, at, block, before_input); }); });
    return;
  }
  const auto choose = [&](const auto& body) {
    for (uint32_t i = 0; i < plans.size(); ++i) b.if_(which == i, [&] { body(plans[i]); });
  };
  if (!share_input(plans))
    return choose([&](const GemvPlan& plan) { b.in_turn([&] { gemv_body(b, plan, at, block, before_input); }); });
  SharedInput input(b, plans[0], block);
  std::optional<KeptRound> first_round;
  if (plans[0].loads_ahead) {
    first_round.emplace(b, plans);
    choose([&](const GemvPlan& plan) { GemvWriter(b, plan, at, block, input).load_first_round(*first_round); });
  }
  if (before_input) before_input();
  input.fill(at.x, at.gamma, at.n_columns, {});
  block.barrier();
  choose([&](const GemvPlan& plan) {
    GemvWriter(b, plan, at, block, input).write(first_round ? &*first_round : nullptr);
  });
}

Kernel gemv_kernel(const GemvSpec& spec, Target target, const BodyOf<GemvAddresses>& body) {
  const GemvPlan plan = plan_of(spec);
  if (plan.on_tensor_cores()) return gemv_of_columns(plan, target);
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(plan.blocks_per_sm());
  const VirtualBlock block(b);
  body(b, addresses_of_block(b, plan, declare_addresses(b, plan)), block);
  return b.finish(Launch{plan.n_blocks, plan.threads()}, product_cost(spec, plan.matrices, spec.columns));
}

Kernel gemv(const GemvSpec& spec, Target target) {
  return gemv_kernel(spec, target, [&](Builder& b, const GemvAddresses& at, const VirtualBlock& block) {
    gemv_body(b, plan_of(spec), at, block);
  });
}

}  // namespace warpchat
