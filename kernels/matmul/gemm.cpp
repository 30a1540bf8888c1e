#include "kernels/matmul/gemm.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "kernels/common/arrivals.h"
#include "kernels/common/columns.h"
#include "kernels/common/product_of_16.h"
#include "kernels/matmul/epilogue.h"
#include "kernels/matmul/gemm_input.h"
#include "kernels/matmul/gemm_weights.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr size_t kMinComputedTiles = kMinComputedColumns / 8;  // column tiles that a block always computes

// Parameters of a launch that all its products share.
struct LaunchParameters {
  Global<b32> halves;  // pairs
  Global<f32> factors;
  struct Experts {
    Global<u32> order, tiles;
  };
  std::optional<Experts> experts;
  std::optional<Global<u8>> scratch;  // with split-K
  Reg<u32> k;
  std::optional<Reg<u32>> n_columns;  // without experts
};

// The block's rows of its product.
struct BlockRows {
  Reg<u32> rows, row_block;  // rows of the product, and index among its blocks
};

// Where a product's results go.
struct Destination : BlockRows {
  struct Addends {
    Reg<u64> bias, residual;  // addresses, or null
  };
  std::optional<Addends> addends;
  Global<f32> y;
  std::optional<Global<f32>> bias_pairs;  // with kBiasSwiglu
};

// The product that this block computes.
struct ProductOfBlock : BlockRows {
  std::vector<Global<u8>> matrices;
  std::function<Destination()> destination;  // evaluated once, after the products, so it occupies no registers before
  std::optional<Reg<u32>> format;            // its format number, if the kernel supports several
};

constexpr uint32_t kWrittenTiles = GemmPlan::kWrittenTiles, kMergedParts = GemmPlan::kMergedParts;
constexpr uint32_t kStagedAtOnce = GemmPlan::kStagedAtOnce;

// Blocks with at most this many columns skip this tile.
uint32_t max_columns_skipping_tile(size_t column_tile) {
  return max_columns_skipping(static_cast<uint32_t>(8 * column_tile));
}

class GemmWriter {
  // [rows_per_warp / 16, columns / 8] tiles of 16 rows by 8 columns. A lane has two neighbouring columns in one row,
  // and in the row 8 below.
  using Sums = std::vector<VarVec<f32, 4>>;

 public:
  GemmWriter(Builder& b, const GemmPlan& plan, const LaunchParameters& launch, const ProductOfBlock& product,
             GemmInput& input)
      : b_(b),
        plan_(plan),
        spec_(plan.spec),
        launch_(launch),
        product_(product),
        input_(input),
        zero_(b.var("zero", 0.0f)) {
    if (launch.experts) assignments_.emplace(b.shared<u32>("uses", plan.columns));
  }

  void write() {
    const Tile tile = launch_.experts ? tile_of_expert() : tile_of_columns();
    Reg<u32> n_units = ((launch_.k + (kGemmUnit - 1)) / kGemmUnit).named("n_units");
    const Range range = range_of_part(n_units);
    input_.begin({launch_.halves, launch_.factors, tile.count, launch_.k,
                  [&](const Reg<u32>& column) { return input_row(tile, column); }},
                 range.begin);
    Reg<u32> end = ((range.end + (kGemmTileUnits - 1)) & ~(kGemmTileUnits - 1)).named("end");
    Sums sums = new_sums();
    in_own_format(0, [&](size_t format) {
      place_weights(format, tile.rows_before);
      add_tiles(range.begin, end, tile.count, sums);
    });
    if (launch_.scratch) b_.region("merge", [&] { store_partial_sums(tile.count, sums); });
    if (!has_two()) return b_.region("write", [&] { write_sums(tile, sums); });
    b_.barrier();
    b_.region("write", [&] { write_staged(tile, sums); });
  }

 private:
  // Calls body(number) for the block's format, among those from `first` on. Other code is shared by all formats.
  template <class Body>
  void in_own_format(size_t first, const Body& body) {
    if (!product_.format || first + 1 == plan_.formats.size()) return body(first);
    b_.if_else(
        *product_.format == static_cast<uint32_t>(first), [&] { body(first); },
        [&] { in_own_format(first + 1, body); });
  }

