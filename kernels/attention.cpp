// A block computes the scores of all its keys, a warp eight of them, and then the weighted values, of which a warp has
// sixteen keys and half of the dimensions; both on tensor cores, with fp32 split into two halves each. Sums go over a
// group's dimensions, the groups, the keys of a warp and the warps, in this order.
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
#include "kernels/product_of_16.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kWarps = AttentionPlan::kWarps, kThreads = kWarps * kWarpSize;
constexpr uint32_t kHeadsAtOnce = AttentionPlan::kHeadsAtOnce;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

constexpr uint32_t kKeys = kPagePositions / kWarps;    // that a warp scores
constexpr uint32_t kGroup = AttentionPlan::kGroup;     // of dimensions: a lane's piece of a key times four
constexpr uint32_t kSums = kWarps / 2;                 // of keys, 16 each, whose values two warps weigh
constexpr uint32_t kScoreStride = kPagePositions + 8;  // so that the heads' rows lie in other banks
constexpr int kTopWeight = 6;  // the logarithm of the largest weight, so that halves hold what small ones leave

// The queries of some heads of a group in shared memory, as halves and what they leave.
class Queries {
 public:
  // page: of the split. is_own: the split of the column's position.
  Queries(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
          const Reg<u32>& column, const Reg<u32>& kv_head, const Reg<u32>& position, const Reg<u32>& page,
          const Pred& is_own);

  // By the whole block: `heads` of the group from first_head on, turned where they are projections; with the group's
  // first ones then, in the own split, its key and value go to the cache.
  void fill(const Reg<u32>& first_head, uint32_t heads) const;
  // The halves of a head from a dimension on, and those of what they leave.
  Shared<f16x2> plane(uint32_t which, const Reg<u32>& head, const Reg<u32>& dim) const {
    return (planes_ + (head * stride() + dim + which * plane_size())).as<f16x2>();
  }
  Reg<f32> factor(const Reg<u32>& head) const { return factors_.load(head); }  // that scores need
  bool are_projections() const { return scatter_.has_value(); }

 private:
  uint32_t stride() const { return plan_.groups * kGroup + kGroup; }  // so that two heads lie in other banks
  uint32_t plane_size() const { return std::min(plan_.group, kHeadsAtOnce) * stride(); }
  QueryPlanes planes_of(const Reg<u32>& item) const {
    const Shared<ptx::f16> high = planes_ + item * stride();
    return {high, high + plane_size(), factors_ + item, plan_.spec.scale * std::numbers::log2e_v<float>};
  }

  Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  Global<f32> q_;  // of the column
  std::optional<HeadScatter> scatter_;
  Reg<u32> kv_head_, turned_;
  Pred is_own_;
  Shared<ptx::f16> planes_;
  Shared<f32> factors_;
};

Queries::Queries(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
                 const Reg<u32>& column, const Reg<u32>& kv_head, const Reg<u32>& position, const Reg<u32>& page,
                 const Pred& is_own)
    : b_(b),
      plan_(plan),
      block_(block),
      q_(at.q + wide(column) * (uint64_t{plan.spec.n_heads} * plan.spec.head_dim)),
      kv_head_(kv_head),
      turned_(at.projections && at.projections->turned ? *at.projections->turned : b.var("turned", kNoneTurned)),
      is_own_(is_own),
      planes_(block.shared<ptx::f16>("queries", uint64_t{2} * plane_size())),
      factors_(block.shared<f32>("factors", kHeadsAtOnce)) {
  if (!at.projections) return;
  const ProjectionAddresses& p = *at.projections;
  std::optional<Shared<f32>> staging;  // of the one warp that has the key
  if (HeadScatter::stages(plan.spec.scatters[0])) staging.emplace(block.shared<f32>("key", plan.spec.head_dim));
  const HeadAddresses heads{at.q, p.k, p.v, p.gamma, at.k_pages, at.v_pages, p.n_pages, at.error};
  scatter_.emplace(b, plan.spec.scatters, p.rope, heads, column, position, page, staging);
}

