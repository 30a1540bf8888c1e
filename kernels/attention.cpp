// The cache is read in pieces of 8 values, 16 bytes a lane, or 8 of codes; the lanes of a key are neighbours, so a warp
// reads whole keys side by side, a round of them from one page. A block computes the scores of all its keys, then their
// weights, then the weighted values, which are summed within a lane, across the keys of a warp and across the warps, in
// this order.
#include "kernels/attention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>

#include "kernels/attention_merge.h"
#include "kernels/attention_plan.h"
#include "kernels/bodies.h"
#include "kernels/columns.h"
#include "kernels/error_word.h"
#include "kernels/kv_rows.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kWarps = AttentionPlan::kWarps, kThreads = kWarps * kWarpSize;
constexpr uint32_t kPiece = AttentionPlan::kPiece;
constexpr uint32_t kHeadsAtOnce = AttentionPlan::kHeadsAtOnce;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

using Query = Vec<f32, kPiece>;

// A piece as it is in memory: halves, or codes and their scale.
struct Piece {
  std::vector<Reg<u32>> words;
  std::optional<Reg<ptx::f16>> scale;
};

// What it stands for, times the scale where there is one.
struct Numbers {
  std::vector<Reg<f32>> values;
  std::optional<Reg<f32>> scale;
  Reg<f32> scaled(const Reg<f32>& x) const { return scale ? x * *scale : x; }
};

// The keys of one block: those of a split, of one column and KV head. Lanes beyond a key's last piece read that piece
// again and count as zero; rows beyond the last key read that key again and weigh nothing.
class Stretch {
 public:
  // q: [group, head_dim]; pages: the table from the first key's on; keys, values: of the KV head in page 0; n_keys at
  // least 1.
  Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Global<f32>& q,
          const Global<u32>& pages, const KvRows& keys, const KvRows& values, const Reg<u32>& n_keys);

  // For some heads of the group, at most kHeadsAtOnce; their results go to `merge`.
  void attend(uint32_t first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split);

 private:
  Query load_query(uint32_t head);
  Piece load_piece(const KvRows& rows, const Reg<u32>& key);
  std::vector<Piece> load_ahead(const KvRows& rows, const Reg<u32>& row);
  Reg<u32> key_of(const Reg<u32>& row, uint32_t ahead) { return row + (own_key_ + ahead * plan_.block_keys); }
  Numbers widened(const Piece& piece);
  Reg<f32> dot(const Query& query, const Numbers& key);
  void score(uint32_t first_head, uint32_t heads, uint32_t width);
  void weigh(uint32_t width);
  std::vector<Reg<f32>> weights_of(const Reg<u32>& key, uint32_t width);
  void sum_values(uint32_t heads, uint32_t width);
  Reg<f32> highest(const Reg<u32>& head);
  SoftmaxState state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim);

  Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  const uint32_t loads_ahead_;  // of a lane in flight; sums do not depend on it: what is beyond the last key adds zeros
  const uint32_t rows_ahead_;   // keys that the block loads in one round
  Reg<u32> n_keys_;
  Reg<u32> piece_, own_key_;  // of this lane: which piece of a key, which of the block_keys side by side
  std::optional<Pred> idle_;  // this lane is beyond the last piece, where any is
  Reg<u32> loaded_piece_;
  Reg<u32> page_;  // of the lane's index in the stretch
  Global<f32> q_;
  const KvRows keys_, values_;  // from this lane's piece on
  Shared<f32> tops_, sums_;     // [kWarps, kHeadsAtOnce]: of each warp's keys
  Shared<f32> scores_;          // [keys_per_split, width], where the weights replace them
  Shared<f32> parts_;           // [kWarps, heads, head_dim], in the same place: the weighted values of each warp
};

uint32_t workspace(const AttentionPlan& plan) {
  const uint32_t heads = std::min(plan.group, kHeadsAtOnce);
  return std::max(plan.spec.keys_per_split * std::bit_ceil(heads), kWarps * heads * plan.spec.head_dim);
}