  // Accumulates units `begin` to `end`, one tile of k after the other.
  void add_tiles(const Reg<u32>& begin, const Reg<u32>& end, const Reg<u32>& n_columns, Sums& sums) {
    const auto ask_ahead = [&](const Reg<u32>& unit) {
      b_.if_(unit < end, [&] { with_weights([&](const GemmWeights& weights) { weights.ask_ahead(unit); }); });
    };
    for (GemmWeights& weights : weights_) weights.begin(begin);
    ask_ahead(begin + kGemmTileUnits);
    b_.for_("first_unit", begin, end, kGemmTileUnits, [&](Reg<u32> first_unit) {
      input_.arrive();
      Reg<u32> next = (first_unit + kGemmTileUnits).named("next");
      b_.if_(next < end, [&] { input_.ask(next); });
      ask_ahead(next + kGemmTileUnits);
      b_.region("products", [&] {
        with_weights([&](GemmWeights& weights) { add_tile(weights, first_unit, end, n_columns, sums); });
      });
      input_.turn();
    });
  }

  // The block's columns: of the batch, or of the assignments in their order.
  struct Tile {
    Reg<u32> first, count;
    std::optional<Reg<u64>> rows_before;  // rows of the preceding experts
  };
  Tile tile_of_columns() {
    Reg<u32> first = (b_.block() * plan_.columns).named("first_column");
    b_.return_if(first >= *launch_.n_columns);
    return {first, b_.min(*launch_.n_columns - first, plan_.columns), {}};
  }
  Tile tile_of_expert() {
    const auto& experts = *launch_.experts;
    const Vec<u32, 4> tile = experts.tiles.load<4>(wide(b_.block()) * 4, kReadOnly);  // ExpertTile
    Reg<u32> first = tile[1].named("first_use"), count = tile[2].named("n_assignments");
    b_.return_if(count == 0);
    b_.for_("use", b_.thread(), count, plan_.threads(),
            [&](Reg<u32> use) { assignments_->store(use, experts.order.load(first + use, kReadOnly)); });
    return {first, count, b_.mul_wide(tile[0].named("expert"), product_.rows)};
  }

  // Units of k that the block covers: all, or a split-K part, which starts at a tile.
  struct Range {
    Reg<u32> begin, end;
  };
  Range range_of_part(const Reg<u32>& n_units) {
    if (!launch_.scratch) return {b_.var("begin", 0u), n_units};
    Reg<u32> n_tiles = (n_units + (kGemmTileUnits - 1)) / kGemmTileUnits, part = b_.block(Axis::kZ);
    const auto tile_at = [&](const Reg<u32>& number) {
      return number * n_tiles / b_.blocks(Axis::kZ) * kGemmTileUnits;
    };
    const Reg<u32> begin = tile_at(part);
    return {begin, b_.min(tile_at(part + 1), n_units)};
  }

  // Index of the tile column's input in the batch.
  Reg<u32> input_row(const Tile& tile, const Reg<u32>& column) const {
    Reg<u32> place = tile.first + column;
    if (!launch_.experts) return place;
    return launch_.experts->order.load(place, kReadOnly) / spec_.assignments_per_input;
  }

  // A warp's rows_per_warp rows, read from first_read on. Rows before `first` belong to another warp.
  struct Rows {
    Reg<u32> first, first_read;
  };
  Rows rows_of_warp(const BlockRows& block) {
    Reg<u32> step = block.row_block * plan_.row_warps() + row_warp();
    Reg<u32> first = (step * plan_.rows_per_warp).named("first_row");
    return {first, b_.min(first, block.rows - plan_.rows_per_warp)};
  }
  // With two matrices, the first half of the warps computes the first.
  bool has_two() const { return plan_.matrices.size() == 2; }
  Reg<u32> row_warp() const { return has_two() ? b_.warp() % plan_.row_warps() : b_.warp(); }
  Pred has_first() const { return b_.warp() < plan_.row_warps(); }

  // The warp's weights; with two matrices of different formats, one of two.
  void place_weights(size_t format, const std::optional<Reg<u64>>& rows_before) {
    Reg<u32> row = rows_of_warp(product_).first_read + (b_.lane() >> 2);
    const auto place = [&](size_t number, const Global<u8>& matrix) {
      weights_.emplace_back(b_, plan_, plan_.formats[number], matrix, launch_.k, row, rows_before);
    };
    weights_.clear();
    const std::vector<Global<u8>>& all = product_.matrices;
    if (!has_two()) return place(format, all[0]);
    if (plan_.formats[0] != plan_.formats[1]) return place(0, all[0]), place(1, all[1]);
    place(0, b_.pointer<u8>(b_.select(has_first(), b_.address(all[0]), b_.address(all[1])), 16));
  }
  template <class Body>
  void with_weights(const Body& body) {
    if (weights_.size() == 1) return body(weights_[0]);
    b_.if_else(
        has_first(), [&] { body(weights_[0]); }, [&] { body(weights_[1]); });
  }

