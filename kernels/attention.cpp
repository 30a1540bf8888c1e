// The cache is read in pieces of 8 values, 16 bytes a lane, or 8 of codes; the lanes of a key are neighbours, so a warp
// reads whole keys side by side. A block computes the scores of all its keys, then their weights, then the weighted
// values, which are summed within a lane, across the keys of a warp and across the warps, in this order.
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
#include "kernels/head_scatter.h"
#include "kernels/kv_rows.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kWarps = AttentionPlan::kWarps, kThreads = kWarps * kWarpSize;
constexpr uint32_t kParts = kWarps / 2;  // of the weighted values: of two warps each
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

// What a block begins with where q, k and v are projections.
class Projections {
 public:
  // page: of the split. is_own: the split of the column's position.
  Projections(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
              const Reg<u32>& column, const Reg<u32>& kv_head, const Reg<u32>& position, const Reg<u32>& page,
              const Pred& is_own);

  // By the whole block: turns `heads` queries of the group from first_head on, and in the own split with the group's
  // first ones its key and value.
  void turn(const Reg<u32>& first_head, uint32_t heads) const;
  const Shared<f32>& queries() const { return queries_; }  // [kHeadsAtOnce or less, head_dim]: those turned last

 private:
  Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  HeadScatter scatter_;
  Reg<u32> kv_head_, turned_;
  Pred is_own_;
  Shared<f32> queries_;
};

// Of the one warp that has the key.
std::optional<Shared<f32>> staging_of(const AttentionPlan& plan, const VirtualBlock& block) {
  if (!HeadScatter::stages(plan.spec.scatters[0])) return {};
  return block.shared<f32>("key", plan.spec.head_dim);
}

Projections::Projections(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
                         const Reg<u32>& column, const Reg<u32>& kv_head, const Reg<u32>& position,
                         const Reg<u32>& page, const Pred& is_own)
    : b_(b),
      plan_(plan),
      block_(block),
      scatter_(b, plan.spec.scatters, at.projections->rope,
               {at.q, at.projections->k, at.projections->v, at.projections->gamma, at.k_pages, at.v_pages,
                at.projections->n_pages, at.error},
               column, position, page, staging_of(plan, block)),
      kv_head_(kv_head),
      turned_(at.projections->turned ? *at.projections->turned : b.var("turned", kNoneTurned)),
      is_own_(is_own),
      queries_(block.shared<f32>("queries", std::min(plan.group, kHeadsAtOnce) * plan.spec.head_dim)) {}

void Projections::turn(const Reg<u32>& first_head, uint32_t heads) const {
  const AttentionSpec& s = plan_.spec;
  const auto turn = [&](const Pred& with_key) {
    Reg<u32> n = b_.select(with_key, In<u32>(heads + 2), In<u32>(heads));
    b_.for_("item", block_.warp(), n, kWarps, [&](Reg<u32> item) {
      Reg<u32> query = kv_head_ * plan_.group + first_head + item;
      Reg<u32> row = (item - heads) * s.n_kv_heads + kv_head_ + s.n_heads;
      scatter_.run(b_.select(item < heads, query, row), queries_ + item * s.head_dim);
    });
    block_.barrier();
  };
  if (!plan_.turns_once()) return turn(is_own_ && first_head == 0);
  b_.if_(is_own_ || turned_ != kv_head_, [&] { b_.region("turn", [&] { turn(is_own_); }); });
}