Stretch::Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Global<f32>& q,
                 const Global<u32>& pages, const KvRows& keys, const KvRows& values, const Reg<u32>& n_keys)
    : b_(b),
      plan_(plan),
      block_(block),
      loads_ahead_(plan.loads_ahead(block.is_played())),
      rows_ahead_(plan.block_keys * loads_ahead_),
      n_keys_(n_keys),
      piece_(b.lane() & (plan.key_lanes - 1)),
      own_key_(block.warp() * plan.warp_keys + b.lane() / plan.key_lanes),
      idle_(plan.pieces < plan.key_lanes ? std::optional<Pred>(piece_ >= plan.pieces) : std::nullopt),
      loaded_piece_(idle_ ? b.min(piece_, plan.pieces - 1) : piece_),
      page_(pages.load(b.min(b.lane(), (n_keys - 1) / kPagePositions), kReadOnly).named("page")),
      q_(q + loaded_piece_ * kPiece),
      keys_(keys.from_value(loaded_piece_ * kPiece)),
      values_(values.from_value(loaded_piece_ * kPiece)),
      tops_(block.shared<f32>("tops", kWarps * kHeadsAtOnce)),
      sums_(block.shared<f32>("sums", kWarps * kHeadsAtOnce)),
      scores_(block.shared<f32>("workspace", workspace(plan))),
      parts_(scores_) {}

void Stretch::attend(uint32_t first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split) {
  const uint32_t width = std::bit_ceil(heads);
  if (first_head > 0) block_.barrier();  // the workspace of the heads before has been read
  b_.region("scores", [&] { score(first_head, heads, width); });
  block_.barrier();
  b_.region("weights", [&] { weigh(width); });
  block_.barrier();
  b_.region("values", [&] { sum_values(heads, width); });
  block_.barrier();
  merge.for_items(heads, [&](const Reg<u32>& head, const Reg<u32>& dim) {
    merge.put(split, head + first_head, dim, state(heads, head, dim));
  });
}

// Scaled so that a key's weight is 2 to the power of its score.
Query Stretch::load_query(uint32_t head) {
  const Global<f32> from = q_ + head * plan_.spec.head_dim;
  const float scale = plan_.spec.scale * std::numbers::log2e_v<float>;
  std::vector<Operand> scaled;
  for (uint32_t i = 0; i < kPiece; i += 4) {
    Vec<f32, 4> four = from.load<4>(i, block_.cache(kReadOnly));
    for (int j = 0; j < 4; ++j) {
      Reg<f32> value = four[j] * scale;
      scaled.push_back((idle_ ? b_.select(*idle_, 0.0f, value) : value).operand());
    }
  }
  return {b_.lane().body(), scaled};
}

Piece Stretch::load_piece(const KvRows& rows, const Reg<u32>& key) {
  Piece piece;
  const auto take = [&](const auto& loaded) {
    for (int i = 0; i < loaded.size(); ++i) piece.words.push_back(loaded[i]);
  };
  if (rows.has_codes()) {
    take(rows.codes(key).as<u32>().load<2>(0, block_.cache(kReadOnce)));
    piece.scale.emplace(rows.scales(key).load(0, block_.cache(kReadOnly)));
  } else {
    take(rows.halves(key).as<u32>().load<4>(0, block_.cache(kReadOnce)));
  }
  return piece;
}

// A page holds whole rounds, and a stretch begins with one.
std::vector<Piece> Stretch::load_ahead(const KvRows& rows, const Reg<u32>& row) {
  const KvRows page = rows.in_page(b_.shuffle(page_, row / kPagePositions));
  const auto in_page = [&](const Reg<u32>& n) { return rows_ahead_ < kPagePositions ? row % kPagePositions + n : n; };
  Reg<u32> own = in_page(own_key_), last = in_page(n_keys_ - 1 - row);
  std::vector<Piece> loaded;
  for (uint32_t ahead = 0; ahead < loads_ahead_; ++ahead)
    loaded.push_back(load_piece(page, b_.min(own + ahead * plan_.block_keys, last)));
  return loaded;
}