  size_t n_row_tiles() const { return plan_.rows_per_warp / 16; }
  size_t n_column_tiles() const { return plan_.columns / 8; }
  size_t tile_index(size_t row_tile, size_t column_tile) const { return row_tile * n_column_tiles() + column_tile; }
  Sums new_sums() {
    Sums sums;
    for (size_t i = 0; i < n_row_tiles() * n_column_tiles(); ++i) sums.push_back(b_.vars<f32, 4>("sum", 0.0f));
    return sums;
  }

  // One or two units per turn, which limits the instructions to compile. Prefetches beyond the end repeat the last
  // tile.
  void add_tile(GemmWeights& weights, const Reg<u32>& first_unit, const Reg<u32>& end, const Reg<u32>& n_columns,
                Sums& sums) {
    const Reg<u32> next_tile = b_.min(first_unit + kGemmTileUnits, end - kGemmTileUnits);
    const std::vector<RowFactors> numbers = weights.numbers(next_tile);  // [rows_per_warp / 8]
    const uint32_t at_once = weights.units_at_once();
    b_.for_("unit", 0u, kGemmTileUnits, at_once, [&](Reg<u32> unit) {
      weights.begin_turn(b_.min(first_unit + unit + at_once, end - at_once));
      std::vector<GemmInput::Place> places;
      std::vector<std::vector<WeightPart>> units;  // [units, rows_per_warp / 8]
      for (uint32_t i = 0; i < at_once; ++i) {
        const Reg<u32> of_tile = i == 0 ? unit : unit + i;
        places.push_back(input_.place(of_tile));
        units.push_back(weights.unit(i, of_tile));
      }
      weights.ask_units();
      for_columns(n_columns, 0, [&](size_t c) {
        std::vector<Vec<f16x2, 4>> x;
        for (const GemmInput::Place& place : places) x.push_back(input_.load(place, static_cast<uint32_t>(c)));
        for (size_t r = 0; r < n_row_tiles(); ++r) add_products(units, numbers, x, 2 * r, sums[tile_index(r, c)]);
      });
    });
    if (numbers[0].lowest.empty()) return;
    const Shared<b32> means = input_.place_means();
    for_columns(n_columns, 0, [&](size_t c) {
      const Vec<f16x2, 2> x = input_.load_means(means, static_cast<uint32_t>(c));
      for (size_t r = 0; r < n_row_tiles(); ++r) add_lowest(numbers, x, 2 * r, sums[tile_index(r, c)]);
    });
  }

  // Calls body(c) for columns 8 c to 8 c + 7, from tile `first` on. Blocks with at most 16 or 32 columns skip the rest.
  template <class Body>
  void for_columns(const Reg<u32>& n_columns, size_t first, const Body& body) {
    const size_t end = std::min(n_column_tiles(), first == 0 ? kMinComputedTiles : 2 * first);
    for (size_t c = first; c < end; ++c) body(c);
    if (end == n_column_tiles()) return;
    b_.if_(n_columns > static_cast<uint32_t>(end * 8), [&] { for_columns(n_columns, end, body); });
  }

  // sum += the units' weights times x, for the row of `upper` and the one 8 below.
  void add_products(const std::vector<std::vector<WeightPart>>& units, const std::vector<RowFactors>& numbers,
                    const std::vector<Vec<f16x2, 4>>& x, size_t upper, VarVec<f32, 4>& sum) {
    const auto add = [&](const Vec<f32, 4>& products, const Reg<f32>& of_upper, const Reg<f32>& of_lower) {
      for (int i = 0; i < 4; ++i) sum[i] = b_.fma(i < 2 ? of_upper : of_lower, products[i], sum[i]);
    };
    const std::vector<Reg<f32>>& factor = numbers[upper].factor;
    std::vector<Vec<f32, 4>> all;  // for units that share a factor
    for (size_t u = 0; u < units.size(); ++u) {
      const WeightPart &above = units[u][upper], &below = units[u][upper + 1];
      const size_t n_scales = above.scales.size();
      for (size_t s = 0; s < n_scales; ++s)
        add(multiply(above.pairs, below.pairs, x[u], s * (4 / n_scales), 4 / n_scales, zeros()), above.scales[s],
            below.scales[s]);
      if (n_scales > 0) continue;
      const InVec<f32, 4> before = !all.empty()     ? InVec<f32, 4>(all.back())
                                   : factor.empty() ? InVec<f32, 4>(sum)
                                                    : zeros();
      all.push_back(multiply(above.pairs, below.pairs, x[u], 0, 4, before));
    }
    if (all.empty()) return;
    if (factor.empty())
      sum = all.back();
    else
      add(all.back(), factor[0], numbers[upper + 1].factor[0]);
  }