void Queries::fill(const Reg<u32>& first_head, uint32_t heads) const {
  const AttentionSpec& s = plan_.spec;
  const Reg<u32> first = kv_head_ * plan_.group + first_head;
  if (!scatter_) {
    b_.for_("item", block_.warp(), heads, kWarps,
            [&](Reg<u32> item) { split_query(b_, q_ + (first + item) * s.head_dim, s.head_dim, planes_of(item)); });
    return block_.barrier();
  }
  const auto turn = [&](const Pred& with_key) {
    Reg<u32> n = b_.select(with_key, In<u32>(heads + 2), In<u32>(heads));
    b_.for_("item", block_.warp(), n, kWarps, [&](Reg<u32> item) {
      Reg<u32> row = (item - heads) * s.n_kv_heads + kv_head_ + s.n_heads;
      scatter_->run(b_.select(item < heads, first + item, row), planes_of(item));
    });
    block_.barrier();
  };
  if (!plan_.turns_once()) return turn(is_own_ && first_head == 0);
  b_.if_(is_own_ || turned_ != kv_head_, [&] { b_.region("turn", [&] { turn(is_own_); }); });
}

// The keys of one block: those of a page, of one column and KV head. Dimensions beyond the last, and rows beyond the
// last key, are read as the last ones again, and weigh nothing.
//
// Both products are of 16 rows: up to 8 heads' halves, and what those leave, so that nothing is lost to halves but the
// heads' last bits. Which eight of a row's dimensions, or four of its keys, are the 16 of a step is free, as long as
// both sides mean the same: so each lane's are neighbours in memory.
class Stretch {
 public:
  // keys, values: of the KV head in the page; n_keys: of the page, at least 1.
  Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Queries& queries, const KvRows& keys,
          const KvRows& values, const Reg<u32>& n_keys);

  // For all heads of the group, kHeadsAtOnce at a time; their results go to `merge`.
  void attend(const SplitMerge& merge, const Reg<u32>& split);

 private:
  using Pair = Reg<f16x2>;
  // Of a group of dimensions of one row, or of several: as they are in memory, and their scales if they are codes.
  struct Cells {
    std::vector<Reg<u32>> words;
    std::vector<Reg<ptx::f16>> scales;
  };

  void attend(const Reg<u32>& first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split);
  Reg<u32> own_row(const Reg<u32>& key) { return b_.min(key, last_); }
  template <int N>
  void load_words(const KvRows& rows, const Reg<u32>& row, uint32_t first_value, Cells& cells);
  Cells load_keys(uint32_t group);
  Cells load_values(uint32_t turn);
  std::vector<Pair> halves_of(const KvRows& rows, const std::vector<Reg<u32>>& words);
  Vec<f32, 4> zeros() { return {zero_, zero_, zero_, zero_}; }
  std::vector<Pair> query(uint32_t plane, const Reg<u32>& head, uint32_t group);
  std::vector<Reg<f32>> products_with_keys(uint32_t heads, const std::vector<Cells>& keys);
  void score(uint32_t heads, const std::vector<Cells>& keys);
  std::vector<Reg<f32>> weigh();
  Vec<f16x2, 4> split(const std::vector<Reg<f32>>& four);
  void sum_values(uint32_t heads, const std::vector<Cells>& values);
  void sum_group(uint32_t heads, uint32_t turn, const Vec<f16x2, 4>& weights, const std::vector<Pair>& rows);
  Reg<f32> sum_of(const std::vector<Reg<f32>>& terms);
  Reg<f32> highest(const Reg<u32>& head);
  SoftmaxState state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim);
  Cache cache_of_rows(Cache cache) const {  // rows may be what the block itself has written
    cache = block_.cache(cache);
    cache.read_only = cache.read_only && !queries_.are_projections();
    return cache;
  }

  Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  const Queries& queries_;
  KvRows keys_, values_;
  Reg<u32> n_keys_, last_;
  Reg<u32> eighth_, quarter_;  // of the warp's lanes: a row and a column of both products' second matrices
  Reg<u32> half_, sum_;        // which of the groups of dimensions, and which of the sums over keys, a warp weighs
  Reg<f32> zero_;
  Shared<f32> scores_;  // [kHeadsAtOnce, kScoreStride]
  Shared<f32> tops_;    // [kHeadsAtOnce, kWarps]: of each warp's keys
  Shared<f32> sums_;    // [kSums, kHeadsAtOnce]: of the weights
  Shared<f32> parts_;   // [kSums, heads, head_dim]: of the weighted values
};