Numbers Stretch::widened(const Piece& piece) {
  Numbers numbers;
  for (const Reg<u32>& word : piece.words) {
    if (piece.scale) {
      const Vec<f32, 4> codes = codes_as_floats(b_, word);
      for (int i = 0; i < 4; ++i) numbers.values.push_back(codes[i]);
    } else {
      const Vec<f32, 2> pair = b_.widen(word.as<f16x2>());
      for (int i = 0; i < 2; ++i) numbers.values.push_back(pair[i]);
    }
  }
  if (piece.scale) numbers.scale.emplace(b_.convert<f32>(*piece.scale));
  return numbers;
}

Reg<f32> Stretch::dot(const Query& query, const Numbers& key) {
  Var<f32> sum = b_.var("dot", query[0] * key.values[0]);
  for (uint32_t i = 1; i < kPiece; ++i) sum = b_.fma(query[i], key.values[i], sum);
  return key.scaled(sum);
}

// A key's sums scatter over its lanes, `share` of them for a head, so that a lane has the same head throughout.
void Stretch::score(uint32_t first_head, uint32_t heads, uint32_t width) {
  const uint32_t share = plan_.key_lanes / width;
  std::vector<Query> queries;
  b_.region("queries", [&] {
    for (uint32_t i = 0; i < heads; ++i) queries.push_back(load_query(first_head + i));
  });
  Reg<f32> nothing = b_.var("nothing", 0.0f);
  Reg<u32> head = piece_ / share;
  Pred owner = (piece_ & (share - 1)) == 0;
  Var<f32> top = b_.var("top", kMinusInfinity);
  b_.for_("row", 0, n_keys_, rows_ahead_, [&](Reg<u32> row) {
    const std::vector<Piece> keys = load_ahead(keys_, row);
    for (uint32_t ahead = 0; ahead < loads_ahead_; ++ahead) {
      const Numbers piece = widened(keys[ahead]);
      std::vector<Reg<f32>> dots;
      for (const Query& query : queries) dots.push_back(dot(query, piece));
      while (dots.size() < width) dots.push_back(nothing);
      Reg<u32> key = key_of(row, ahead);
      Reg<f32> score = b_.select(key < n_keys_, scattered_sums(b_, dots, plan_.key_lanes), kMinusInfinity);
      top = b_.max(top, score);
      b_.if_(owner, [&] { scores_.store(key * width + head, score); });
    }
  });
  Reg<f32> top_of_warp = strided_max(b_, top, plan_.key_lanes);
  b_.if_(owner && b_.lane() < plan_.key_lanes, [&] { tops_.store(block_.warp() * kHeadsAtOnce + head, top_of_warp); });
}

Reg<f32> Stretch::highest(const Reg<u32>& head) {
  Var<f32> top = b_.var("top", tops_.load(head));
  for (uint32_t warp = 1; warp < kWarps; ++warp) top = b_.max(top, tops_.load(head + warp * kHeadsAtOnce));
  return top;
}

// A thread keeps to one head. Rows that score filled beyond the last key become zeros.
void Stretch::weigh(uint32_t width) {
  Reg<u32> head = block_.thread() & (width - 1);
  Reg<f32> top = highest(head);
  Var<f32> sum = b_.var("sum", 0.0f);
  Reg<u32> filled = (n_keys_ + (rows_ahead_ - 1)) / rows_ahead_ * rows_ahead_;
  b_.for_("cell", block_.thread(), filled * width, kThreads, [&](Reg<u32> cell) {
    Reg<f32> weight = b_.ex2(scores_.load(cell) - top);
    scores_.store(cell, weight);
    sum += weight;
  });
  Reg<f32> sum_of_warp = strided_sum(b_, sum, width);
  b_.if_(b_.lane() < width, [&] { sums_.store(block_.warp() * kHeadsAtOnce + head, sum_of_warp); });
}

