// A block takes 64 rows, 16 per warp, and walks the keys in tiles copied to shared memory. A tile's values load while
// its scores are computed, the next keys while the values are accumulated. In mma's layout a lane has rows lane / 4 and
// lane / 4 + 8, and columns 2 (lane % 4) and the next of every 8. The four lanes of a row hold identical softmax
// states. The scores' layout equals that of mma's first operand, so weights need no shuffle.
#include "kernels/attention/flash_attention.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "kernels/attention/flash_attention_plan.h"
#include "kernels/attention/flash_tile.h"
#include "kernels/common/error_word.h"
#include "kernels/common/half_range.h"
#include "kernels/common/product_of_16.h"
#include "kernels/common/sigmoid.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr float kTopWeight = 14;  // log2 of a row's largest weight: small weights keep most bits in f16

using Fragment = Vec<f16x2, 4>;  // 16 rows, 16 of k: (row, first 8 of k), (row + 8, first 8), (row, last 8), ...
using Tile = VarVec<f32, 4>;     // 16 rows, 8 columns: two columns of row, two of row + 8
using Tiles = std::vector<Tile>;

class FlashAttentionWriter {
 public:
  FlashAttentionWriter(Builder& b, const FlashAttentionPlan& plan)
      : b_(b),
        plan_(plan),
        spec_(plan.spec),
        parameters_(b, plan),
        table_(page_table(b, parameters_.page_tables, 0)),
        kv_head_(b.block(Axis::kY).named("kv_head")),
        pair_(((b.lane() & 3) * 2).named("pair")) {
    if (!plan.queries_in_shared) return;
    Reg<u32> of_lane = (b.warp() * (2 * plan.dim_steps() * kWarpSize) + b.lane()) * 4;
    own_queries_.emplace(shared<b32>("queries", plan.query_words()) + of_lane);
  }

  void write() {
    Reg<u32> position = checked_position().named("position");
    Reg<u32> n_keys = position + parameters_.n_queries;
    Reg<u32> n_rows = (parameters_.n_queries * plan_.group).named("n_rows");
    Reg<u32> n_tiles = (n_rows + (plan_.rows() - 1)) / plan_.rows();
    std::optional<FlashStage> stage;
    if (const uint32_t n = plan_.staged_pieces(); n > 0) {
      const uint32_t n_scales = plan_.staged_scales();
      stage.emplace(FlashStage{shared<u32>(n_scales > 0 ? "staged_codes" : "staged_floats", n * 4), {}});
      if (n_scales > 0) stage->scales.emplace(shared<ptx::f16>("staged_scales", n_scales * 2));
    }
    const FlashTile keys =
        tile_of("keys", parameters_.k_pages, spec_.k_type, stage, has_key_scales(), plan_.key_planes());
    const FlashTile values = tile_of("values", parameters_.v_pages, spec_.v_type, stage, false, 1);
    b_.for_("tile", b_.block(), n_tiles, b_.blocks(), [&](Reg<u32> tile) {
      Reg<u32> first_row = (n_tiles - 1 - tile) * plan_.rows();  // longest rows first
      attend(rows_of(first_row, n_rows, position, n_keys), keys, values);
    });
  }

 private:
  struct Parameters {
    Global<f32> q;
    Global<u8> k_pages, v_pages;
    Global<u64> page_tables;
    Global<u32> positions;
    Global<f32> out;
    std::optional<Global<f32>> gate;
    Global<u32> error;
    Reg<u32> n_queries;

    Parameters(Builder& b, const FlashAttentionPlan& plan)
        : q(b.global<f32>("q")),
          k_pages(b.global<u8>("k_pages")),
          v_pages(b.global<u8>("v_pages")),
          page_tables(b.global<u64>("page_tables", 1)),
          positions(b.global<u32>("positions", 1)),
          out(b.global<f32>("out")),
          gate(plan.spec.gated ? std::optional(b.global<f32>("gate")) : std::nullopt),
          error(b.global<u32>("error", kErrorWords)),
          n_queries(b.param<u32>("n_queries")) {}
  };