  // sum += the tile's minimums times the means of x.
  void add_lowest(const std::vector<RowFactors>& numbers, const Vec<f16x2, 2>& x, size_t upper, VarVec<f32, 4>& sum) {
    const RowFactors &above = numbers[upper], &below = numbers[upper + 1];
    const Vec<f16x2, 4> lowest{above.lowest.front(), below.lowest.front(), above.lowest.back(), below.lowest.back()};
    const Vec<f32, 4> products = product_of_16(b_, lowest, x, zeros());
    for (int i = 0; i < 4; ++i) sum[i] = b_.fma((i < 2 ? above : below).lowest_factor[0], products[i], sum[i]);
  }

  InVec<f32, 4> zeros() { return {zero_, zero_, zero_, zero_}; }

  // before + the products of n pairs from `first` on, for two rows of weights 8 apart and eight columns.
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

  // Writes the block's partial sums to scratch. Only the last block of a tile continues; it adds all split-K parts in
  // index order. Layout as in registers: f32 [tiles of rows and columns, parts, warps, tiles of 16 rows by 8 columns,
  // lanes, 4].
  void store_partial_sums(const Reg<u32>& n_columns, const Sums& sums) {
    const Global<f32> own = place_of_part(b_.block(Axis::kZ));
    for_columns(n_columns, 0, [&](size_t c) {
      for (size_t r = 0; r < n_row_tiles(); ++r) {
        const size_t i = tile_index(r, c);
        own.store(i * kWarpSize * 4, {sums[i][0], sums[i][1], sums[i][2], sums[i][3]});
      }
    });
    const Global<u32> arrivals = launch_.scratch->as<u32>() + tile_of_grid();
    b_.return_if(!last_to_arrive(b_, VirtualBlock(b_), arrivals, b_.blocks(Axis::kZ), b_.shared<u32>("arrived", 1)));
  }
  Reg<u32> tile_of_grid() const { return b_.block(Axis::kY) * b_.blocks() + b_.block(); }
  uint32_t n_tiles() const { return static_cast<uint32_t>(n_row_tiles() * n_column_tiles()); }
  uint32_t part_floats() const { return plan_.warps * n_tiles() * kWarpSize * 4; }
  Global<f32> place_of_part(const Reg<u32>& part) const {
    return (*launch_.scratch + kGemmArrivalsBytes).as<f32>() +
           b_.mul_wide(tile_of_grid() * b_.blocks(Axis::kZ) + part, part_floats()) +
           (b_.warp() * (n_tiles() * kWarpSize) + b_.lane()) * 4;
  }

  // Addresses of the lane's outputs: two neighbouring columns in two rows of every tile, like its sums.
  struct Outputs {
    Reg<u32> first_column;       // in the block
    Reg<u32> column_bytes;       // of y
    std::vector<Reg<u32>> ends;  // [rows_per_warp / 8]: end of the columns of each row; 0 if another warp writes it
    Reg<u64> y;                  // the row in column 0 of the batch with experts, else in the block's first column
    std::optional<Reg<u64>> residual;
    std::optional<Pred> has_residual;
    std::vector<Var<f32>> bias;        // [rows_per_warp / 8]
    std::optional<Global<f32>> parts;  // the first part
  };
  Outputs outputs_of(const Tile& tile) {
    const Destination destination = product_.destination();
    const Rows rows = rows_of_warp(destination);
    // From the thread index: ptxas would keep the lane's value alive from the start, and spill it.
    Reg<u32> row = (rows.first_read + (b_.thread() >> 2 & 7)).named("row");
    Reg<u32> first = ((b_.thread() & 3) * 2).named("column"), bytes = destination.rows * 4;
    const auto place = [&](const Reg<u64>& from) {
      const Reg<u64> of_row = from + wide(row) * 4;
      return assignments_ ? of_row : b_.mad_wide(tile.first + first, bytes, of_row);
    };
    Outputs out{first, bytes, {}, place(b_.address(destination.y)), {}, {}, {}, {}};
    const uint32_t n_rows = plan_.rows_per_warp / 8;
    for (uint32_t i = 0; i < n_rows; ++i) out.ends.push_back(b_.select(row + i * 8 >= rows.first, tile.count, 0u));
    if (launch_.scratch) out.parts.emplace(place_of_part(Reg<u32>(b_.var("first_part", 0u))));
    if (!destination.addends) return out;
    const auto& [bias_address, residual] = *destination.addends;
    for (uint32_t i = 0; i < n_rows; ++i) out.bias.push_back(b_.var("bias", 0.0f));
    b_.if_(bias_address != 0, [&] {
      const Global<f32> bias = b_.pointer<f32>(bias_address, 4) + row;
      for (uint32_t i = 0; i < n_rows; ++i) out.bias[i] = bias.load(i * 8);
    });
    out.residual.emplace(place(residual));
    out.has_residual.emplace(residual != 0);
    return out;
  }

