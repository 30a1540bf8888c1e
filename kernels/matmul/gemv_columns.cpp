#include "kernels/matmul/gemv_columns.h"

#include <algorithm>
#include <optional>

#include "kernels/common/ask_ahead.h"
#include "kernels/common/columns.h"
#include "kernels/matmul/epilogue.h"
#include "kernels/matmul/int_activations.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kTileRows = GemvPlan::kTileRows;
constexpr uint32_t kColumnPlace =
    GemvPlan::kTileFloats / ColumnsLayout::kColumns;  // rows per column; the padding avoids bank conflicts

// mma operand fragments of a unit, in words.
struct WeightWords {  // rows g and g + 8: the lane's first and last four values
  PartCodes upper, lower;
};
struct UnitColumns {
  Vec<b32, 4> planes;             // high plane: first and last four values; then the low plane
  Vec<f32, 2> scales;             // of the lane's two result columns
  std::vector<Vec<s32, 2>> sums;  // as the formats need: over the unit, or over both halves
};

// Shared by all products of a launch: the columns, and memory for sums.
struct SharedColumns {
  Global<b32> integers;
  Global<f32> factors;
  Reg<u32> n_columns;
  Shared<f32> parts;  // [row_tiles, matrices, lanes_per_row, 8 columns, kColumnPlace]
};
Global<b32> declare_integers(Builder& b, const GemvSpec& spec) {
  return b.global<b32>("integers", int_activations_words(spec.k, spec.columns));
}
Global<f32> declare_factors(Builder& b) { return b.global<f32>("factors", ColumnsLayout::kColumns); }
Shared<f32> declare_parts(Builder& b, const GemvPlan& plan) { return b.shared<f32>("parts", plan.part_floats()); }

// One product, and the block's index within it.
struct ProductOfColumns {
  std::vector<Global<u8>> matrices;
  std::optional<Global<f32>> bias;
  std::optional<Pred> has_bias;  // none: whether the bias address is non-null
  Global<f32> y;
  Reg<u32> block;
  std::optional<Reg<u32>> rows;  // none: as in the plan
};

class ColumnsWriter {
 public:
  ColumnsWriter(Builder& b, const GemvPlan& plan, const ProductOfColumns& product, const SharedColumns& columns)
      : b_(b),
        plan_(plan),
        spec_(plan.spec),
        product_(product),
        columns_(columns),
        part_(b.lane() % 4),
        two_parts_(part_ * 2),
        zero_(b.var("zero", 0)) {}

  void write() {
    Reg<u32> first_column = (b_.block(Axis::kY) * ColumnsLayout::kColumns).named("first_column");
    b_.return_if(first_column >= columns_.n_columns);
    const Reg<u32>& block = product_.block;
    Reg<u32> tile = plan_.row_tiles == 1 ? block : block * plan_.row_tiles + b_.warp() / plan_.splits;
    Reg<u32> split = plan_.row_tiles == 1 ? b_.warp() : b_.warp() % plan_.splits;
    Reg<u32> row = (b_.min(tile * kTileRows, last_first_row())).named("row");
    ask_for_weights(row, split);
    place_rows(row);
    const Global<b32> columns =
        columns_.integers + b_.mul_wide(b_.block(Axis::kY), plan_.n_units * ColumnsLayout::kUnit);
    planes_.emplace((columns + b_.lane() * 4).aligned(16));
    numbers_.emplace((columns + b_.lane() % 4 * 2).aligned(8));
    Sums sums;  // [matrices, units_at_once]
    for (size_t i = 0; i < plan_.matrices.size() * plan_.units_at_once; ++i)
      sums.push_back(b_.vars<f32, 4>("sum", 0.0f));
    b_.region("products", [&] {
      // All warps iterate equally often: before sm_90, shuffles become calls if ptxas cannot prove convergence.
      Reg<u32> own = split * plan_.units_at_once;
      b_.for_("round", 0, plan_.n_units, plan_.lanes_per_row, [&](Reg<u32> round) {
        Reg<u32> unit = round + own;
        if (plan_.n_units % plan_.lanes_per_row == 0) return add_units(unit, {}, sums);
        add_units(b_.min(unit, plan_.n_units - plan_.units_at_once), unit < plan_.n_units, sums);
      });
    });
    stage(split, sums);
    b_.barrier();
    b_.region("write", [&] { write_outputs(first_column); });
  }