  // A lane's two rows. Beyond the end, all fields except `row` repeat the last row.
  struct Row {
    Reg<u32> row;
    Reg<u64> offset;  // in q, out and gate: the lane's first pair of dimensions
    Reg<u32> n_keys;  // keys that it attends to
  };
  struct Rows {
    std::vector<Row> lane;
    Reg<u32> n_rows;
    Reg<u32> min_keys;  // minimum over the warp's rows
    Reg<u32> max_keys;  // maximum over the block's rows
  };

  // [dim_steps] in registers, or in shared memory that only the lane itself reads.
  struct Queries {
    std::vector<Fragment> high, low;
    std::vector<Reg<f32>> factors;  // per row: factor from product to score, in powers of two
  };

  template <class T>
  Shared<T> shared(const std::string& name, uint64_t n) {
    return plan_.shared_bytes() > kMaxStaticSharedBytes ? b_.dynamic_shared<T>(name, n) : b_.shared<T>(name, n);
  }

  // Exits all threads if a query's position is beyond the cache.
  Reg<u32> checked_position() {
    Reg<u32> given = parameters_.positions.load(0, kReadOnly);
    Reg<u32> room = spec_.max_positions - b_.min(given, spec_.max_positions);
    b_.if_(parameters_.n_queries > room, [&] {
      b_.if_((b_.block() | b_.block(Axis::kY) | b_.thread()) == 0, [&] {
        report_error(b_, parameters_.error, KernelError::kPositionOutOfRange, given + room, spec_.max_positions, room);
      });
      b_.return_();
    });
    return given;
  }

  Reg<u32> keys_of(const Reg<u32>& query, const Reg<u32>& position, const Reg<u32>& n_keys) {
    return spec_.causal ? position + query + 1 : n_keys;
  }

  Rows rows_of(const Reg<u32>& first_row, const Reg<u32>& n_rows, const Reg<u32>& position, const Reg<u32>& n_keys) {
    const auto query_of = [&](const Reg<u32>& row) { return b_.min(row, n_rows - 1) / plan_.group; };
    Reg<u32> warp_row = first_row + b_.warp() * FlashAttentionPlan::kWarpRows;
    Rows rows{{},
              n_rows,
              keys_of(query_of(warp_row), position, n_keys).named("least_keys"),
              keys_of(query_of(first_row + (plan_.rows() - 1)), position, n_keys).named("most_keys")};
    for (uint32_t i = 0; i < 2; ++i) {
      Reg<u32> row = (warp_row + (b_.lane() >> 2) + i * 8).named("row");
      Reg<u32> query = query_of(row);
      Reg<u32> head = kv_head_ * plan_.group + (b_.min(row, n_rows - 1) - query * plan_.group);
      Reg<u64> offset = b_.mad_wide(query, spec_.n_heads * spec_.head_dim, wide(head * spec_.head_dim + pair_));
      rows.lane.push_back({row, offset, keys_of(query, position, n_keys)});
    }
    return rows;
  }

  bool has_key_scales() const { return spec_.k_type == KvType::kQ8_0; }

  FlashTile tile_of(const std::string& name, const Global<u8>& pages, KvType type,
                    const std::optional<FlashStage>& stage, bool has_scales, uint32_t planes) {
    const Shared<ptx::f16> halves = shared<ptx::f16>(name, planes * plan_.tile_halves());
    std::optional<Shared<ptx::f16>> low;
    if (planes > 1) low.emplace(halves + static_cast<uint32_t>(plan_.tile_halves()));
    std::optional<Shared<f32>> scales;
    if (has_scales) scales.emplace(shared<f32>("key_scales", plan_.key_scales()));
    const KvRows rows(b_, plan_.cache(type), pages, kv_head_);
    return {b_, plan_, rows, halves, low, plan_.stages(type) ? stage : std::nullopt, scales};
  }