  // A tile being written.
  struct Outgoing {
    size_t row_tile, column_tile;
    std::optional<VarVec<f32, 4>> sum;  // with split-K: the total
    std::vector<Var<f32>> residual;     // [4], with bias or residual
  };
  void write_sums(const Tile& tile, const Sums& sums) { write_tiles(tile, outputs_of(tile), 0, sums); }

  // Writes the tiles from column tile `first` on, several at once.
  void write_tiles(const Tile& tile, const Outputs& out, size_t first, const Sums& sums) {
    const size_t at_once = kWrittenTiles / n_row_tiles();
    const size_t end = std::min(first + at_once, n_column_tiles());
    std::vector<Outgoing> all;
    for (size_t c = first; c < end; ++c)
      for (size_t r = 0; r < n_row_tiles(); ++r) all.push_back(outgoing(out, r, c));
    if (out.residual) b_.if_(*out.has_residual, [&] { ask_for_residual(tile, out, all); });
    if (out.parts) add_partial_sums(tile, out, max_columns_skipping_tile(first), all);
    for (const Outgoing& outgoing : all) write_tile(tile, out, outgoing, sums);
    if (end == n_column_tiles()) return;
    b_.if_(tile.count > static_cast<uint32_t>(end * 8), [&] { write_tiles(tile, out, end, sums); });
  }
  // Adds several split-K parts of all these tiles at once. Blocks with no columns left return before this.
  void add_partial_sums(const Tile& tile, const Outputs& out, uint32_t skipped_columns, std::vector<Outgoing>& all) {
    b_.for_("first_part", 0, b_.blocks(Axis::kZ), kMergedParts, [&](Reg<u32> first) {
      const Global<f32> from = *out.parts + b_.mul_wide(first, part_floats());
      const Reg<u32> left = b_.blocks(Axis::kZ) - first;
      std::vector<std::vector<VarVec<f32, 4>>> parts;  // [tiles, kMergedParts]
      for (const Outgoing& outgoing : all) {
        const uint32_t own = max_columns_skipping_tile(outgoing.column_tile);
        const Reg<u32> n = own > skipped_columns ? b_.select(tile.count > own, left, 0u) : left;
        auto& of_tile = parts.emplace_back();
        for (uint32_t part = 0; part < kMergedParts; ++part) {
          of_tile.push_back(b_.vars<f32, 4>("part", 0.0f));
          b_.predicated(n > part, [&] {
            of_tile.back() =
                from.load<4>(tile_index(outgoing.row_tile, outgoing.column_tile) * kWarpSize * 4 + part * part_floats(),
                             Cache{.policy = Cache::Policy::kL2});
          });
        }
      }
      for (size_t i = 0; i < all.size(); ++i)
        for (const VarVec<f32, 4>& part : parts[i])
          for (int at = 0; at < 4; ++at) (*all[i].sum)[at] += part[at];
    });
  }
  // Addresses of the lane's two columns in column tile c.
  std::vector<Reg<u64>> places_of(const Tile& tile, const Outputs& out, const Reg<u64>& from, size_t c) {
    std::vector<Reg<u64>> places;
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t after = static_cast<uint32_t>(8 * c) + i;
      if (!assignments_)
        places.push_back(after == 0 ? from : b_.mad_wide(out.column_bytes, after, from));
      else
        places.push_back(
            b_.mad_wide(assignments_->load(b_.min(out.first_column + after, tile.count - 1)), out.column_bytes, from));
    }
    return places;
  }

  // Whether this warp writes the tile's i-th value.
  Pred is_own(const Outputs& out, const Outgoing& tile, uint32_t i) {
    return out.first_column + (static_cast<uint32_t>(8 * tile.column_tile) + i % 2) <
           out.ends[2 * tile.row_tile + i / 2];
  }
  Outgoing outgoing(const Outputs& out, size_t r, size_t c) {
    Outgoing tile{r, c, {}, {}};
    if (out.parts) tile.sum.emplace(b_.vars<f32, 4>("sum_of_parts", 0.0f));
    for (uint32_t i = 0; i < 4 && out.residual; ++i) tile.residual.push_back(b_.var("residual", 0.0f));
    return tile;
  }
  void ask_for_residual(const Tile& block, const Outputs& out, std::vector<Outgoing>& all) {
    for (Outgoing& tile : all) {
      const std::vector<Reg<u64>> from = places_of(block, out, *out.residual, tile.column_tile);
      for (uint32_t i = 0; i < 4; ++i) {
        b_.predicated(is_own(out, tile, i),
                      [&] { tile.residual[i] = b_.pointer<f32>(from[i % 2], 4).load(tile.row_tile * 16 + i / 2 * 8); });
      }
    }
  }
  void write_tile(const Tile& block, const Outputs& out, const Outgoing& tile, const Sums& sums) {
    const VarVec<f32, 4>& sum = tile.sum ? *tile.sum : sums[tile_index(tile.row_tile, tile.column_tile)];
    const std::vector<Reg<u64>> places = places_of(block, out, out.y, tile.column_tile);
    const Vec<f32, 2> factors = input_.factors(out.first_column).aligned(8).load<2>(8 * tile.column_tile);
    for (uint32_t i = 0; i < 4; ++i) {
      const int at = static_cast<int>(i);
      Reg<f32> product = sum[at] * factors[at % 2];
      Reg<f32> value = out.residual ? product + out.bias[2 * tile.row_tile + i / 2] + tile.residual[i] : product;
      b_.predicated(is_own(out, tile, i),
                    [&] { b_.pointer<f32>(places[i % 2], 4).store(tile.row_tile * 16 + i / 2 * 8, value); });
    }
  }

  // Two matrices meet in shared memory, in the input's place, stage_columns at a time. Neighbouring lanes then have
  // neighbouring rows of 32 / rows_per_warp columns. Warps with the same rows alternate columns.
  void write_staged(const Tile& tile, const Sums& sums) {
    const Destination to = product_.destination();
    const Rows rows = rows_of_warp(product_);
    Shared<f32> own = input_.stage(b_.warp()), of_rows = input_.stage(row_warp());
    // From the thread index: ptxas would keep the lane's quad alive from the start, and spill it.
    Reg<u32> quad = b_.thread() >> 2 & 7;
    Shared<f32> fragment = own + (b_.lane() & 3) * (2 * plan_.stage_column()) + quad;
    Reg<u32> lane_row = (b_.lane() % plan_.rows_per_warp).named("lane_row");
    Reg<u32> row = (rows.first_read + lane_row).named("row"), of_warp = b_.lane() / plan_.rows_per_warp;
    Reg<u32> first = of_warp + b_.warp() / plan_.row_warps() * (kWarpSize / plan_.rows_per_warp);
    b_.for_("begin", 0, tile.count, plan_.stage_columns(), [&](Reg<u32> begin) {
      stage_sums(fragment, begin, 0, sums);
      b_.barrier();
      Reg<u32> end = b_.min(tile.count - begin, plan_.stage_columns());
      b_.for_("column", first, end, columns_at_once() * kStagedAtOnce, [&](Reg<u32> column) {
        write_columns(rows, row, tile, to, begin, column, end, of_rows + (column * plan_.stage_column() + lane_row));
      });
      b_.barrier();
    });
  }
  uint32_t columns_at_once() const { return kWarpSize / plan_.rows_per_warp * 2; }

  // Stages the columns from `begin` on. `begin` equals `first` or a later stage's start, as registers cannot be
  // indexed.
  void stage_sums(const Shared<f32>& fragment, const Reg<u32>& begin, uint32_t first, const Sums& sums) {
    const uint32_t next = first + plan_.stage_columns();
    const auto stage = [&] { stage_tiles(fragment, first / 8, std::min(plan_.columns, next) / 8, sums); };
    if (next >= plan_.columns) return stage();
    b_.if_else(begin == first, stage, [&] { stage_sums(fragment, begin, next, sums); });
  }

  void stage_tiles(const Shared<f32>& fragment, size_t first_tile, size_t end_tile, const Sums& sums) {
    for (size_t r = 0; r < n_row_tiles(); ++r)
      for (size_t c = first_tile; c < end_tile; ++c)
        for (uint32_t i = 0; i < 4; ++i)
          fragment.store(((c - first_tile) * 8 + i % 2) * plan_.stage_column() + r * 16 + i / 2 * 8,
                         sums[tile_index(r, c)][static_cast<int>(i)]);
  }

  // Writes every columns_at_once-th column of a row, from `column` to the stage's `end`. staged: the first matrix's
  // sum.
  void write_columns(const Rows& rows, const Reg<u32>& row, const Tile& tile, const Destination& to,
                     const Reg<u32>& begin, const Reg<u32>& column, const Reg<u32>& end, const Shared<f32>& staged) {
    std::vector<Reg<u64>> places;
    Reg<u32> own_end = b_.select(row >= rows.first, end, 0u), of_block = begin + column;
    const Shared<f32> factors = input_.factors(of_block);
    for (uint32_t i = 0; i < kStagedAtOnce; ++i) {
      const uint32_t after = i * columns_at_once();
      const Pred is_present = column + after < own_end;
      if (i > 0 && !assignments_) {
        places.push_back(b_.mad_wide(product_.rows, after, places[0]));
      } else {
        Reg<u32> of_all =
            assignments_ ? assignments_->load(b_.min(of_block + after, tile.count - 1)) : tile.first + of_block;
        places.push_back(b_.mad_wide(of_all, product_.rows, wide(row)));
      }
      b_.if_(is_present, [&] {
        Reg<f32> factor = factors.load(after);
        const uint32_t other = plan_.row_warps() * plan_.stage_floats();
        const std::vector<Reg<f32>> products{staged.load(after * plan_.stage_column()) * factor,
                                             staged.load(after * plan_.stage_column() + other) * factor};
        write_product(b_, spec_.epilogue, products, to.bias_pairs, row, to.y + places[i]);
      });
    }
  }

  Builder& b_;
  const GemmPlan& plan_;
  const GemmSpec& spec_;
  const LaunchParameters& launch_;
  const ProductOfBlock& product_;
  GemmInput& input_;
  std::optional<Shared<u32>> assignments_;  // [columns], with experts
  std::deque<GemmWeights> weights_;         // addresses must be stable
  Var<f32> zero_;
};

