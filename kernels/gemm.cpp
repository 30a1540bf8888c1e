#include "kernels/gemm.h"

#include <algorithm>

#include "kernels/columns.h"
#include "kernels/epilogue.h"
#include "kernels/gemm_input.h"
#include "kernels/gemm_weights.h"
#include "kernels/half_range.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr size_t kFewTiles = kGemmFewColumns / 8;  // of columns, that a block always computes

class GemmWriter {
 public:
  GemmWriter(Builder& b, const GemmPlan& plan)
      : b_(b), plan_(plan), spec_(plan.spec), parameters_(b, plan), input_(b, plan), zero_(b.var("zero", 0.0f)) {
    if (parameters_.experts) uses_.emplace(b.shared<u32>("uses", plan.columns));
    for (const ProductMatrix& matrix : plan.matrices) {
      if (ones_.empty() && unit_format(matrix.type).has_lowest)
        ones_ = std::vector<Reg<f16x2>>(4, Reg<u32>(b.var("ones", kOnes)).as<f16x2>());
    }
  }

  void write() {
    const Tile tile = parameters_.experts ? tile_of_expert() : tile_of_columns();
    input_.begin({parameters_.halves, parameters_.factors, tile.count, parameters_.k,
                  [&](const Reg<u32>& column) { return input_row(tile, column); }});
    place_weights(tile.rows_before);
    Sums sums = new_sums();
    Reg<u32> n_units = ((parameters_.k + (kGemmUnit - 1)) / kGemmUnit).named("n_units");
    b_.for_("first_unit", 0, n_units, kGemmTileUnits, [&](Reg<u32> first_unit) {
      input_.arrive();
      Reg<u32> next = first_unit + kGemmTileUnits;
      b_.if_(next < n_units, [&] {
        input_.ask(next);
        const auto ask_ahead = [&] {
          for (const GemmWeights& weights : weights_) weights.ask_ahead(next);
        };
        plan_.splits == 1 ? ask_ahead() : b_.if_(split_of_warp() == 0, ask_ahead);  // for all of the same rows
      });
      b_.region("products", [&] { add_tile(first_unit, n_units, tile.count, sums); });
      input_.turn();
    });
    b_.barrier();
    b_.region("write", [&] { write_sums(tile, sums); });
  }

 private:
  struct Parameters {
    std::vector<Global<u8>> matrices;
    Global<b32> halves;  // pairs
    Global<f32> factors;
    struct Addends {
      Reg<u64> bias, residual;  // addresses, or null
    };
    std::optional<Addends> addends;
    struct Experts {
      Global<u32> order, tiles;
    };
    std::optional<Experts> experts;
    Global<f32> y;
    Reg<u32> rows, k;
    std::optional<Reg<u32>> n_columns;  // without experts

    Parameters(Builder& b, const GemmPlan& plan)
        : matrices(declare_matrices(b, plan.matrices, 0)),
          halves(b.global<b32>("halves")),
          factors(b.global<f32>("factors")),
          addends(takes_addends(plan.spec) ? std::optional(Addends{b.param<u64>("bias"), b.param<u64>("residual")})
                                           : std::nullopt),
          experts(plan.spec.experts > 0 ? std::optional(Experts{b.global<u32>("order"), b.global<u32>("tiles")})
                                        : std::nullopt),
          y(b.global<f32>("y")),
          rows(b.param<u32>("rows")),
          k(b.param<u32>("k")),
          n_columns(experts ? std::nullopt : std::optional(b.param<u32>("n_columns"))) {}
  };

  // The block's columns: of all, or of the uses in their order.
  struct Tile {
    Reg<u32> first, count;
    std::optional<Reg<u64>> rows_before;  // of the experts before its own
  };
  Tile tile_of_columns() {
    Reg<u32> first = (b_.block() * plan_.columns).named("first_column");
    b_.return_if(first >= *parameters_.n_columns);
    return {first, b_.min(*parameters_.n_columns - first, plan_.columns), {}};
  }
  Tile tile_of_expert() {
    const auto& experts = *parameters_.experts;
    const Vec<u32, 4> tile = experts.tiles.load<4>(wide(b_.block()) * 4, kReadOnly);  // ExpertTile
    Reg<u32> first = tile[1].named("first_use"), count = tile[2].named("n_uses");
    b_.return_if(count == 0);
    b_.for_("use", b_.thread(), count, plan_.threads(),
            [&](Reg<u32> use) { uses_->store(use, experts.order.load(first + use, kReadOnly)); });
    return {first, count, b_.mul_wide(tile[0].named("expert"), parameters_.rows)};
  }