  void attend(const Rows& rows, const FlashTile& keys, const FlashTile& values) {
    const Reg<u32>& end = rows.max_keys;
    Var<u32> page = b_.var("page", table_.load(0, kReadOnly));
    const auto begin_keys = [&] { keys.begin(page, b_.var("first_key", 0u), end); };
    if (own_queries_) begin_keys();
    const Queries queries = load_queries(rows, keys, values);
    if (!own_queries_) begin_keys();
    Tiles sums = new_tiles(spec_.head_dim / 8 + 1);  // the last tile sums the weights
    VarVec<f32, 2> tops = b_.vars<f32, 2>("top", kMasked);
    b_.for_("first_key", 0, end, plan_.keys, [&](Reg<u32> first_key) {
      Reg<u32> next_key = first_key + plan_.keys;
      Reg<u32> next_page = table_.load(b_.min(next_key, end - 1) / kPagePositions, kReadOnly);
      keys.finish();
      b_.barrier();  // these keys have arrived, and the previous values are no longer needed
      values.begin(page, first_key, end);
      Tiles scores = new_tiles(plan_.keys / 8);
      b_.region("scores", [&] {
        keys.has_scales() ? add_scaled_scores(queries, keys, scores) : add_scores(queries, keys, scores);
      });
      values.finish();
      b_.barrier();  // these values have arrived, and the keys are no longer needed
      b_.if_(next_key < end, [&] { keys.begin(next_page, next_key, end); });
      page = next_page;
      b_.region("softmax", [&] {
        mask(rows, first_key, scores);
        weigh(queries.factors, scores, tops, sums);
      });
      b_.region("values", [&] { add_values(scores, values, sums); });
    });
    b_.region("write", [&] { write_rows(rows, sums); });
  }

  Tiles new_tiles(uint32_t n) {
    Tiles tiles;
    for (uint32_t i = 0; i < n; ++i) tiles.push_back(b_.vars<f32, 4>("tile", 0.0f));
    return tiles;
  }

  // Builds the queries' fragments in a loop through shared memory, where each lane reads back its own: in their final
  // place, or temporarily in that of keys and values.
  Queries load_queries(const Rows& rows, const FlashTile& keys, const FlashTile& values) {
    Queries queries;
    b_.region("queries", [&] {
      std::vector<Reg<f32>> scales;
      for (const Row& row : rows.lane) find_scale(row, scales, queries.factors);
      const auto place_in = [&](const FlashTile& tile) { return tile.halves().as<b32>() + b_.thread() * 4; };
      const uint32_t step_words = (own_queries_ ? kWarpSize : plan_.threads()) * 4;
      if (!own_queries_) b_.barrier();  // no thread reads the previous rows' tiles any more
      const Shared<b32> places[] = {own_queries_ ? query_place(0) : place_in(values),
                                    own_queries_ ? query_place(1) : place_in(keys)};
      b_.for_("step", 0, plan_.dim_steps(), 1, [&](Reg<u32> step) {
        const Split split = split_queries(rows, step, scales);
        for (uint32_t plane : {0, 1}) (places[plane] + step * step_words).store(0, split[plane].as<b32>());
      });
      if (own_queries_) return;
      for (uint32_t step = 0; step < plan_.dim_steps(); ++step) {
        queries.high.push_back(places[0].load<4>(step * step_words).as<f16x2>());
        queries.low.push_back(places[1].load<4>(step * step_words).as<f16x2>());
      }
      b_.barrier();  // all have loaded theirs; keys may overwrite them
    });
    return queries;
  }