Stretch::Stretch(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Queries& queries,
                 const KvRows& keys, const KvRows& values, const Reg<u32>& n_keys)
    : b_(b),
      plan_(plan),
      block_(block),
      queries_(queries),
      keys_(keys),
      values_(values),
      n_keys_(n_keys),
      last_(n_keys - 1),
      eighth_(b.lane() / 4),
      quarter_(b.lane() & 3),
      half_(block.warp() / kSums),
      sum_(block.warp() & (kSums - 1)),
      zero_(b.var("zero", 0.0f)),
      scores_(block.shared<f32>("scores", kHeadsAtOnce * kScoreStride)),
      tops_(block.shared<f32>("tops", kHeadsAtOnce * kWarps)),
      sums_(block.shared<f32>("sums", kSums * kHeadsAtOnce)),
      parts_(block.shared<f32>("parts", kSums * std::min(plan.group, kHeadsAtOnce) * plan.spec.head_dim)) {}

void Stretch::attend(const SplitMerge& merge, const Reg<u32>& split) {
  const uint32_t whole = plan_.group / kHeadsAtOnce, left = plan_.group % kHeadsAtOnce;
  const auto attend_from = [&](const Reg<u32>& first_head, uint32_t heads) { attend(first_head, heads, merge, split); };
  const auto attend_whole = [&](const Reg<u32>& first_head) { attend_from(first_head, kHeadsAtOnce); };
  if (whole == 1) attend_whole(b_.var("first_head", 0u));
  if (whole > 1) b_.for_("first_head", 0, whole * kHeadsAtOnce, kHeadsAtOnce, attend_whole);
  if (left > 0) attend_from(b_.var("first_head", whole * kHeadsAtOnce), left);
}

void Stretch::attend(const Reg<u32>& first_head, uint32_t heads, const SplitMerge& merge, const Reg<u32>& split) {
  b_.region("queries", [&] { queries_.fill(first_head, heads); });
  std::vector<Cells> keys, values;
  const auto load_all_values = [&] {
    for (uint32_t turn = 0; turn < plan_.turns; ++turn) values.push_back(load_values(turn));
  };
  b_.region("keys", [&] {
    for (uint32_t group = 0; group < plan_.groups; ++group) keys.push_back(load_keys(group));
  });
  if (plan_.has_values_ahead()) b_.region("values", load_all_values);
  b_.region("scores", [&] { score(heads, keys); });
  block_.barrier();
  b_.region("values", [&] {
    if (!plan_.has_values_ahead()) load_all_values();
    sum_values(heads, values);
  });
  block_.barrier();
  merge.for_items(heads, [&](const Reg<u32>& head, const Reg<u32>& dim) {
    merge.put(split, head + first_head, dim, state(heads, head, dim));
  });
}

// N words of the row, from one of its values on.
template <int N>
void Stretch::load_words(const KvRows& rows, const Reg<u32>& row, uint32_t first_value, Cells& cells) {
  const uint32_t per_word = rows.has_codes() ? 4 : 2;
  const Global<u32> from = (rows.has_codes() ? rows.codes(row) : rows.halves(row).as<u8>()).as<u32>();
  if constexpr (N == 1) {
    cells.words.push_back(from.load(first_value / per_word, cache_of_rows(kReadOnce)));
  } else {
    const Vec<u32, N> loaded = from.template load<N>(first_value / per_word, cache_of_rows(kReadOnce));
    for (int i = 0; i < N; ++i) cells.words.push_back(loaded[i]);
  }
}

// Of the warp's keys, each lane eight dimensions of one; the scales are those of the two whose scores a lane gets.
Stretch::Cells Stretch::load_keys(uint32_t group) {
  const uint32_t first = group * kGroup, head_dim = plan_.spec.head_dim;
  const bool is_whole = first + kGroup <= head_dim;
  Reg<u32> dim = is_whole ? quarter_ * 8 : b_.min(quarter_ * 8 + first, head_dim - 8);
  const KvRows rows = keys_.from_value(dim);
  Reg<u32> key = block_.warp() * kKeys;
  Cells cells;
  if (!keys_.has_codes()) {
    load_words<4>(rows, own_row(key + eighth_), is_whole ? first : 0, cells);
    return cells;
  }
  load_words<2>(rows, own_row(key + eighth_), is_whole ? first : 0, cells);
  b_.region("scales", [&] {
    for (uint32_t i : {0, 1})
      cells.scales.push_back(keys_.scales(own_row(key + quarter_ * 2 + i)).load(group, cache_of_rows(kReadOnly)));
  });
  return cells;
}