// The keys of one block: those of a page, of one column and KV head. Lanes beyond a key's last piece read that piece
// again and count as zero; rows beyond the last key read that key again and weigh nothing.
class Stretch {
 public:
  // q: [group, head_dim], where there are no projections; keys, values: of the KV head in the page; n_keys: of the
  // page, at least 1.
  Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Global<f32>& q,
          const std::optional<Projections>& projections, const KvRows& keys, const KvRows& values,
          const Reg<u32>& n_keys);

  // For all heads of the group, kHeadsAtOnce at a time; their results go to `merge`.
  void attend(const SplitMerge& merge, const Reg<u32>& split);

 private:
  void attend(const Reg<u32>& first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split);
  template <Space S>
  Query load_query(const Pointer<f32, S>& from, Cache cache);
  std::vector<Query> load_queries(const Reg<u32>& first_head, uint32_t heads);
  // Rows may be what the block itself has written.
  Cache cache_of_rows(Cache cache) const {
    cache = block_.cache(cache);
    cache.read_only = cache.read_only && !projections_;
    return cache;
  }
  Piece load_piece(const KvRows& rows, const Reg<u32>& key);
  std::vector<Piece> load_ahead(const KvRows& rows, const Reg<u32>& row);
  Reg<u32> key_of(const Reg<u32>& row, uint32_t ahead) { return row + (own_key_ + ahead * plan_.block_keys); }
  // body(key, piece) for each that was loaded from `row` on.
  template <class F>
  void take_turns(const Reg<u32>& row, const std::vector<Piece>& loaded, F&& body);
  Numbers widened(const Piece& piece);
  Reg<f32> dot(const Query& query, const Numbers& key);
  template <class F>
  void for_rounds(F&& body);
  void score(const Reg<u32>& first_head, uint32_t heads, uint32_t width);
  void weigh(uint32_t width);
  std::vector<Reg<f32>> weights_of(const Reg<u32>& key, uint32_t width);
  void sum_values(uint32_t heads, uint32_t width);
  Reg<f32> highest(const Reg<u32>& head);
  SoftmaxState state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim);

  Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  const uint32_t rows_ahead_;  // keys that the block loads in one round
  Reg<u32> n_keys_;
  Reg<u32> piece_, own_key_;  // of this lane: which piece of a key, which of the block_keys side by side
  std::optional<Pred> idle_;  // this lane is beyond the last piece, where any is
  Reg<u32> loaded_piece_;
  Global<f32> q_;  // from this lane's piece on
  const std::optional<Projections>& projections_;
  const KvRows keys_, values_;       // from this lane's piece on
  std::vector<Piece> values_ahead_;  // of the plan's one round, asked for with the keys
  Shared<f32> tops_, sums_;          // [kWarps, kHeadsAtOnce]: of each warp's keys
  Shared<f32> scores_;               // [kPagePositions, width], where the weights replace them
  Shared<f32> parts_;                // [kParts, heads, head_dim], in the same place: the weighted values
};

uint32_t workspace(const AttentionPlan& plan) {
  const uint32_t heads = std::min(plan.group, kHeadsAtOnce);
  return std::max(kPagePositions * std::bit_ceil(heads), kParts * heads * plan.spec.head_dim);
}

Stretch::Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Global<f32>& q,
                 const std::optional<Projections>& projections, const KvRows& keys, const KvRows& values,
                 const Reg<u32>& n_keys)
    : b_(b),
      plan_(plan),
      block_(block),
      rows_ahead_(plan.block_keys * plan.loads_ahead),
      n_keys_(n_keys),
      piece_(b.lane() & (plan.key_lanes - 1)),
      own_key_(block.warp() * plan.warp_keys + b.lane() / plan.key_lanes),
      idle_(plan.pieces < plan.key_lanes ? std::optional<Pred>(piece_ >= plan.pieces) : std::nullopt),
      loaded_piece_(idle_ ? b.min(piece_, plan.pieces - 1) : piece_),
      q_(q + loaded_piece_ * kPiece),
      projections_(projections),
      keys_(keys.from_value(loaded_piece_ * kPiece)),
      values_(values.from_value(loaded_piece_ * kPiece)),
      tops_(block.shared<f32>("tops", kWarps * kHeadsAtOnce)),
      sums_(block.shared<f32>("sums", kWarps * kHeadsAtOnce)),
      scores_(block.shared<f32>("workspace", workspace(plan))),
      parts_(scores_) {}

void Stretch::attend(const SplitMerge& merge, const Reg<u32>& split) {
  const uint32_t whole = plan_.group / kHeadsAtOnce, left = plan_.group % kHeadsAtOnce;
  const auto attend_from = [&](const Reg<u32>& first_head, uint32_t heads) { attend(first_head, heads, merge, split); };
  const auto attend_whole = [&](const Reg<u32>& first_head) {
    attend_from(first_head, kHeadsAtOnce);
    if (plan_.group > kHeadsAtOnce) block_.barrier();  // the workspace has been read
  };
  if (whole == 1) attend_whole(b_.var("first_head", 0u));
  if (whole > 1) b_.for_("first_head", 0, whole * kHeadsAtOnce, kHeadsAtOnce, attend_whole);
  if (left > 0) attend_from(b_.var("first_head", whole * kHeadsAtOnce), left);
}