  // `scale` brings a row's elements into f16 range; `factor` converts its scores back.
  void find_scale(const Row& row, std::vector<Reg<f32>>& scales, std::vector<Reg<f32>>& factors) {
    Var<u32> max = b_.var("max", 0u);
    b_.for_("dim", 0, spec_.head_dim, 8, [&](Reg<u32> dim) {
      const Vec<f32, 2> elements = load_elements(row, dim);
      for (int i = 0; i < 2; ++i) max = b_.max(max, elements[i].as<u32>() & 0x7fffffffu);
    });
    for (uint32_t distance : {1u, 2u}) max = b_.max(max, b_.shuffle_xor(max, distance));
    Reg<u32> exponent = b_.max(max >> 23, kMinExponent);
    scales.push_back(power_of_two(127 + 127 + kTopExponent - exponent).named("scale"));
    factors.push_back(power_of_two(exponent - kTopExponent).named("factor"));
  }

  // Two elements of a row of q, in units of the exponent.
  Vec<f32, 2> load_elements(const Row& row, const Reg<u32>& dim) {
    const Vec<f32, 2> loaded = (parameters_.q + row.offset + dim).load<2>(0, kReadOnly);
    constexpr float kLog2E = std::numbers::log2e_v<float>;
    return {loaded[0] * (spec_.scale * kLog2E), loaded[1] * (spec_.scale * kLog2E)};
  }

  // High and low f16 fragments.
  using Split = std::array<Fragment, 2>;
  Split split_queries(const Rows& rows, const Reg<u32>& step, const std::vector<Reg<f32>>& scales) {
    std::vector<Reg<f16x2>> high, low;
    for (uint32_t part : {0, 8}) {
      for (size_t r = 0; r < 2; ++r) {
        const Vec<f32, 2> elements = load_elements(rows.lane[r], step * 16 + part);
        Reg<f32> first = elements[0] * scales[r], second = elements[1] * scales[r];
        high.push_back(b_.convert_pair<f16x2>(first, second));
        const Vec<f32, 2> rounded = b_.widen(high.back());
        low.push_back(b_.convert_pair<f16x2>(first - rounded[0], second - rounded[1]));
      }
    }
    return {Fragment(high[0], high[1], high[2], high[3]), Fragment(low[0], low[1], low[2], low[3])};
  }

  Shared<b32> query_place(uint32_t plane) { return *own_queries_ + plane * plan_.dim_steps() * kWarpSize * 4; }

  Fragment query(const Queries& queries, uint32_t plane, uint32_t step) {
    if (own_queries_) return query_place(plane).load<4>(step * kWarpSize * 4).as<f16x2>();
    return (plane == 0 ? queries.high : queries.low)[step];
  }

  void multiply(const Fragment& a, const Vec<f16x2, 2>& b, Tile& sum) { sum = product_of_16(b_, a, b, sum); }

  void add_scores(const Queries& queries, const FlashTile& keys, Tiles& scores) {
    Reg<u32> key = (b_.lane() & 7) + (b_.lane() >> 4) * 8, dim = (b_.lane() >> 3 & 1) * 8;
    const Shared<ptx::f16> own = keys.halves() + (key * plan_.key_stride() + dim);
    for (uint32_t step = 0; step < plan_.dim_steps(); ++step) {
      const Fragment high = query(queries, 0, step), low = query(queries, 1, step);
      for (uint32_t tile = 0; tile < scores.size(); tile += 2) {
        const uint32_t offset = tile * 8 * plan_.key_stride() + step * 16;
        const Vec<f16x2, 4> pair = b_.ldmatrix<4>(own + offset);
        if (keys.low()) {  // low parts of the keys times high parts of the queries
          const Vec<f16x2, 4> left = b_.ldmatrix<4>(own + (static_cast<uint32_t>(plan_.tile_halves()) + offset));
          for (uint32_t i = 0; i < 2; ++i) multiply(high, left.slice<2>(2 * i), scores[tile + i]);
        }
        for (uint32_t i = 0; i < 2; ++i) {
          multiply(low, pair.slice<2>(2 * i), scores[tile + i]);
          multiply(high, pair.slice<2>(2 * i), scores[tile + i]);
        }
      }
    }
  }