 private:
  using Sums = std::vector<VarVec<f32, 4>>;  // of an mma: rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1 of each

  bool has_whole_tile() const { return spec_.rows >= kTileRows; }
  // The last tile overlaps the previous one if rows do not divide evenly.
  In<u32> last_first_row() const {
    if (product_.rows) return *product_.rows - kTileRows;
    return has_whole_tile() ? spec_.rows - kTileRows : 0;
  }
  bool overlaps() const { return product_.rows || spec_.rows % kTileRows != 0; }

  void ask_for_weights(const Reg<u32>& row, const Reg<u32>& split) {
    if (!has_whole_tile()) return;
    b_.if_(split == 0, [&] {
      for (size_t m = 0; m < plan_.matrices.size(); ++m) {
        const uint64_t row_bytes = plan_.matrices[m].row_bytes;
        ask_ahead(b_, b_.target(), product_.matrices[m] + wide(row) * row_bytes,
                  static_cast<uint32_t>(kTileRows * row_bytes));
      }
    });
  }

  // Addresses of rows g and g + 8 in each matrix, and of those whose scales the lane decodes for the row's four lanes:
  // with four units, the lane's unit in both rows; with two, one unit in one row; with one, two lanes decode the same.
  void place_rows(const Reg<u32>& row) {
    const uint32_t at_once = plan_.units_at_once;
    const auto rows_from = [&](const Reg<u32>& first) {
      std::vector<Global<u8>> starts;
      Reg<u32> within = has_whole_tile() ? first : b_.min(first, spec_.rows - 1);
      for (size_t m = 0; m < plan_.matrices.size(); ++m)
        starts.push_back(product_.matrices[m] + wide(within) * plan_.matrices[m].row_bytes);
      return starts;
    };
    Reg<u32> quad = b_.lane() / 4, own = row + quad;
    rows_.push_back(rows_from(own));
    if (!has_whole_tile()) rows_.push_back(rows_from(own + kTileRows / 2));
    if (at_once == 4) {
      for (const auto& starts : rows_) scale_rows_.push_back(starts);
    } else {
      Reg<u32> which = at_once == 2 ? part_ / 2 : part_ % 2;
      scale_rows_.push_back(rows_from(own + which * (kTileRows / 2)));
    }
  }
  // Row `half` (0 or 1) of those placed.
  const Global<u8>& start(const std::vector<std::vector<Global<u8>>>& rows, size_t half, size_t m) const {
    return rows[std::min(half, rows.size() - 1)][m];
  }
  uint64_t offset(const std::vector<std::vector<Global<u8>>>& rows, size_t half, size_t m) const {
    return rows.size() == 1 ? half * (kTileRows / 2) * plan_.matrices[m].row_bytes : 0;
  }

  // Units for which is_there is false contribute nothing.
  void add_units(const Reg<u32>& unit, const std::optional<Pred>& is_present, Sums& sums) {
    const uint32_t at_once = plan_.units_at_once;
    std::vector<std::vector<LoadedUnit>> codes;   // [matrices][units, rows]
    std::vector<std::vector<LoadedUnit>> scales;  // [matrices][those that the lane decodes]
    Reg<u32> scaled_unit = at_once == 1 ? unit : unit + part_ % at_once;
    for (size_t m = 0; m < plan_.matrices.size(); ++m) {
      codes.push_back(load_codes(m, unit));
      scales.push_back(load_scales_of(m, scaled_unit));
    }
    const Global<b32> planes = *planes_ + unit * ColumnsLayout::kUnit,
                      numbers = *numbers_ + unit * ColumnsLayout::kUnit;
    std::vector<std::vector<DecodedCodes>> numbers_of;  // [matrices][those that the lane decodes]
    for (size_t m = 0; m < plan_.matrices.size(); ++m) {
      std::vector<DecodedCodes>& decoded = numbers_of.emplace_back();
      for (const LoadedUnit& loaded : scales[m])
        decode_scales(b_, plan_.matrices[m].type, loaded, decoded.emplace_back());
    }
    for (uint32_t i = 0; i < at_once; ++i) {
      const UnitColumns x = load_columns(planes, numbers, i, is_present);
      for (size_t m = 0; m < plan_.matrices.size(); ++m) {
        const ProductMatrix& matrix = plan_.matrices[m];
        const auto words = [&](size_t half) {
          return decode_part(b_, matrix.type, matrix.streams, codes[m][2 * i + half], part_, two_parts_);
        };
        const PartCodes upper = words(0);
        add_unit(m, {upper, words(1)}, numbers_of[m], i, x, sums[m * at_once + i]);
      }
    }
  }