struct Declared {
  LaunchParameters launch;
  ProductOfBlock product;
};

Declared declare_one(Builder& b, const GemmPlan& plan) {
  const GemmSpec& spec = plan.spec;
  std::vector<Global<u8>> matrices = declare_matrices(b, plan.matrices, 0);
  const Global<b32> halves = b.global<b32>("halves");
  const Global<f32> factors = b.global<f32>("factors");
  std::optional<Destination::Addends> addends;
  if (has_addends(spec)) {
    const Reg<u64> bias = b.param<u64>("bias");
    addends.emplace(Destination::Addends{bias, b.param<u64>("residual")});
  }
  std::optional<Global<f32>> bias_pairs;
  if (spec.epilogue == GemvEpilogue::kBiasSwiglu) bias_pairs.emplace(b.global<f32>("bias"));
  std::optional<LaunchParameters::Experts> experts;
  if (spec.experts > 0) {
    const Global<u32> order = b.global<u32>("order");
    experts.emplace(LaunchParameters::Experts{order, b.global<u32>("tiles")});
  }
  std::optional<Global<u8>> scratch;
  if (spec.split_k > 1) scratch.emplace(b.global<u8>("scratch"));
  const Global<f32> y = b.global<f32>("y");
  const Reg<u32> rows = b.param<u32>("rows"), k = b.param<u32>("k");
  const BlockRows of_block{rows, b.block(Axis::kY)};
  std::optional<Reg<u32>> n_columns;
  if (spec.experts == 0) n_columns.emplace(b.param<u32>("n_columns"));
  const auto destination = [=] { return Destination{of_block, addends, y, bias_pairs}; };
  return {{halves, factors, experts, scratch, k, n_columns}, {of_block, std::move(matrices), destination, {}}};
}