  // Products of bare codes times the keys' scales, one group (two steps, or the remaining one) at a time. Each group's
  // sums start at zero times the scores: ptxas cannot fold that, so few groups stay in registers at once.
  void add_scaled_scores(const Queries& queries, const FlashTile& keys, Tiles& scores) {
    constexpr uint32_t kSteps = KvLayout::kGroup / 16;
    const Shared<ptx::f16> own = keys.halves() + ((b_.lane() & 7) * plan_.key_stride() + (b_.lane() >> 3) * 8);
    for (uint32_t step = 0; step < plan_.dim_steps(); step += kSteps) {
      const Shared<f32> scales = keys.scales() + (pair_ + step / kSteps * plan_.keys);
      std::vector<Fragment> high, low;
      for (uint32_t i = step; i < std::min(step + kSteps, plan_.dim_steps()); ++i)
        high.push_back(query(queries, 0, i)), low.push_back(query(queries, 1, i));
      for (uint32_t tile = 0; tile < scores.size(); ++tile) {
        Tile& score = scores[tile];
        const Tile& done = scores[(tile + scores.size() - 2) % scores.size()];
        const Vec<f32, 4> zeros(done[0] * 0.0f, done[1] * 0.0f, done[2] * 0.0f, done[3] * 0.0f);
        const Shared<ptx::f16> from = own + (tile * 8 * plan_.key_stride() + step * 16);
        const Vec<f32, 4> sum = high.size() == kSteps ? products(low, high, b_.ldmatrix<4>(from), zeros)
                                                      : products(low, high, b_.ldmatrix<2>(from), zeros);
        const Vec<f32, 2> scale = scales.load<2>(tile * 8);
        for (int i = 0; i < 4; ++i) score[i] = b_.fma(sum[i], scale[i & 1], score[i]);
      }
    }
  }

  // Both planes, step by step; two registers of `b` per step.
  template <int N>
  Vec<f32, 4> products(const std::vector<Fragment>& low, const std::vector<Fragment>& high, const Vec<f16x2, N>& b,
                       Vec<f32, 4> sum, int step = 0) {
    const Vec<f32, 4> with_low = product_of_16(b_, low[step], b.template slice<2>(2 * step), sum);
    const Vec<f32, 4> with_both = product_of_16(b_, high[step], b.template slice<2>(2 * step), with_low);
    return 2 * (step + 1) == N ? with_both : products(low, high, b, with_both, step + 1);
  }

  void mask(const Rows& rows, const Reg<u32>& first_key, Tiles& scores) {
    b_.if_(first_key + plan_.keys > rows.min_keys, [&] {
      for (int r = 0; r < 2; ++r) {
        Reg<s32> n_keys = (rows.lane[r].n_keys - (first_key + pair_)).as<s32>();
        for (uint32_t tile = 0; tile < scores.size(); ++tile) {
          for (int i = 0; i < 2; ++i) {
            Var<f32>& score = scores[tile][2 * r + i];
            score = b_.select(n_keys > static_cast<int>(tile * 8) + i, score, kMasked);
          }
        }
      }
    });
  }

  // Turns scores into weights relative to the running maximum, and rescales the sums.
  void weigh(const std::vector<Reg<f32>>& factors, Tiles& scores, VarVec<f32, 2>& tops, Tiles& sums) {
    for (int r = 0; r < 2; ++r) {
      Var<f32> top = b_.var("top", b_.max(scores[0][2 * r], scores[0][2 * r + 1]));
      for (size_t tile = 1; tile < scores.size(); ++tile)
        top = b_.max(top, b_.max(scores[tile][2 * r], scores[tile][2 * r + 1]));
      for (uint32_t distance : {1u, 2u}) top = b_.max(top, b_.shuffle_xor(top, distance));
      top = b_.max(top, tops[r]);
      Reg<f32> correction = b_.ex2((tops[r] - top) * factors[r]);
      Reg<f32> shift = kTopWeight - top * factors[r];
      tops[r] = top;
      for (Tile& sum : sums) {
        for (int i = 2 * r; i < 2 * r + 2; ++i) sum[i] *= correction;
      }
      for (Tile& score : scores) {
        for (int i = 2 * r; i < 2 * r + 2; ++i) score[i] = b_.ex2(b_.fma(score[i], factors[r], shift));
      }
    }
  }