  // The lane's words of the units from `unit` on, for both rows.
  std::vector<LoadedUnit> load_codes(size_t m, const Reg<u32>& unit) {
    const PackedStreams& s = plan_.matrices[m].streams;
    Reg<u32> word = unit * 4 + part_;
    std::vector<LoadedUnit> all;
    for (uint32_t i = 0; i < plan_.units_at_once; ++i) {
      for (size_t half = 0; half < 2; ++half) {
        const Global<u8>& row = start(rows_, half, m);
        const uint64_t more = offset(rows_, half, m);
        LoadedUnit& loaded = all.emplace_back();
        const auto append_two = [&](std::vector<Reg<b32>>& to, const Global<u8>& stream) {
          const Vec<b32, 2> two = (stream.as<b64>() + unit).as<b32>().load<2>((more + i * 8) / 4, kReadOnly);
          to.push_back(two[0]), to.push_back(two[1]);
        };
        if (s.low_bits == 2) {
          append_two(loaded.low, row);
        } else {
          const Global<b32> first = row.as<b32>() + word;
          loaded.low.push_back(first.load((more + i * 16) / 4, kReadOnly));
          if (s.low_bits == 8) loaded.low.push_back(first.load((more + (i + s.n_units) * 16) / 4, kReadOnly));
        }
        if (s.high_bits == 2) append_two(loaded.high, row + s.high);
        if (s.high_bits == 1)
          loaded.high.push_back(((row + s.high).as<b32>() + unit).load((more + i * 4) / 4, kReadOnly));
      }
    }
    return all;
  }

  std::vector<LoadedUnit> load_scales_of(size_t m, const Reg<u32>& unit) {
    const ProductMatrix& matrix = plan_.matrices[m];
    std::vector<LoadedUnit> all;
    for (size_t half = 0; half < (plan_.units_at_once == 4 ? 2 : 1); ++half) {
      const Global<u8>& row = start(scale_rows_, half, m);
      const ScalesPlace place =
          place_scales(row + matrix.streams.heads, row + matrix.streams.scales, matrix.streams, unit);
      load_scales(matrix.type, matrix.streams, place, offset(scale_rows_, half, m), all.emplace_back());
    }
    return all;
  }

  // The number of unit i in row `half`, from the lane that decoded it.
  Reg<f32> of_quad(const std::vector<DecodedCodes>& decoded, std::vector<Reg<f32>> DecodedCodes::*numbers, size_t which,
                   uint32_t i, uint32_t half) {
    const uint32_t at_once = plan_.units_at_once;
    const size_t from = at_once == 4 ? half : 0;
    return b_.shuffle((decoded[from].*numbers)[which], at_once == 4 ? i : half * at_once + i, {}, 4);
  }

  UnitColumns load_columns(const Global<b32>& planes, const Global<b32>& numbers, uint32_t i,
                           const std::optional<Pred>& is_present) {
    const uint32_t at = i * ColumnsLayout::kUnit;
    Vec<f32, 2> scales = numbers.load<2>(at + ColumnsLayout::kScales, kReadOnly).as<f32>();
    const auto scale = [&](int c) { return is_present ? b_.select(*is_present, scales[c], 0.0f) : scales[c]; };
    const Reg<f32> first = scale(0);
    UnitColumns x{planes.load<4>(at, kReadOnly), {first, scale(1)}, {}};
    if (!plan_.has_input_sums) return x;
    bool asks_for_all = false, asks_for_halves = false;
    for (const ProductMatrix& matrix : plan_.matrices) {
      const UnitFormat& format = unit_format(matrix.type);
      if (format.zero != 0 || format.has_lowest) (format.n_scales == 1 ? asks_for_all : asks_for_halves) = true;
    }
    const auto load = [&](uint32_t sums) { return numbers.load<2>(at + sums, kReadOnly).as<s32>(); };
    if (asks_for_halves)
      x.sums.push_back(load(ColumnsLayout::kFirstSums)), x.sums.push_back(load(ColumnsLayout::kLastSums));
    if (asks_for_all) x.sums.push_back(load(ColumnsLayout::kSums));
    return x;
  }