// With several products, selects the one whose rows the block has.
Declared declare_several(Builder& b, const GemmPlan& plan) {
  struct Addresses {
    Reg<u64> weights, bias, residual, y;
  };
  const auto numbered = [](const char* name, uint32_t i) { return name + ("_" + std::to_string(i)); };
  std::vector<Addresses> all;
  for (uint32_t i = 0; i < kMaxGemmProducts; ++i) {
    const Reg<u64> weights = b.address(b.global<u8>(numbered("weights", i))), bias = b.param<u64>(numbered("bias", i));
    const Reg<u64> residual = b.param<u64>(numbered("residual", i));
    all.push_back({weights, bias, residual, b.address(b.global<f32>(numbered("y", i)))});
  }
  const Global<b32> halves = b.global<b32>("halves");
  const Global<f32> factors = b.global<f32>("factors");
  std::optional<Global<u8>> scratch;
  if (plan.spec.split_k > 1) scratch.emplace(b.global<u8>("scratch"));
  std::vector<Reg<u32>> rows_of, format_of;
  for (uint32_t i = 0; i < kMaxGemmProducts; ++i) rows_of.push_back(b.param<u32>(numbered("rows", i)));
  if (plan.formats.size() > 1)
    for (uint32_t i = 0; i < kMaxGemmProducts; ++i) format_of.push_back(b.param<u32>(numbered("format", i)));
  const Reg<u32> k = b.param<u32>("k"), n_columns = b.param<u32>("n_columns");

  Var<u64> weights = b.var("weights", all[0].weights);
  Var<u32> rows = b.var("rows", rows_of[0]), first = b.var("first_block", 0u), before = b.var("blocks_before", 0u);
  Var<u32> which = b.var("which", 0u);
  std::optional<Var<u32>> format;
  if (!format_of.empty()) format.emplace(b.var("format", format_of[0]));
  const auto blocks_of = [&b, rows_per_block = plan.rows_per_block()](const Reg<u32>& n) {
    return (n + (rows_per_block - 1)) / rows_per_block;
  };
  for (uint32_t i = 1; i < kMaxGemmProducts; ++i) {
    before += blocks_of(rows_of[i - 1]);
    Pred is_behind = b.block(Axis::kY) >= before;
    const auto choose = [&](auto& own, const auto& other) { own = b.select(is_behind, other, own); };
    choose(weights, all[i].weights), choose(rows, rows_of[i]), choose(first, before), choose(which, i);
    if (format) choose(*format, format_of[i]);
  }
  const Reg<u32> row_block = (b.block(Axis::kY) - first).named("row_block"), number = which;
  const auto destination = [&b, all, rows_of, number, blocks_of] {
    const auto own = [&](const auto& value_of) {
      auto chosen = b.var("chosen", value_of(0));
      for (uint32_t i = 1; i < kMaxGemmProducts; ++i) chosen = b.select(number == i, value_of(i), chosen);
      return chosen;
    };
    Var<u32> blocks_before = b.var("blocks_before", 0u);
    for (uint32_t i = 1; i < kMaxGemmProducts; ++i)
      blocks_before += b.select(number >= i, blocks_of(rows_of[i - 1]), 0u);
    const Reg<u32> own_rows = own([&](uint32_t i) { return rows_of[i]; });
    const Reg<u64> bias = own([&](uint32_t i) { return all[i].bias; });
    const Reg<u64> residual = own([&](uint32_t i) { return all[i].residual; });
    const Reg<u64> y = own([&](uint32_t i) { return all[i].y; });
    return Destination{{own_rows, b.block(Axis::kY) - blocks_before}, {{bias, residual}}, b.pointer<f32>(y, 4), {}};
  };
  const ProductOfBlock product{{rows, row_block}, {b.pointer<u8>(weights, 16)}, destination, format};
  return {{halves, factors, {}, scratch, k, n_columns}, product};
}

}  // namespace

Kernel gemm(const GemmSpec& spec, Target target) {
  const GemmPlan plan = plan_of(spec);
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(plan.blocks_per_sm(target));
  const Declared declared = spec.formats.empty() ? declare_one(b, plan) : declare_several(b, plan);
  GemmInput input(b, plan);
  GemmWriter(b, plan, declared.launch, declared.product, input).write();
  return b.finish(Launch{gemm_grid(spec, plan.columns), plan.threads()}, gemm_cost(spec, plan.columns));
}

}  // namespace warpchat