  // Where the input of the tile's column is, among all.
  Reg<u32> input_row(const Tile& tile, const Reg<u32>& column) const {
    Reg<u32> place = tile.first + column;
    if (!parameters_.experts) return place;
    return parameters_.experts->order.load(place, kReadOnly) / spec_.uses_per_input;
  }

  // Which of its block's rows a warp has, and which part of k.
  Reg<u32> row_warp() const { return plan_.splits == 1 ? b_.warp() : b_.warp() % plan_.row_warps(); }
  Reg<u32> split_of_warp() const { return b_.warp() / plan_.row_warps(); }

  // A warp's rows_per_warp rows: it reads those from first_read. Rows before `first` are another warp's.
  struct Rows {
    Reg<u32> first, first_read;
  };
  Rows rows_of_warp() {
    Reg<u32> step = b_.block(Axis::kY) * plan_.row_warps() + row_warp();
    Reg<u32> first = (step * plan_.rows_per_warp).named("first_row");
    return {first, b_.min(first, parameters_.rows - plan_.rows_per_warp)};
  }
  // Matrices of one format go together, where that leaves a lane no more rows than a quad has lanes.
  void place_weights(const std::optional<Reg<u64>>& rows_before) {
    Reg<u32> row = rows_of_warp().first_read + (b_.lane() >> 2);
    const auto place = [&](TensorType type, const std::vector<Global<u8>>& matrices) {
      weights_.emplace_back(b_, plan_, type, matrices, parameters_.k, row, rows_before);
    };
    const std::vector<ProductMatrix>& matrices = plan_.matrices;
    if (matrices.size() == 2 && matrices[0].type == matrices[1].type && plan_.rows_per_warp == 16)
      return place(matrices[0].type, parameters_.matrices);
    for (size_t m = 0; m < matrices.size(); ++m) place(matrices[m].type, {parameters_.matrices[m]});
  }

  // [matrices, rows_per_warp / 16, columns / 8] tiles of 16 rows by 8 columns. A lane has two columns side by side of a
  // row, then of the row 8 below.
  using Sums = std::vector<VarVec<f32, 4>>;
  size_t n_row_tiles() const { return plan_.rows_per_warp / 16; }
  size_t n_column_tiles() const { return plan_.columns / 8; }
  size_t tile_index(size_t matrix, size_t row_tile, size_t column_tile) const {
    return (matrix * n_row_tiles() + row_tile) * n_column_tiles() + column_tile;
  }
  Sums new_sums() {
    Sums sums;
    const size_t n = plan_.matrices.size() * n_row_tiles() * n_column_tiles();
    for (size_t i = 0; i < n; ++i) sums.push_back(b_.vars<f32, 4>("sum", 0.0f));
    return sums;
  }
  template <class F>
  void for_each_row_tile(F&& body) const {
    for (size_t m = 0; m < plan_.matrices.size(); ++m)
      for (size_t r = 0; r < n_row_tiles(); ++r) body(m, r);
  }

  void add_tile(const Reg<u32>& first_unit, const Reg<u32>& n_units, const Reg<u32>& n_columns, Sums& sums) {
    // A bound that is no constant: ptxas would unroll the loop and run out of registers.
    const auto add = [&](Reg<u32> unit) { add_unit(first_unit + unit, unit, n_columns, sums); };
    Reg<u32> end = b_.min(n_units - first_unit, kGemmTileUnits);
    plan_.splits == 1 ? b_.for_("unit", 0, end, 1, add) : b_.for_("unit", split_of_warp(), end, plan_.splits, add);
  }

  // unit: of the row, and of the tile.
  void add_unit(const Reg<u32>& unit, const Reg<u32>& tile_unit, const Reg<u32>& n_columns, Sums& sums) {
    std::vector<WeightPart> parts;  // [matrices, rows_per_warp / 8]
    for (const GemmWeights& weights : weights_)
      for (WeightPart& part : weights.load(unit)) parts.push_back(std::move(part));
    add_columns(parts, input_.place(tile_unit), n_columns, 0, sums);
  }