  // sum += weights . values of a unit, for two rows and two columns; same order as add_codes() in
  // kernels/matmul/gemv.cpp.
  void add_unit(size_t m, const WeightWords& w, const std::vector<DecodedCodes>& decoded, uint32_t i,
                const UnitColumns& x, VarVec<f32, 4>& sum) {
    const UnitFormat& format = unit_format(plan_.matrices[m].type);
    std::vector<Reg<f32>> total;  // [parts of the unit, 4]
    for (uint32_t part = 0; part < format.n_scales; ++part) {
      const bool asks = format.zero != 0 || format.has_lowest;
      const size_t which = format.n_scales == 2 ? part : x.sums.size() - 1;
      const Vec<s32, 4> dots = dot(format, w, x, part, asks ? &x.sums[which] : nullptr);
      std::vector<Reg<f32>> scales, lowest, of_lowest;
      for (uint32_t half = 0; half < 2; ++half) {
        scales.push_back(of_quad(decoded, &DecodedCodes::scales, part, i, half));
        if (format.has_lowest) lowest.push_back(of_quad(decoded, &DecodedCodes::lowest, part, i, half));
      }
      if (format.has_lowest)
        for (int c = 0; c < 2; ++c) of_lowest.push_back(b_.convert<f32>(x.sums[which][c]));
      for (int at = 0; at < 4; ++at) {
        Reg<f32> value = b_.convert<f32>(dots[at]);
        Reg<f32> added = part == 0 ? scales[at / 2] * value : b_.fma(scales[at / 2], value, total[total.size() - 4]);
        total.push_back(format.has_lowest ? b_.fma(lowest[at / 2], of_lowest[at % 2], added) : added);
      }
    }
    for (int at = 0; at < 4; ++at) sum[at] = b_.fma(total[total.size() - 4 + at], x.scales[at % 2], sum[at]);
  }

  // Exact sums of (code - zero) * n over one part of the unit, or all of it. sums: of n.
  Vec<s32, 4> dot(const UnitFormat& format, const WeightWords& w, const UnitColumns& x, uint32_t part,
                  const Vec<s32, 2>* sums) {
    const bool starts = sums != nullptr && !format.has_lowest;
    std::vector<Reg<s32>> start;
    if (starts)
      for (int c = 0; c < 2; ++c) start.push_back((*sums)[c] * -format.zero);
    const InVec<s32, 4> zeros{zero_, zero_, zero_, zero_};
    const InVec<s32, 4> low_start = starts ? InVec<s32, 4>{start[0], start[1], start[0], start[1]} : zeros;
    const auto of_plane = [&](int plane, const InVec<s32, 4>& before) {
      const Vec<b32, 2> words = x.planes.slice<2>(2 * plane);
      const auto with = [&]<class A>(A) {
        return plane == 0 ? multiply<A, s8x4>(w, words, format.n_scales, part, before)
                          : multiply<A, u8x4>(w, words, format.n_scales, part, before);
      };
      return format.has_signed_codes ? with(s8x4{}) : with(u8x4{});
    };
    const Vec<s32, 4> high = of_plane(0, zeros), low = of_plane(1, low_start);
    std::vector<Reg<s32>> all;
    for (int at = 0; at < 4; ++at) all.push_back(b_.mad(high[at], 256, low[at]));
    return {all[0], all[1], all[2], all[3]};
  }