// Of four keys, four dimensions each: of the group that is the turn's, or the last one again.
Stretch::Cells Stretch::load_values(uint32_t turn) {
  const uint32_t first = turn * 2 * kGroup, head_dim = plan_.spec.head_dim;
  const bool is_whole = first + 2 * kGroup <= head_dim;
  Reg<u32> own = half_ * kGroup + eighth_ * 4;
  Reg<u32> dim = is_whole ? own : b_.min(own + first, head_dim - 4);
  const KvRows rows = values_.from_value(dim);
  Cells cells;
  for (uint32_t i = 0; i < 4; ++i) {
    Reg<u32> row = own_row(sum_ * 16 + quarter_ * 4 + i);
    if (!values_.has_codes()) {
      load_words<2>(rows, row, is_whole ? first : 0, cells);
      continue;
    }
    load_words<1>(rows, row, is_whole ? first : 0, cells);
    b_.region("scales", [&] {
      cells.scales.push_back(rows.scales(row).load(is_whole ? turn * 2 : 0, cache_of_rows(kReadOnly)));
    });
  }
  return cells;
}

// Bare codes, where they are codes: exact.
std::vector<Reg<f16x2>> Stretch::halves_of(const KvRows& rows, const std::vector<Reg<u32>>& words) {
  std::vector<Pair> pairs;
  for (const Reg<u32>& word : words) {
    if (!rows.has_codes()) {
      pairs.push_back(word.as<f16x2>());
      continue;
    }
    const Vec<f16x2, 2> two = codes_as_halves(b_, word);
    pairs.push_back(two[0]), pairs.push_back(two[1]);
  }
  return pairs;
}

// This lane's head with two of the warp's keys. Each group's sum is by itself: chains are short, and scales come in.
std::vector<Reg<f32>> Stretch::products_with_keys(uint32_t heads, const std::vector<Cells>& keys) {
  Reg<u32> head = heads == kHeadsAtOnce ? eighth_ : b_.min(eighth_, heads - 1);
  std::vector<Reg<f32>> first, second;
  for (uint32_t group = 0; group < plan_.groups; ++group) {
    const std::vector<Pair> key = halves_of(keys_, keys[group].words);
    const std::vector<Pair> high = query(0, head, group), low = query(1, head, group);
    const auto step = [&](size_t i, InVec<f32, 4> sum) {
      return product_of_16(b_, {high[i], low[i], high[i + 1], low[i + 1]}, {key[i], key[i + 1]}, sum);
    };
    const Vec<f32, 4> sum = step(2, step(0, zeros()));
    const auto scaled = [&](int i) {
      const std::vector<Reg<ptx::f16>>& scales = keys[group].scales;
      Reg<f32> both = sum[i] + sum[i + 2];
      return scales.empty() ? both : both * b_.convert<f32>(scales[static_cast<size_t>(i)]);
    };
    first.push_back(scaled(0)), second.push_back(scaled(1));
  }
  return {sum_of(first), sum_of(second)};
}

// Eight of a head's dimensions in a group, zeros beyond the last.
std::vector<Reg<f16x2>> Stretch::query(uint32_t plane, const Reg<u32>& head, uint32_t group) {
  const uint32_t first = group * kGroup, head_dim = plan_.spec.head_dim;
  const bool is_whole = first + kGroup <= head_dim;
  Reg<u32> dim = is_whole ? quarter_ * 8 : b_.min(quarter_ * 8 + first, head_dim - 8);
  const Vec<u32, 4> loaded = queries_.plane(plane, head, dim).as<u32>().load<4>(is_whole ? first / 2 : 0);
  std::vector<Pair> pairs;
  for (int i = 0; i < 4; ++i) {
    Reg<u32> word = is_whole ? loaded[i] : b_.select(quarter_ * 8 + first < head_dim, loaded[i], 0u);
    pairs.push_back(word.as<f16x2>());
  }
  return pairs;
}

Reg<f32> Stretch::sum_of(const std::vector<Reg<f32>>& terms) {
  Var<f32> sum = b_.var("sum", terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) sum += terms[i];
  return sum;
}