  void add_values(const Tiles& weights, const FlashTile& values, Tiles& sums) {
    Reg<u32> key = b_.lane() & 15, dim = (b_.lane() >> 4) * 8;
    const Shared<ptx::f16> own = values.halves() + (key * plan_.key_stride() + dim);
    Reg<f16x2> one = Reg<u32>(b_.var("ones", kOnes)).as<f16x2>();
    const Vec<f16x2, 2> ones(one, one);
    for (uint32_t tile = 0; tile < weights.size(); tile += 2) {
      const auto pair = [&](uint32_t t, int i) { return b_.convert_pair<f16x2>(weights[t][i], weights[t][i + 1]); };
      const Reg<f16x2> first = pair(tile, 0), second = pair(tile, 2), third = pair(tile + 1, 0);
      const Fragment rounded(first, second, third, pair(tile + 1, 2));
      for (uint32_t step = 0; step < plan_.dim_steps(); ++step) {
        const Vec<f16x2, 4> loaded = b_.ldmatrix_transposed<4>(own + (tile * 8 * plan_.key_stride() + step * 16));
        for (uint32_t i = 0; i < 2; ++i) multiply(rounded, loaded.slice<2>(2 * i), sums[2 * step + i]);
      }
      multiply(rounded, ones, sums.back());
    }
  }

  Vec<f32, 2> gated(const Vec<f32, 2>& gate, const Vec<f32, 2>& pair) {
    const Reg<f32> first = switched(b_, pair[0], gate[0]);
    return {first, switched(b_, pair[1], gate[1])};
  }

  void write_rows(const Rows& rows, Tiles& sums) {
    for (int r = 0; r < 2; ++r) {
      Reg<f32> share = b_.rcp(sums.back()[2 * r]);
      b_.if_(rows.lane[r].row < rows.n_rows, [&] {
        const Global<f32> out = parameters_.out + rows.lane[r].offset;
        std::optional<Global<f32>> gate;
        if (parameters_.gate) gate.emplace(*parameters_.gate + rows.lane[r].offset);
        for (uint32_t tile = 0; tile + 1 < sums.size(); ++tile) {
          const Vec<f32, 2> pair(sums[tile][2 * r] * share, sums[tile][2 * r + 1] * share);
          out.store<2>(tile * 8, gate ? gated(gate->load<2>(tile * 8, kReadOnly), pair) : pair);
        }
      });
    }
  }

  Builder& b_;
  const FlashAttentionPlan& plan_;
  const FlashAttentionSpec& spec_;
  Parameters parameters_;
  Global<u32> table_;
  Reg<u32> kv_head_;
  Reg<u32> pair_;                           // first of the lane's two columns in every eight
  std::optional<Shared<b32>> own_queries_;  // [warps, 2, dim_steps, 32, 4], from the lane's first word
};

}  // namespace

Kernel flash_attention(const FlashAttentionSpec& spec, Target target) {
  const FlashAttentionPlan plan(spec, target);
  Builder b(name_of(spec), target);
  b.min_blocks_per_sm(plan.blocks_per_sm);
  FlashAttentionWriter(b, plan).write();
  return b.finish(Launch{flash_attention_grid(spec, spec.max_positions), plan.threads()},
                  flash_attention_cost(spec, spec.max_positions, 0));
}

}  // namespace warpchat