void Stretch::attend(const Reg<u32>& first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split) {
  const uint32_t width = std::bit_ceil(heads);
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
template <Space S>
Query Stretch::load_query(const Pointer<f32, S>& from, Cache cache) {
  const float scale = plan_.spec.scale * std::numbers::log2e_v<float>;
  std::vector<Operand> scaled;
  for (uint32_t i = 0; i < kPiece; i += 4) {
    Vec<f32, 4> four = from.template load<4>(i, cache);
    for (int j = 0; j < 4; ++j) {
      Reg<f32> value = four[j] * scale;
      scaled.push_back((idle_ ? b_.select(*idle_, 0.0f, value) : value).operand());
    }
  }
  return {b_.lane().body(), scaled};
}

std::vector<Query> Stretch::load_queries(const Reg<u32>& first_head, uint32_t heads) {
  const uint32_t head_dim = plan_.spec.head_dim;
  std::vector<Query> queries;
  const auto load_from = [&](const auto& first, Cache cache) {
    for (uint32_t i = 0; i < heads; ++i) queries.push_back(load_query(first + i * head_dim, cache));
  };
  if (projections_) {
    projections_->turn(first_head, heads);
    load_from(projections_->queries() + loaded_piece_ * kPiece, {});
  } else {
    load_from(q_ + first_head * head_dim, block_.cache(kReadOnly));
  }
  return queries;
}

Piece Stretch::load_piece(const KvRows& rows, const Reg<u32>& key) {
  Piece piece;
  const auto take = [&](const auto& loaded) {
    for (int i = 0; i < loaded.size(); ++i) piece.words.push_back(loaded[i]);
  };
  if (rows.has_codes()) {
    take(rows.codes(key).as<u32>().load<2>(0, cache_of_rows(kReadOnce)));
    piece.scale.emplace(rows.scales(key).load(0, cache_of_rows(kReadOnly)));
  } else {
    take(rows.halves(key).as<u32>().load<4>(0, cache_of_rows(kReadOnce)));
  }
  return piece;
}

std::vector<Piece> Stretch::load_ahead(const KvRows& rows, const Reg<u32>& row) {
  Reg<u32> last = n_keys_ - 1;
  std::vector<Piece> loaded;
  for (uint32_t ahead = 0; ahead < plan_.loads_ahead; ++ahead)
    loaded.push_back(load_piece(rows, b_.min(key_of(row, ahead), last)));
  return loaded;
}

// A loop that runs, so that the text holds the body once: each piece comes to the first place in turn.
template <class F>
void Stretch::take_turns(const Reg<u32>& row, const std::vector<Piece>& loaded, F&& body) {
  Reg<u32> first = row + own_key_;
  if (loaded.size() == 1) return body(first, loaded[0]);
  const size_t n_words = loaded[0].words.size();
  std::vector<Var<u32>> words;  // of each piece
  std::vector<Var<ptx::f16>> scales;
  for (const Piece& piece : loaded) {
    for (const Reg<u32>& word : piece.words) words.push_back(b_.var("word", word));
    if (piece.scale) scales.push_back(b_.var("scale", *piece.scale));
  }
  const auto end = static_cast<uint32_t>(loaded.size()) * plan_.block_keys;
  b_.for_("ahead", 0, end, plan_.block_keys, [&](Reg<u32> ahead) {
    Piece own{{words.begin(), words.begin() + static_cast<ptrdiff_t>(n_words)}, {}};
    if (!scales.empty()) own.scale.emplace(scales[0]);
    body(first + ahead, own);
    for (size_t i = n_words; i < words.size(); ++i) words[i - n_words] = words[i];
    for (size_t i = 1; i < scales.size(); ++i) scales[i - 1] = scales[i];
  });
}

// body(the round's first row)
template <class F>
void Stretch::for_rounds(F&& body) {
  if (plan_.rounds() == 1) return body(b_.var("row", 0u));
  b_.for_("row", 0, n_keys_, rows_ahead_, body);
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
void Stretch::score(const Reg<u32>& first_head, uint32_t heads, uint32_t width) {
  const uint32_t share = plan_.key_lanes / width;
  std::vector<Query> queries;
  b_.region("queries", [&] { queries = load_queries(first_head, heads); });
  Reg<f32> nothing = b_.var("nothing", 0.0f);
  Reg<u32> head = piece_ / share;
  Pred owner = (piece_ & (share - 1)) == 0;
  Var<f32> top = b_.var("top", kMinusInfinity);
  for_rounds([&](const Reg<u32>& row) {
    const std::vector<Piece> keys = load_ahead(keys_, row);
    if (plan_.has_values_ahead()) b_.region("values", [&] { values_ahead_ = load_ahead(values_, row); });
    take_turns(row, keys, [&](const Reg<u32>& key, const Piece& own) {
      const Numbers piece = widened(own);
      std::vector<Reg<f32>> dots;
      for (const Query& query : queries) dots.push_back(dot(query, piece));
      while (dots.size() < width) dots.push_back(nothing);
      Reg<f32> score = b_.select(key < n_keys_, scattered_sums(b_, dots, plan_.key_lanes), kMinusInfinity);
      top = b_.max(top, score);
      b_.if_(owner, [&] { scores_.store(key * width + head, score); });
    });
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
  for_rounds([&](const Reg<u32>& row) {
    const std::vector<Piece> values = plan_.has_values_ahead() ? values_ahead_ : load_ahead(values_, row);
    take_turns(row, values, [&](const Reg<u32>& key, const Piece& own) {
      const std::vector<Reg<f32>> weights = weights_of(key, width);
      const Numbers piece = widened(own);
      for (uint32_t head = 0; head < heads; ++head) {
        Reg<f32> weight = piece.scaled(weights[head]);
        for (uint32_t i = 0; i < kPiece; ++i) sums[head][i] = b_.fma(weight, piece.values[i], sums[head][i]);
      }
    });
  });
  for (VarVec<f32, kPiece>& head : sums) {
    for (uint32_t i = 0; i < kPiece; ++i) head[i] = strided_sum(b_, head[i], plan_.key_lanes);
  }
  // One half of the warps leaves its sums to the other, which adds its own.
  const auto part_of = [&](uint32_t first_warp, uint32_t head) {
    return parts_ + (((block_.warp() - first_warp) * heads + head) * plan_.spec.head_dim + piece_ * kPiece);
  };
  const Pred holds = b_.lane() < plan_.pieces;
  block_.barrier();  // all weights have been read: the parts may replace them
  b_.if_(holds && block_.warp() >= kParts, [&] {
    for (uint32_t head = 0; head < heads; ++head) {
      const Shared<f32> to = part_of(kParts, head);
      for (uint32_t i = 0; i < kPiece; i += 4)
        to.store(i, {sums[head][i], sums[head][i + 1], sums[head][i + 2], sums[head][i + 3]});
    }
  });
  block_.barrier();
  b_.if_(holds && block_.warp() < kParts, [&] {
    for (uint32_t head = 0; head < heads; ++head) {
      const Shared<f32> to = part_of(0, head);
      for (uint32_t i = 0; i < kPiece; i += 4) {
        const Vec<f32, 4> other = to.load<4>(i);
        const auto both = [&](uint32_t j) { return sums[head][i + j] + other[static_cast<int>(j)]; };
        const Reg<f32> first = both(0), second = both(1), third = both(2);
        to.store(i, {first, second, third, both(3)});
      }
    }
  });
}

SoftmaxState Stretch::state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim) {
  const Shared<f32> parts = parts_ + (head * plan_.spec.head_dim + dim);
  Var<f32> sum = b_.var("sum", sums_.load(head));
  VarVec<f32, 4> values = b_.vars<f32, 4>("value", 0.0f);
  values = parts.load<4>();
  for (uint32_t warp = 1; warp < kWarps; ++warp) sum += sums_.load(head + warp * kHeadsAtOnce);
  for (uint32_t part = 1; part < kParts; ++part) {
    const Vec<f32, 4> next = parts.load<4>(part * heads * plan_.spec.head_dim);
    for (int i = 0; i < 4; ++i) values[i] += next[i];
  }
  return {highest(head), sum,
          Vec<f32, 4>(Reg<f32>(values[0]), Reg<f32>(values[1]), Reg<f32>(values[2]), Reg<f32>(values[3]))};
}

// The keys that column may attend to, as far as the cache and the grid reach; ends the threads of a column that asks
// for more, one of which sets the error word.
Reg<u32> checked_length(Builder& b, const AttentionSpec& s, const AttentionAddresses& at, const VirtualBlock& block,
                        const Reg<u32>& column) {
  Reg<u32> given = block.load_uniform(at.lengths, column);
  Reg<u32> covered = b.min(b.min(block.blocks(), pages_of(s.max_positions)) * kPagePositions, s.max_positions);
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
  Reg<u32> n_splits = (length + (kPagePositions - 1)) / kPagePositions;
  Reg<u64> of_group = wide(kv_cell) * group_width;
  std::optional<Global<f32>> gate;
  if (at.gate) gate.emplace(*at.gate + of_group);
  SplitMerge merge(b, plan, block, at.scratch, at.out + of_group, gate, kv_cell, n_splits);
  b.if_((length | split) == 0, [&] { merge.put_zeros(); });
  b.return_if(split >= n_splits);

  Reg<u32> page = table.load(split, kReadOnly).named("page");
  std::optional<Projections> projections;
  if (at.projections) projections.emplace(b, plan, block, at, column, kv_head, length - 1, page, split == n_splits - 1);
  // Where a page beyond the cache has been told of, its rows are others'.
  Reg<u32> read_page = at.projections ? b.min(page, at.projections->n_pages - 1) : page;
  const KvRows keys(b, {s.k_type, s.n_kv_heads, s.head_dim}, at.k_pages, kv_head);
  const KvRows values(b, {s.v_type, s.n_kv_heads, s.head_dim}, at.v_pages, kv_head);
  Stretch stretch(b, plan, block, at.q + wide(kv_cell) * group_width, projections, keys.in_page(read_page),
                  values.in_page(read_page), b.min(length - split * kPagePositions, kPagePositions));
  stretch.attend(merge, split);
  merge.finish(split);
}

Kernel attention_kernel(const AttentionSpec& s, Target target, const BodyOf<AttentionAddresses>& body) {
  const AttentionPlan plan(s);
  const uint64_t q_width = uint64_t{s.n_heads} * s.head_dim;
  Builder b(plan.name(), target);
  b.min_blocks_per_sm(2);
  const uint64_t kv_width = uint64_t{s.n_kv_heads} * s.head_dim;
  Global<f32> q = b.global<f32>("q", s.columns * q_width);
  const auto add = [&](const char* name, uint64_t n) { return b.global<f32>(name, n); };
  std::vector<Global<f32>> rows, gamma;
  if (!s.scatters.empty())
    for (const char* name : {"k", "v"}) rows.push_back(add(name, s.columns * kv_width));
  if (!s.scatters.empty() && s.scatters[0].qk_norm)
    for (const char* name : {"q_gamma", "k_gamma"}) gamma.push_back(add(name, s.head_dim));
  Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
  Global<u64> page_tables = b.global<u64>("page_tables", s.one_sequence ? 1 : s.columns);
  std::optional<ProjectionAddresses> projections;
  if (!s.scatters.empty()) {
    projections.emplace(ProjectionAddresses{rows[0], rows[1], gamma, b.param<u32>("n_pages"), {}, {}});
    if (s.scatters.size() > 1) projections->rope.emplace(b.param<u32>("rope"));
  }
  Global<u32> lengths = b.global<u32>("lengths", s.columns);
  Global<f32> out = b.global<f32>("out", s.columns * q_width);
  std::optional<Global<f32>> gate;
  if (s.gated) gate.emplace(b.global<f32>("gate", s.columns * q_width));
  Global<u8> scratch = b.global<u8>("scratch", plan.scratch_bytes);
  Global<u32> error = b.global<u32>("error", kErrorWords);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  body(b, {q, k_pages, v_pages, page_tables, lengths, out, scratch, error, n_columns, gate, projections},
       VirtualBlock(b));
  return b.finish(Launch{attention_grid(s, s.max_positions), kThreads},
                  attention_cost(s, uint64_t{s.columns} * s.max_positions));
}

Kernel incremental_attention(const AttentionSpec& spec, Target target) {
  return attention_kernel(spec, target, [&](Builder& b, const AttentionAddresses& at, const VirtualBlock& block) {
    attention_body(b, spec, at, block);
  });
}

}  // namespace warpchat