  // before + codes . words over the whole unit, or its first or last 16 values.
  template <class A, class B>
  Vec<s32, 4> multiply(const WeightWords& w, const Vec<b32, 2>& words, uint32_t n_parts, uint32_t part,
                       const InVec<s32, 4>& before) {
    const Vec<B, 2> x = words.as<B>();
    const Reg<A> a0 = w.upper.front.as<A>(), a1 = w.lower.front.as<A>(), a2 = w.upper.back.as<A>(),
                 a3 = w.lower.back.as<A>();
    const bool is_front = part == 0;
    if (runs(b_.target(), sm_80)) {
      if (n_parts == 1) return b_.mma(Vec<A, 4>(a0, a1, a2, a3), x, before);
      return is_front ? b_.mma(Vec<A, 2>(a0, a1), x.template slice<1>(0), before)
                      : b_.mma(Vec<A, 2>(a2, a3), x.template slice<1>(1), before);
    }
    const auto rows = [&](const Reg<A>& front, const Reg<A>& back, size_t half) {
      InVec<s32, 2> sum{zero_, zero_};
      sum.operands = {before.operands[2 * half], before.operands[2 * half + 1]};
      if (n_parts == 2) return b_.mma(Vec<A, 1>(is_front ? front : back), x.template slice<1>(is_front ? 0 : 1), sum);
      return b_.mma(Vec<A, 1>(back), x.template slice<1>(1), b_.mma(Vec<A, 1>(front), x.template slice<1>(0), sum));
    };
    const Vec<s32, 2> upper = rows(a0, a2, 0), lower = rows(a1, a3, 1);
    return {upper[0], upper[1], lower[0], lower[1]};
  }

  // Stores separate sums for each lane of the single-column kernel, which has every lanes_per_row-th unit.
  void stage(const Reg<u32>& split, const Sums& sums) {
    const uint32_t at_once = plan_.units_at_once, lanes = plan_.lanes_per_row;
    Reg<u32> lane_sums =
        plan_.row_tiles == 1 ? split * at_once : b_.warp() / plan_.splits * (n_matrices() * lanes) + split * at_once;
    Shared<f32> own = columns_.parts + (lane_sums * GemvPlan::kTileFloats + part_ * (2 * kColumnPlace) + b_.lane() / 4);
    for (uint32_t m = 0; m < n_matrices(); ++m)
      for (uint32_t i = 0; i < at_once; ++i)
        for (uint32_t at = 0; at < 4; ++at)
          own.store((m * lanes + i) * GemvPlan::kTileFloats + at % 2 * kColumnPlace + at / 2 * (kTileRows / 2),
                    sums[m * at_once + i][static_cast<int>(at)]);
  }

  uint32_t n_matrices() const { return static_cast<uint32_t>(plan_.matrices.size()); }

  void write_outputs(const Reg<u32>& first_column) {
    constexpr uint32_t kOutputs = kTileRows * ColumnsLayout::kColumns;
    b_.for_("output", b_.thread(), plan_.row_tiles * kOutputs, plan_.threads(), [&](Reg<u32> output) {
      Reg<u32> tile = product_.block * plan_.row_tiles + output / kOutputs;
      Reg<u32> column = output / kTileRows % ColumnsLayout::kColumns, in_tile = output % kTileRows;
      Reg<u32> first = tile * kTileRows;
      Reg<u32> row = (has_whole_tile() ? b_.min(first, last_first_row()) : first) + in_tile;
      Reg<u32> of_all = first_column + column;
      Var<pred> is_present = b_.var("is_there", of_all < columns_.n_columns);
      if (overlaps()) is_present = is_present && (has_whole_tile() ? row >= first : row < spec_.rows);
      const uint32_t of_tile = n_matrices() * plan_.lanes_per_row * GemvPlan::kTileFloats;
      const Shared<f32> sums = columns_.parts + (output / kOutputs * of_tile + column * kColumnPlace + in_tile);
      b_.if_(is_present, [&] { write_output(row, of_all, sums); });
    });
  }

  void write_output(const Reg<u32>& row, const Reg<u32>& column, const Shared<f32>& sums) {
    Reg<f32> factor = columns_.factors.load(column, kReadOnly);
    std::vector<Reg<f32>> products;
    for (uint32_t m = 0; m < n_matrices(); ++m) products.push_back(sum_of_lanes(sums, m) * factor);
    const In<u32> rows = product_.rows ? In<u32>(*product_.rows) : In<u32>(spec_.rows);
    const Global<f32> y = product_.y + b_.mul_wide(column, rows) + row;
    const auto write = [&](GemvEpilogue epilogue) { write_product(b_, epilogue, products, product_.bias, row, y); };
    if (!product_.has_bias) return write(spec_.epilogue);
    b_.if_else(
        *product_.has_bias, [&] { write(GemvEpilogue::kBias); }, [&] { write(GemvEpilogue::kStore); });
  }