void Stretch::score(uint32_t heads, const std::vector<Cells>& keys) {
  Reg<f32> factor = queries_.factor(heads == kHeadsAtOnce ? eighth_ : b_.min(eighth_, heads - 1));
  const std::vector<Reg<f32>> products = products_with_keys(heads, keys);
  Reg<u32> key = block_.warp() * kKeys + quarter_ * 2;
  const auto masked = [&](uint32_t i) { return b_.select(key + i < n_keys_, products[i] * factor, kMinusInfinity); };
  const Reg<f32> first = masked(0), second = masked(1);
  scores_.store(eighth_ * kScoreStride + key, {first, second});
  Var<f32> top = b_.var("top", b_.max(first, second));
  for (uint32_t distance : {1, 2}) top = b_.max(top, b_.shuffle_xor(top, distance));
  b_.if_(quarter_ == 0, [&] { tops_.store(eighth_ * kWarps + block_.warp(), top); });
}

// The largest score of a head, of which the largest weight is 1; weights are larger by 2 to the power of kTopWeight.
Reg<f32> Stretch::highest(const Reg<u32>& head) {
  const Vec<f32, 4> low = tops_.load<4>(head * kWarps), high = tops_.load<4>(head * kWarps + 4);
  const auto of = [&](const Vec<f32, 4>& v) { return b_.max(b_.max(v[0], v[1]), b_.max(v[2], v[3])); };
  return b_.max(of(low), of(high));
}

// Of this lane's head and four of the keys of the warp's sum.
std::vector<Reg<f32>> Stretch::weigh() {
  Reg<f32> shift = highest(eighth_) - static_cast<float>(kTopWeight);
  const Vec<f32, 4> scores = scores_.load<4>(eighth_ * kScoreStride + sum_ * 16 + quarter_ * 4);
  std::vector<Reg<f32>> weights;
  for (int i = 0; i < 4; ++i) weights.push_back(b_.ex2(scores[i] - shift));
  Var<f32> sum = b_.var("sum", (weights[0] + weights[1]) + (weights[2] + weights[3]));
  for (uint32_t distance : {1, 2}) sum += b_.shuffle_xor(sum, distance);
  b_.if_((quarter_ | half_) == 0, [&] { sums_.store(sum_ * kHeadsAtOnce + eighth_, sum); });
  return weights;
}

// As the first matrix of a product: halves above what they leave.
Vec<f16x2, 4> Stretch::split(const std::vector<Reg<f32>>& four) {
  const auto high = [&](size_t i) { return b_.convert_pair<f16x2>(four[i], four[i + 1]); };
  const auto low = [&](size_t i, const Pair& pair) {
    const Vec<f32, 2> rounded = b_.widen(pair);
    return b_.convert_pair<f16x2>(four[i] - rounded[0], four[i + 1] - rounded[1]);
  };
  const Pair first = high(0), second = high(2), left = low(0, first);
  return {first, left, second, low(2, second)};
}

void Stretch::sum_values(uint32_t heads, const std::vector<Cells>& values) {
  const std::vector<Reg<f32>> weights = weigh();
  std::optional<Vec<f16x2, 4>> of_halves;
  if (!values_.has_codes()) of_halves.emplace(split(weights));
  for (uint32_t turn = 0; turn < plan_.turns; ++turn) {
    const Cells& cells = values[turn];
    std::vector<Reg<f32>> scaled;
    for (size_t i = 0; i < cells.scales.size(); ++i) scaled.push_back(weights[i] * b_.convert<f32>(cells.scales[i]));
    const Vec<f16x2, 4> own = of_halves ? *of_halves : split(scaled);
    sum_group(heads, turn, own, halves_of(values_, cells.words));
  }
}