  // Of the columns from tile `first` on. A block that has no more than 16 or 32 passes over the others.
  void add_columns(const std::vector<WeightPart>& parts, const GemmInput::Place& place, const Reg<u32>& n_columns,
                   size_t first, Sums& sums) {
    const size_t end = std::min(n_column_tiles(), first == 0 ? kFewTiles : 2 * first);
    for (size_t c = first; c < end; ++c) {
      const Vec<f16x2, 4> x = input_.load(place, c);
      ColumnSums column_sums;
      for_each_row_tile([&](size_t m, size_t r) {
        const WeightPart* upper = &parts[2 * (m * n_row_tiles() + r)];
        add_products(upper[0], upper[1], x, column_sums, sums[tile_index(m, r, c)]);
      });
    }
    if (end == n_column_tiles()) return;
    b_.if_(n_columns > static_cast<uint32_t>(end * 8), [&] { add_columns(parts, place, n_columns, end, sums); });
  }

  // Sums of the values that share a scale, for the formats with lowest weights: [parts of a unit], by their number.
  using ColumnSums = std::vector<std::vector<Vec<f32, 4>>>;

  // sum += upper's row and lower's, 8 below, times x.
  void add_products(const WeightPart& upper, const WeightPart& lower, const Vec<f16x2, 4>& x, ColumnSums& column_sums,
                    VarVec<f32, 4>& sum) {
    if (upper.scales.empty()) {
      sum = multiply(upper.pairs, lower.pairs, x, 0, 4, sum);
      return;
    }
    const size_t n_scales = upper.scales.size(), n_pairs = 4 / n_scales;
    for (size_t s = 0; s < n_scales; ++s) {
      const Vec<f32, 4> products = multiply(upper.pairs, lower.pairs, x, s * n_pairs, n_pairs, zeros());
      for (int i = 0; i < 4; ++i) sum[i] = b_.fma(i < 2 ? upper.scales[s] : lower.scales[s], products[i], sum[i]);
    }
    for (size_t s = 0; s < upper.lowest.size(); ++s) {
      const Vec<f32, 4> x_sum = sum_of(x, s, n_scales, column_sums);
      for (int i = 0; i < 4; ++i) sum[i] = b_.fma(i < 2 ? upper.lowest[s] : lower.lowest[s], x_sum[i], sum[i]);
    }
  }

  // The columns' sums over part s of the unit, in every row: the product with ones.
  Vec<f32, 4> sum_of(const Vec<f16x2, 4>& x, size_t s, size_t n_scales, ColumnSums& known) {
    known.resize(std::max(known.size(), n_scales * 2));
    std::vector<Vec<f32, 4>>& found = known[n_scales + s];
    if (found.empty()) {
      found.push_back(multiply(ones_, ones_, x, s * 4 / n_scales, 4 / n_scales, zeros()));
    }
    return found[0];
  }

  InVec<f32, 4> zeros() { return {zero_, zero_, zero_, zero_}; }

  // before + the products of n pairs from `first`, for two rows of weights 8 apart and eight columns.
  Vec<f32, 4> multiply(const std::vector<Reg<f16x2>>& upper, const std::vector<Reg<f16x2>>& lower,
                       const Vec<f16x2, 4>& x, size_t first, size_t n, const InVec<f32, 4>& before) {
    std::vector<Vec<f32, 4>> sums;
    const size_t step = runs(b_.target(), sm_80) ? 2 : 1;  // m16n8k16, or m16n8k8
    for (size_t p = first; p < first + n; p += step) {
      const InVec<f32, 4> sum = sums.empty() ? before : InVec<f32, 4>(sums.back());
      const int at = static_cast<int>(p);
      if (step == 2)
        sums.push_back(b_.mma({upper[p], lower[p], upper[p + 1], lower[p + 1]}, x.slice<2>(at), sum));
      else
        sums.push_back(b_.mma({upper[p], lower[p]}, x.slice<1>(at), sum));
    }
    return sums.back();
  }