  // Same order as warp_sum().
  Reg<f32> sum_of_lanes(const Shared<f32>& of_tile, uint32_t m) {
    std::vector<Reg<f32>> sums;
    for (uint32_t lane = 0; lane < plan_.lanes_per_row; ++lane)
      sums.push_back(of_tile.load((m * plan_.lanes_per_row + lane) * GemvPlan::kTileFloats));
    while (sums.size() > 1) {
      std::vector<Reg<f32>> pairs;
      for (size_t i = 0; i < sums.size() / 2; ++i) pairs.push_back(sums[i] + sums[i + sums.size() / 2]);
      sums.swap(pairs);
    }
    return sums[0];
  }

  Builder& b_;
  const GemvPlan& plan_;
  const GemvSpec& spec_;
  const ProductOfColumns& product_;
  const SharedColumns& columns_;
  Reg<u32> part_, two_parts_;
  Var<s32> zero_;
  std::vector<std::vector<Global<u8>>> rows_, scale_rows_;  // [1 or 2][matrices]
  std::optional<Global<b32>> planes_, numbers_;             // of the lane, for unit 0
};

// The products of a launch: code once per format, executed by blocks whose product has that format.
class FusedWriter {
 public:
  FusedWriter(Builder& b, const std::vector<GemvPlan>& plans) : b_(b), plans_(plans) {
    for (size_t i = 0; i < plans.size(); ++i) {
      const GemvSpec& spec = plans[i].spec;
      const std::string number = std::to_string(i);
      matrices_.push_back(b.global<u8>("weights_" + number, plans[i].matrices[0].row_bytes * spec.rows));
      biases_.push_back(b.param<u64>("bias_" + number));
      outputs_.push_back(b.global<f32>("y_" + number, uint64_t{spec.columns} * spec.rows));
    }
    const Global<b32> integers = declare_integers(b, plans[0].spec);
    const Global<f32> factors = declare_factors(b);
    columns_.emplace(SharedColumns{integers, factors, b.param<u32>("n_columns"), declare_parts(b, plans[0])});
    Var<u32> which = b.var("which", 0u), first = b.var("first_block", 0u);
    uint32_t before = 0;
    for (uint32_t i = 1; i < plans.size(); ++i) {
      before += plans[i - 1].n_blocks;
      Pred is_behind = b.block() >= before;
      which = b.select(is_behind, i, which);
      first = b.select(is_behind, before, first);
    }
    which_.emplace(which), block_.emplace(b.block() - first);
  }

  void write() {
    std::vector<TensorType> written;
    for (const GemvPlan& plan : plans_) {
      const TensorType type = plan.spec.weights;
      if (std::ranges::find(written, type) != written.end()) continue;
      written.push_back(type);
      const bool is_only = std::ranges::all_of(plans_, [&](const GemvPlan& p) { return p.spec.weights == type; });
      const auto write = [&] { write_format(plan); };
      is_only ? write() : b_.if_(is_of(type), write);
    }
  }

 private:
  Pred is_of(TensorType type) const {
    std::vector<Pred> any;
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].spec.weights != type) continue;
      Pred is_its = *which_ == i;
      any.push_back(any.empty() ? is_its : any.back() || is_its);
    }
    return any.back();
  }

  // Selects the value of the block's own product, among those of a format.
  template <class T, class ValueOf>
  Reg<T> of_own(TensorType type, const ValueOf& value_of) const {
    std::vector<Reg<T>> chosen;
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].spec.weights != type) continue;
      const Reg<T> value = value_of(i);
      chosen.push_back(chosen.empty() ? value : b_.select(*which_ == i, value, chosen.back()));
    }
    return chosen.back();
  }

  void write_format(const GemvPlan& plan) {
    const TensorType type = plan.spec.weights;
    const Reg<u64> weights = of_own<u64>(type, [&](uint32_t i) { return b_.address(matrices_[i]); });
    const Reg<u64> bias = of_own<u64>(type, [&](uint32_t i) { return biases_[i]; });
    const Reg<u64> y = of_own<u64>(type, [&](uint32_t i) { return b_.address(outputs_[i]); });
    const Reg<u32> rows = of_own<u32>(type, [&](uint32_t i) { return Reg<u32>(b_.var("rows", plans_[i].spec.rows)); });
    const ProductOfColumns product{
        {b_.pointer<u8>(weights, 16)}, b_.pointer<f32>(bias, 4), bias != 0, b_.pointer<f32>(y, 4), *block_, rows};
    ColumnsWriter(b_, plan, product, *columns_).write();
  }

  Builder& b_;
  const std::vector<GemvPlan>& plans_;
  std::vector<Global<u8>> matrices_;
  std::vector<Reg<u64>> biases_;
  std::vector<Global<f32>> outputs_;
  std::optional<SharedColumns> columns_;
  std::optional<Reg<u32>> which_, block_;
};

}  // namespace