// rows: of four keys, two pairs of dimensions each. A product is of one dimension of every lane's four.
void Stretch::sum_group(uint32_t heads, uint32_t turn, const Vec<f16x2, 4>& weights, const std::vector<Pair>& rows) {
  std::vector<Vec<f32, 4>> sums;
  for (uint32_t dim = 0; dim < 4; ++dim) {
    const auto of_two = [&](size_t row) {
      const auto word = [&](size_t r) { return rows[r * 2 + dim / 2].as<u32>(); };
      return b_.prmt(word(row), word(row + 1), dim % 2 == 0 ? 0x5410 : 0x7632).as<f16x2>();
    };
    const Pair first = of_two(0);
    sums.push_back(product_of_16(b_, weights, {first, of_two(2)}, zeros()));
  }
  const uint32_t head_dim = plan_.spec.head_dim;
  Reg<u32> dim = (half_ + turn * 2) * kGroup + quarter_ * 8;
  b_.if_(eighth_ < heads && dim < head_dim, [&] {
    const Shared<f32> to = parts_ + ((sum_ * heads + eighth_) * head_dim + dim);
    for (int column : {0, 1}) {
      const auto both = [&](size_t i) { return sums[i][column] + sums[i][column + 2]; };
      const Reg<f32> first = both(0), second = both(1), third = both(2);
      to.store(column * 4, {first, second, third, both(3)});
    }
  });
}

SoftmaxState Stretch::state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim) {
  const Shared<f32> parts = parts_ + (head * plan_.spec.head_dim + dim);
  Var<f32> sum = b_.var("sum", sums_.load(head));
  VarVec<f32, 4> values = b_.vars<f32, 4>("value", 0.0f);
  values = parts.load<4>();
  for (uint32_t part = 1; part < kSums; ++part) {
    sum += sums_.load(head + part * kHeadsAtOnce);
    const Vec<f32, 4> next = parts.load<4>(part * heads * plan_.spec.head_dim);
    for (int i = 0; i < 4; ++i) values[i] += next[i];
  }
  return {highest(head) - static_cast<float>(kTopWeight), sum,
          Vec<f32, 4>(Reg<f32>(values[0]), Reg<f32>(values[1]), Reg<f32>(values[2]), Reg<f32>(values[3]))};
}

// The keys that column may attend to, as far as the cache and the grid reach; ends the threads of a column that asks
// for more, one of which sets the error word.
Reg<u32> checked_length(Builder& b, const AttentionSpec& s, const AttentionAddresses& at, const VirtualBlock& block,
                        const Reg<u32>& column) {
  const Reg<u32>& given = at.length;
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
  Reg<u32> length = checked_length(b, s, at, block, column);

  Reg<u32> kv_cell = (column * s.n_kv_heads + kv_head).named("kv_cell");
  Reg<u32> n_splits = (length + (kPagePositions - 1)) / kPagePositions;
  Reg<u64> of_group = wide(kv_cell) * group_width;
  std::optional<Global<f32>> gate;
  if (at.gate) gate.emplace(*at.gate + of_group);
  SplitMerge merge(b, plan, block, at.scratch, at.out + of_group, gate, kv_cell, n_splits);
  b.if_((length | split) == 0, [&] { merge.put_zeros(); });
  b.return_if(split >= n_splits);

  Reg<u32> page = at.page_table.load(split, kReadOnly).named("page");
  const Queries queries(b, plan, block, at, column, kv_head, length - 1, page, split == n_splits - 1);
  // Where a page beyond the cache has been told of, its rows are others'.
  Reg<u32> read_page = at.projections ? b.min(page, at.projections->n_pages - 1) : page;
  const KvRows keys(b, {s.k_type, s.n_kv_heads, s.head_dim}, at.k_pages, kv_head);
  const KvRows values(b, {s.v_type, s.n_kv_heads, s.head_dim}, at.v_pages, kv_head);
  Stretch stretch(b, plan, block, queries, keys.in_page(read_page), values.in_page(read_page),
                  b.min(length - split * kPagePositions, kPagePositions));
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
  const VirtualBlock block(b);
  Reg<u32> column = block.block(Axis::kZ).named("column");
  leave_beyond_columns(b, n_columns, column);
  const Global<u32> table = page_table(b, page_tables, s.one_sequence ? Index(0) : Index(column));
  Reg<u32> length = block.load_uniform(lengths, column);
  body(b, {q, k_pages, v_pages, table, length, out, scratch, error, gate, projections}, block);
  return b.finish(Launch{attention_grid(s, s.max_positions), kThreads},
                  attention_cost(s, uint64_t{s.columns} * s.max_positions));
}

Kernel incremental_attention(const AttentionSpec& spec, Target target) {
  return attention_kernel(spec, target, [&](Builder& b, const AttentionAddresses& at, const VirtualBlock& block) {
    attention_body(b, spec, at, block);
  });
}

}  // namespace warpchat