  // A warp's sums by way of shared memory, in the input's place, stage_columns at once. Lanes side by side then have
  // rows side by side, of 32 / rows_per_warp columns. Warps of the same rows write columns in turn.
  void write_sums(const Tile& tile, Sums& sums) {
    const Rows rows = rows_of_warp();
    const uint32_t columns_at_once = kWarpSize / plan_.rows_per_warp;
    Shared<f32> stage = input_.stage(b_.warp()), of_rows = plan_.splits == 1 ? stage : input_.stage(row_warp());
    const auto meet = [&] { plan_.splits == 1 ? b_.warp_barrier() : b_.barrier(); };
    // Of the thread's number: ptxas would keep the lane's quad from the start on, and spill it.
    Reg<u32> quad = b_.thread() >> 2 & 7;
    Shared<f32> fragment = stage + (b_.lane() & 3) * (2 * plan_.stage_column()) + quad;
    Reg<u32> lane_row = (b_.lane() % plan_.rows_per_warp).named("lane_row");
    Reg<u32> row = (rows.first_read + lane_row).named("row");
    b_.for_("begin", 0, tile.count, plan_.stage_columns(), [&](Reg<u32> begin) {
      stage_sums(fragment, begin, 0, sums);
      meet();
      Reg<u32> end = b_.min(tile.count - begin, plan_.stage_columns());
      Reg<u32> of_warp = b_.lane() / plan_.rows_per_warp;
      Reg<u32> first = plan_.splits == 1 ? of_warp : split_of_warp() * columns_at_once + of_warp;
      b_.for_("column", first, end, columns_at_once * plan_.splits, [&](Reg<u32> column) {
        Reg<u32> of_block = begin + column;
        write_value(rows, row, uses_ ? uses_->load(of_block) : tile.first + of_block, input_.factor(of_block),
                    of_rows + (column * plan_.stage_column() + lane_row));
      });
      meet();
    });
  }

  // Those of the columns from `begin` on, which is `first` or a later stage's: registers have no index.
  void stage_sums(const Shared<f32>& fragment, const Reg<u32>& begin, uint32_t first, Sums& sums) {
    const uint32_t next = first + plan_.stage_columns();
    const auto stage = [&] { stage_tiles(fragment, first / 8, std::min(plan_.columns, next) / 8, sums); };
    if (next >= plan_.columns) return stage();
    b_.if_else(begin == first, stage, [&] { stage_sums(fragment, begin, next, sums); });
  }

  void stage_tiles(const Shared<f32>& fragment, size_t first_tile, size_t end_tile, Sums& sums) {
    for_each_row_tile([&](size_t m, size_t r) {
      for (size_t c = first_tile; c < end_tile; ++c)
        for (uint32_t i = 0; i < 4; ++i)
          fragment.store((c - first_tile) * 8 * plan_.stage_column() + i % 2 * plan_.stage_column() +
                             m * plan_.rows_per_warp + r * 16 + i / 2 * 8,
                         sums[tile_index(m, r, c)][static_cast<int>(i)]);
    });
  }

  // staged: the first split's sum of the first matrix; that of the second is rows_per_warp further.
  void write_value(const Rows& rows, const Reg<u32>& row, const Reg<u32>& column, const Reg<f32>& factor,
                   const Shared<f32>& staged) {
    Reg<u64> place = b_.mad_wide(column, parameters_.rows, wide(row));
    b_.if_(row >= rows.first, [&] {
      std::vector<Reg<f32>> products;
      for (uint32_t m = 0; m < plan_.matrices.size(); ++m) {
        Var<f32> sum = b_.var("sum", staged.load(m * plan_.rows_per_warp));
        for (uint32_t split = 1; split < plan_.splits; ++split)
          sum += staged.load(split * plan_.row_warps() * plan_.stage_floats() + m * plan_.rows_per_warp);
        products.push_back(sum * factor);
      }
      if (!parameters_.addends) return write_product(b_, spec_.epilogue, products, {}, row, parameters_.y + place);
      Var<f32> value = b_.var("value", products[0]);
      const auto add = [&](const Reg<u64>& address, const auto& index) {
        b_.if_(address != 0, [&] { value += b_.pointer<f32>(address, 4).load(index); });
      };
      add(parameters_.addends->bias, row), add(parameters_.addends->residual, place);
      parameters_.y.store(place, value);
    });
  }