Kernel gemv_of_columns(const GemvPlan& plan, Target target) {
  const GemvSpec& spec = plan.spec;
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(plan.blocks_per_sm());
  std::vector<Global<u8>> matrices = declare_matrices(b, plan.matrices, spec.rows);
  const Global<b32> integers = declare_integers(b, spec);
  const Global<f32> factors = declare_factors(b);
  std::optional<Global<f32>> bias;
  if (adds_bias(spec.epilogue)) bias.emplace(b.global<f32>("bias", spec.rows * plan.matrices.size()));
  Global<f32> y = b.global<f32>("y", uint64_t{spec.columns} * spec.rows);
  const SharedColumns columns{integers, factors, b.param<u32>("n_columns"), declare_parts(b, plan)};
  const ProductOfColumns product{std::move(matrices), bias, {}, y, b.block(), {}};
  ColumnsWriter(b, plan, product, columns).write();
  return b.finish(Launch{plan.n_blocks, plan.threads()}, product_cost(spec, plan.matrices, spec.columns));
}

bool can_fuse(const GemvSpec& spec) {
  return spec.columns > 1 && !is_float(spec.weights) && spec.rows >= kTileRows &&
         (spec.epilogue == GemvEpilogue::kStore || spec.epilogue == GemvEpilogue::kBias);
}

std::vector<GemvPlan> plans_of(const FusedGemv& spec) {
  std::vector<GemvPlan> plans;
  uint32_t n_tiles = 0;
  for (const GemvSpec& product : spec.products) {
    const GemvSpec& first = spec.products[0];
    require(can_fuse(product) && product.k == first.k && product.columns == first.columns, product,
            "products of different inputs cannot be fused");
    n_tiles += plans.emplace_back(plan_of(product)).row_tiles_in_all();
  }
  for (GemvPlan& plan : plans) distribute_tiles(plan, n_tiles);
  return plans;
}

std::string name_of(const FusedGemv& spec) {
  std::string name = "gemv";
  for (const GemvSpec& product : spec.products)
    name += "_" + std::string(unit_format(product.weights).name) + "_" + std::to_string(product.rows);
  const GemvSpec& first = spec.products.at(0);
  return name + "x" + std::to_string(first.k) + "_c" + std::to_string(first.columns);
}

uint64_t fused_gemv_bytes(const FusedGemv& spec, uint64_t n_columns) {
  uint64_t bytes = input_bytes(spec.products.at(0), n_columns);
  for (const GemvSpec& product : spec.products)
    bytes += product_cost(product, matrices_of(product), n_columns).bytes - input_bytes(product, n_columns);
  return bytes;
}

Kernel fused_gemv(const FusedGemv& spec, Target target) {
  const std::vector<GemvPlan> plans = plans_of(spec);
  const GemvPlan& first = plans[0];
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(first.blocks_per_sm());
  FusedWriter(b, plans).write();
  uint32_t n_blocks = 0;
  Cost cost{fused_gemv_bytes(spec, first.spec.columns), 0};
  for (const GemvPlan& plan : plans) {
    n_blocks += plan.n_blocks;
    cost.flops += product_cost(plan.spec, plan.matrices, plan.spec.columns).flops;
  }
  return b.finish(Launch{n_blocks, first.threads()}, cost);
}

}  // namespace warpchat