std::vector<Reg<f32>> Stretch::weights_of(const Reg<u32>& key, uint32_t width) {
  std::vector<Reg<f32>> weights;
  const auto take = [&](const auto& loaded) {
    for (int i = 0; i < loaded.size(); ++i) weights.push_back(loaded[i]);
  };
  const Shared<f32> row = scores_ + key * width;
  if (width == 1) weights.push_back(row.load());
  if (width == 2) take(row.load<2>());
  for (uint32_t i = 0; i + 4 <= width; i += 4) take(row.load<4>(i));
  return weights;
}

void Stretch::sum_values(uint32_t heads, uint32_t width) {
  std::vector<VarVec<f32, kPiece>> sums;
  for (uint32_t head = 0; head < heads; ++head) sums.push_back(b_.vars<f32, kPiece>("value", 0.0f));
  b_.for_("row", 0, n_keys_, rows_ahead_, [&](Reg<u32> row) {
    const std::vector<Piece> values = load_ahead(values_, row);
    for (uint32_t ahead = 0; ahead < loads_ahead_; ++ahead) {
      const std::vector<Reg<f32>> weights = weights_of(key_of(row, ahead), width);
      const Numbers piece = widened(values[ahead]);
      for (uint32_t head = 0; head < heads; ++head) {
        Reg<f32> weight = piece.scaled(weights[head]);
        for (uint32_t i = 0; i < kPiece; ++i) sums[head][i] = b_.fma(weight, piece.values[i], sums[head][i]);
      }
    }
  });
  for (VarVec<f32, kPiece>& head : sums) {
    for (uint32_t i = 0; i < kPiece; ++i) head[i] = strided_sum(b_, head[i], plan_.key_lanes);
  }
  block_.barrier();  // all weights have been read: the parts may replace them
  b_.if_(b_.lane() < plan_.pieces, [&] {
    for (uint32_t head = 0; head < heads; ++head) {
      const Shared<f32> to = parts_ + ((block_.warp() * heads + head) * plan_.spec.head_dim + piece_ * kPiece);
      for (uint32_t i = 0; i < kPiece; i += 4) {
        to.store(i, {sums[head][i], sums[head][i + 1], sums[head][i + 2], sums[head][i + 3]});
      }
    }
  });
}

SoftmaxState Stretch::state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim) {
  const Shared<f32> parts = parts_ + (head * plan_.spec.head_dim + dim);
  Var<f32> sum = b_.var("sum", sums_.load(head));
  VarVec<f32, 4> values = b_.vars<f32, 4>("value", 0.0f);
  values = parts.load<4>();
  for (uint32_t warp = 1; warp < kWarps; ++warp) {
    sum += sums_.load(head + warp * kHeadsAtOnce);
    Vec<f32, 4> part = parts.load<4>(warp * heads * plan_.spec.head_dim);
    for (int i = 0; i < 4; ++i) values[i] += part[i];
  }
  return {highest(head), sum,
          Vec<f32, 4>(Reg<f32>(values[0]), Reg<f32>(values[1]), Reg<f32>(values[2]), Reg<f32>(values[3]))};
}

// The keys that column may attend to, as far as the cache and the grid reach; ends the threads of a column that asks
// for more, one of which sets the error word.
Reg<u32> checked_length(Builder& b, const AttentionSpec& s, const AttentionAddresses& at, const VirtualBlock& block,
                        const Reg<u32>& column) {
  Reg<u32> given = block.load_uniform(at.lengths, column);
  const uint32_t splits = ceil_div(s.max_positions, s.keys_per_split);
  Reg<u32> covered = b.min(b.min(block.blocks(), splits) * s.keys_per_split, s.max_positions);
  Pred outside = s.lengths_are_positions ? given >= covered : given > covered;
  b.if_(outside, [&] {
    b.if_((block.block() | block.block(Axis::kY) | block.thread()) == 0, [&] {
      const auto code = s.lengths_are_positions ? KernelError::kPositionOutOfRange : KernelError::kLengthOutOfRange;
      report_error(b, at.error, code, given, covered, column);
    });
    b.return_();
  });
  return (given + (s.lengths_are_positions ? 1 : 0)).named("length");
}

}  // namespace