  Builder& b_;
  const GemmPlan& plan_;
  const GemmSpec& spec_;
  Parameters parameters_;
  GemmInput input_;
  std::optional<Shared<u32>> uses_;  // [columns], with experts
  std::vector<GemmWeights> weights_;
  Var<f32> zero_;
  std::vector<Reg<f16x2>> ones_;
};

// With 512 threads, each has 128 registers. Where ptxas would spill some: mma of 8 values of k, two lowest weights a
// unit, matrices of two formats, and its sm_120.
uint32_t threads_per_sm(const GemmPlan& plan, Target target) {
  bool is_large =
      !runs(target, sm_80) || runs(target, sm_120) || plan.spec.up.value_or(plan.spec.weights) != plan.spec.weights;
  for (const ProductMatrix& matrix : plan.matrices) {
    const UnitFormat& format = unit_format(matrix.type);
    is_large |= format.has_lowest && format.n_scales == 2;
  }
  return is_large ? 256 : 512;
}

uint32_t blocks_per_sm(const GemmPlan& plan, Target target) {
  return std::max(1u, threads_per_sm(plan, target) / plan.threads());
}

// Of a tile of k: its columns came while products read the one before, but where threads copy them. Weights come unit
// by unit: those that lie in one sector of 32 bytes to the first-level cache with the first of them, from the second,
// where the tile before has asked for them.
Waits tile_waits(const GemmPlan& plan, Target target) {
  const Waits columns = runs(target, sm_80) ? Waits{.local = 2} : Waits{.l2 = 1, .local = 3};
  const uint32_t sector_units = std::max(1u, 32 * 8 / (plan.matrices[0].streams.low_bits * kGemmUnit));
  const uint32_t n_units = kGemmTileUnits / plan.splits;
  const double from_memory = ceil_div(n_units, std::max(1u, sector_units / plan.splits));
  return columns + from_memory * Waits{.l2 = 1} + Waits{.local = (n_units - from_memory) + 2.0 * n_units};
}

// write_sums, whose loop over columns ptxas unrolls four times.
Waits write_waits(const GemmPlan& plan, uint32_t n_columns) {
  const double n_turns = ceil_div(ceil_div(n_columns, kWarpSize / plan.rows_per_warp * plan.splits), 4);
  const Waits read = plan.spec.epilogue == GemvEpilogue::kResidual ? Waits{.l2 = 1} : Waits{};
  const Waits bias = plan.spec.epilogue == GemvEpilogue::kBias ? Waits{.common = 1} : Waits{};
  return n_turns * (read + Waits{.local = 1}) + bias + Waits{.local = 3.0 + plan.splits};
}

}  // namespace

Flow gemm_flow(const GemmSpec& spec, Target target, uint32_t n_columns) {
  const GemmPlan plan = plan_of(spec);
  const bool has_experts = spec.experts > 0;
  const uint32_t n_groups = has_experts ? std::min(spec.experts, n_columns) : 1;
  const uint64_t n_tiles = uint64_t{n_groups} * ceil_div(ceil_div(n_columns, n_groups), plan.columns);
  const uint32_t of_block = std::min(ceil_div(n_columns, n_groups), plan.columns);
  uint64_t unit_bytes = 0;
  for (const ProductMatrix& matrix : plan.matrices) unit_bytes += matrix.row_bytes * kGemmUnit / spec.k;
  return {.pieces = n_tiles * plan.n_row_blocks,
          .warps = plan.warps,
          .blocks_per_sm = blocks_per_sm(plan, target),
          .piece = Waits{.memory = 1, .l2 = has_experts ? 3.0 : 1.0} +  // the tile of experts, its order; columns
                   ceil_div(spec.k, kGemmTileK) * tile_waits(plan, target) + write_waits(plan, of_block),
          .bytes_in_flight = plan.rows_per_block() * unit_bytes * kGemmTileUnits};
}

Kernel gemm(const GemmSpec& spec, Target target) {
  const GemmPlan plan = plan_of(spec);
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(blocks_per_sm(plan, target));
  GemmWriter(b, plan).write();
  return b.finish(Launch{gemm_grid(spec, plan.columns), plan.threads()}, gemm_cost(spec, plan.columns));
}

}  // namespace warpchat