uint32_t attention_warps() { return kWarps; }

void attention_body(Builder& b, const AttentionSpec& spec, const AttentionAddresses& at, const VirtualBlock& block) {
  const AttentionPlan plan(spec);
  const AttentionSpec& s = plan.spec;
  const uint64_t group_width = uint64_t{plan.group} * s.head_dim;
  Reg<u32> split = block.block().named("split"), kv_head = block.block(Axis::kY).named("kv_head");
  Reg<u32> column = block.block(Axis::kZ).named("column");
  leave_beyond_columns(b, at.n_columns, column);
  const Global<u32> table = page_table(b, at.page_tables, s.one_sequence ? Index(0) : Index(column));
  Reg<u32> length = checked_length(b, s, at, block, column);

  Reg<u32> kv_cell = (column * s.n_kv_heads + kv_head).named("kv_cell");
  Reg<u32> n_splits = (length + (s.keys_per_split - 1)) / s.keys_per_split;
  Reg<u64> of_group = wide(kv_cell) * group_width;
  std::optional<Global<f32>> gate;
  if (at.gate) gate.emplace(*at.gate + of_group);
  SplitMerge merge(b, plan, block, at.scratch, at.out + of_group, gate, kv_cell, n_splits);
  b.if_((length | split) == 0, [&] { merge.put_zeros(); });
  b.return_if(split >= n_splits);

  Reg<u32> first_key = split * s.keys_per_split;
  const KvRows keys(b, {s.k_type, s.n_kv_heads, s.head_dim}, at.k_pages, kv_head);
  const KvRows values(b, {s.v_type, s.n_kv_heads, s.head_dim}, at.v_pages, kv_head);
  Stretch stretch(b, plan, block, at.q + wide(kv_cell) * group_width, table + first_key / kPagePositions, keys, values,
                  b.min(length - first_key, s.keys_per_split));
  for (uint32_t head = 0; head < plan.group; head += kHeadsAtOnce) {
    stretch.attend(head, std::min(kHeadsAtOnce, plan.group - head), merge, split);
  }
  merge.finish(split);
}

Kernel attention_kernel(const AttentionSpec& s, Target target, const BodyOf<AttentionAddresses>& body) {
  const AttentionPlan plan(s);
  const uint64_t q_width = uint64_t{s.n_heads} * s.head_dim;
  Builder b(plan.name(), target);
  // Seven blocks are 72 registers a thread; for few heads ptxas would go down to 40 there, and spill.
  if (runs(target, sm_100) && plan.group <= 2) b.min_blocks_per_sm(7);
  Global<f32> q = b.global<f32>("q", s.columns * q_width);
  Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
  Global<u64> page_tables = b.global<u64>("page_tables", s.one_sequence ? 1 : s.columns);
  Global<u32> lengths = b.global<u32>("lengths", s.columns);
  Global<f32> out = b.global<f32>("out", s.columns * q_width);
  std::optional<Global<f32>> gate;
  if (s.gated) gate.emplace(b.global<f32>("gate", s.columns * q_width));
  Global<u8> scratch = b.global<u8>("scratch", plan.scratch_bytes);
  Global<u32> error = b.global<u32>("error", kErrorWords);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  body(b, {q, k_pages, v_pages, page_tables, lengths, out, scratch, error, n_columns, gate}, VirtualBlock(b));
  return b.finish(Launch{attention_grid(s, s.max_positions), kThreads},
                  attention_cost(s, uint64_t{s.columns} * s.max_positions));
}

Kernel incremental_attention(const AttentionSpec& spec, Target target) {
  return attention_kernel(spec, target, [&](Builder& b, const AttentionAddresses& at, const VirtualBlock& block) {
    attention_body(b, spec, at, block);
  });
}

}  // namespace warpchat
