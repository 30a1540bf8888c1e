// A block scores all keys of a page, eight per warp, then sums the weighted values: each warp has sixteen keys and half
// of the dimensions. Both run on tensor cores, with fp32 split into two f16. Summation order: dimensions in a group,
// groups, pages, keys of a warp, warps.
//
// With several pages, the next page's keys overwrite those already scored, and its values those already summed. Loads
// run half a page ahead in the registers of one page.
#include "kernels/attention/attention_split.h"

#include <algorithm>

#include "kernels/common/half_range.h"
#include "kernels/common/product_of_16.h"

namespace warpchat {

using namespace ptx;

AttentionSplit::AttentionSplit(Builder& b, const AttentionPlan& plan, const VirtualBlock& block,
                               const AttentionQueries& queries, const SplitKeys& split)
    : b_(b),
      plan_(plan),
      block_(block),
      queries_(queries),
      split_(split),
      eighth_(b.lane() / 4),
      quarter_(b.lane() & 3),
      half_(block.warp() / kSums),
      sum_(block.warp() & (kSums - 1)),
      zero_(b.var("zero", 0.0f)),
      scores_{block.shared<f32>("scores", plan.pages_at_once() * kPageScores),
              block.shared<f32>("tops", plan.pages_at_once() * kPageTops)},
      sums_(block.shared<f32>("sums", (kSums + plan.pages_at_once() - 1) * kHeadsAtOnce)),
      parts_(block.shared<f32>("parts", kSums * std::min(plan.group, kHeadsAtOnce) * plan.spec.head_dim)) {}

void AttentionSplit::attend(const SplitMerge& merge, const Reg<u32>& number) {
  if (plan_.spec.pages_per_block > 1) return attend_pages(merge, number);
  const PageRows keys{split_.keys.in_page(split_.numbers), split_.n_keys - 1};
  const PageRows values{split_.values.in_page(split_.numbers), keys.last};
  const uint32_t whole = plan_.group / kHeadsAtOnce, left = plan_.group % kHeadsAtOnce;
  const auto attend_from = [&](const Reg<u32>& first_head, uint32_t heads) {
    attend_page(keys, values, first_head, heads, merge, number);
  };
  const auto attend_whole = [&](const Reg<u32>& first_head) { attend_from(first_head, kHeadsAtOnce); };
  if (whole == 1) attend_whole(b_.var("first_head", 0u));
  if (whole > 1) b_.for_("first_head", 0, whole * kHeadsAtOnce, kHeadsAtOnce, attend_whole);
  if (left > 0) attend_from(b_.var("first_head", whole * kHeadsAtOnce), left);
}

// Scores and sums of one page, for some heads.
void AttentionSplit::attend_page(const PageRows& key_rows, const PageRows& value_rows, const Reg<u32>& first_head,
                                 uint32_t heads, const SplitMerge& merge, const Reg<u32>& number) {
  b_.region("queries", [&] { queries_.fill(first_head, heads); });
  std::vector<Cells> keys, values;
  b_.region("keys", [&] { keys = load_all_keys(key_rows); });
  if (plan_.has_values_ahead()) b_.region("values", [&] { values = load_all_values(value_rows); });
  b_.region("scores", [&] { score(heads, keys, split_.n_keys, scores_); });
  block_.barrier();
  b_.region("values", [&] {
    if (!plan_.has_values_ahead()) values = load_all_values(value_rows);
    for_dim_blocks(weigh(), values, [&](uint32_t turn, const auto& weights, const auto& rows) {
      std::vector<Vec<f32, 4>> sums;
      for (uint32_t dim = 0; dim < kTurnDims; ++dim) {
        const Vec<f32, 4> sum = product_with_values(weights, rows.high, dim, zeros());
        sums.push_back(rows.low.empty() ? sum : product_with_values(weights, rows.low, dim, sum));
      }
      store_values(heads, turn, sums, rows.factors);
    });
  });
  block_.barrier();
  merge.for_items(heads, [&](const Reg<u32>& head, const Reg<u32>& dim) {
    const Reg<f32> top = highest(head, scores_) - static_cast<float>(kTopWeight);
    merge.put(number, head + first_head, dim, state(heads, head, dim, top));
  });
}

void AttentionSplit::attend_pages(const SplitMerge& merge, const Reg<u32>& number) {
  const uint32_t heads = plan_.group;
  b_.region("queries", [&] { queries_.fill(b_.var("first_head", 0u), heads); });
  const Reg<u32> first = b_.shuffle(split_.numbers, 0), last_of_first = b_.min(split_.n_keys, kPagePositions) - 1;
  Ahead keys, values;
  b_.region("keys", [&] { store_prefetched(load_all_keys({split_.keys.in_page(first), last_of_first}), keys); });
  b_.region("values", [&] {
    store_prefetched(load_all_values({split_.values.in_page(first), last_of_first}), values);
  });
  Running running{b_.var("top", kNoScore), b_.var("sum", 0.0f), {}};
  for (uint32_t i = 0; i < plan_.turns * kTurnDims; ++i) running.values.push_back(b_.vars<f32, 4>("values", 0.0f));
  Var<u32> index = b_.var("page", 0u);
  b_.do_while([&] { return add_page(index, keys, values, running); });
  store_running(running);
  block_.barrier();
  merge.for_items(heads, [&](const Reg<u32>& head, const Reg<u32>& dim) {
    merge.put(number, head, dim, state(heads, head, dim, sums_.load(head + kSums * kHeadsAtOnce)));
  });
}

// Two score buffers alternate: while some warps read one, others already write the next page's.
Pred AttentionSplit::add_page(Var<u32>& index, Ahead& keys, Ahead& values, Running& running) {
  const Reg<u32> which = index & 1;
  const Scores scores{scores_.all + which * kPageScores, scores_.tops + which * kPageTops};
  const Reg<u32> next = index + 1, keys_left = split_.n_keys - index * kPagePositions;
  const Pred has_next = keys_left > kPagePositions;
  const Reg<u32> next_number = b_.shuffle(split_.numbers, next);
  const auto of_next = [&](const KvRows& rows) {
    return PageRows{rows.in_page(next_number), b_.min(keys_left - kPagePositions, kPagePositions) - 1};
  };
  b_.region("scores", [&] {
    score(plan_.group, load_prefetched(keys, plan_.groups), b_.min(keys_left, kPagePositions), scores);
  });
  b_.region("keys", [&] { b_.if_(has_next, [&] { store_prefetched(load_all_keys(of_next(split_.keys)), keys); }); });
  block_.barrier();
  b_.region("values", [&] {
    const Reg<f32> top = b_.max(running.top, highest(eighth_, scores)), scale = b_.ex2(running.top - top);
    const Floats weights = weights_above(top - static_cast<float>(kTopWeight), scores);
    running.top = top;
    running.sum = b_.fma(running.sum, scale, sum_of_four(weights));
    for_dim_blocks(weights, load_prefetched(values, plan_.turns),
                   [&](uint32_t turn, const auto& own, const auto& rows) {
                     for (uint32_t dim = 0; dim < kTurnDims; ++dim) {
                       VarVec<f32, 4>& sum = running.values[turn * kTurnDims + dim];
                       sum = product_with_values(own, rows.high, dim,
                                                 {sum[0] * scale, sum[1] * scale, sum[2] * scale, sum[3] * scale});
                     }
                   });
    b_.if_(has_next, [&] { store_prefetched(load_all_values(of_next(split_.values)), values); });
  });
  index = next;
  return has_next;
}

void AttentionSplit::store_running(Running& running) {
  store_sum(running.sum);
  b_.if_((quarter_ | block_.warp()) == 0,
         [&] { sums_.store(kSums * kHeadsAtOnce + eighth_, running.top - static_cast<float>(kTopWeight)); });
  for (uint32_t turn = 0; turn < plan_.turns; ++turn) {
    std::vector<Vec<f32, 4>> sums;
    for (uint32_t dim = 0; dim < kTurnDims; ++dim) {
      const VarVec<f32, 4>& sum = running.values[turn * kTurnDims + dim];
      sums.emplace_back(Reg<f32>(sum[0]), Reg<f32>(sum[1]), Reg<f32>(sum[2]), Reg<f32>(sum[3]));
    }
    store_values(plan_.group, turn, sums);
  }
}

// Rows may have been written by this block. Also, ptxas moves read-only loads across barriers: it would hoist the value
// loads to the key loads, and f32 heads of large size would overflow the registers.
Cache AttentionSplit::cache_of_rows(Cache cache) const {
  const bool is_too_much = split_.values.has_floats() && plan_.groups > AttentionPlan::kGroupsAhead;
  cache = block_.cache(cache);
  cache.read_only = cache.read_only && !queries_.are_projections() && !is_too_much;
  return cache;
}

std::vector<AttentionSplit::Cells> AttentionSplit::load_all_keys(const PageRows& rows) {
  std::vector<Cells> keys;
  for (uint32_t group = 0; group < plan_.groups; ++group) keys.push_back(load_keys(rows, group));
  return keys;
}

std::vector<AttentionSplit::Cells> AttentionSplit::load_all_values(const PageRows& rows) {
  std::vector<Cells> values;
  for (uint32_t turn = 0; turn < plan_.turns; ++turn) values.push_back(load_values(rows, turn));
  return values;
}

void AttentionSplit::store_prefetched(const std::vector<Cells>& all, Ahead& ahead) {
  const auto put = [&](auto& to, size_t i, const auto& value) {
    if (i == to.size())
      to.push_back(b_.var("ahead", value));
    else
      to[i] = value;
  };
  size_t word = 0, scale = 0;
  for (const Cells& cells : all) {
    for (const Reg<u32>& value : cells.words) put(ahead.words, word++, value);
    for (const Reg<ptx::f16>& value : cells.scales) put(ahead.scales, scale++, value);
  }
}

// n: number of groups or turns.
std::vector<AttentionSplit::Cells> AttentionSplit::load_prefetched(const Ahead& ahead, uint32_t n) {
  std::vector<Cells> all(n);
  for (size_t i = 0; i < ahead.words.size(); ++i) all[i / (ahead.words.size() / n)].words.push_back(ahead.words[i]);
  for (size_t i = 0; i < ahead.scales.size(); ++i) all[i / (ahead.scales.size() / n)].scales.push_back(ahead.scales[i]);
  return all;
}

// N words of `row`, starting at first_value.
template <int N>
void AttentionSplit::load_words(const KvRows& rows, const Reg<u32>& row, uint32_t first_value, Cells& cells) {
  const uint32_t per_word = 4 / rows.layout().value_bytes();
  const Global<u32> from = rows.codes(row).as<u32>();
  if constexpr (N == 1) {
    cells.words.push_back(from.load(first_value / per_word, cache_of_rows(kReadOnce)));
  } else {
    const Vec<u32, N> loaded = from.template load<N>(first_value / per_word, cache_of_rows(kReadOnce));
    for (int i = 0; i < N; ++i) cells.words.push_back(loaded[i]);
  }
}

// Each lane loads eight dimensions of one of the warp's keys, and the scales of the two keys whose scores it receives.
AttentionSplit::Cells AttentionSplit::load_keys(const PageRows& page, uint32_t group) {
  if (page.all.has_floats()) return load_float_keys(page, group);
  const uint32_t first = group * kGroup, head_dim = plan_.spec.head_dim;
  const bool is_whole = first + kGroup <= head_dim;
  Reg<u32> dim = is_whole ? quarter_ * 8 : b_.min(quarter_ * 8 + first, head_dim - 8);
  const KvRows rows = page.all.from_value(dim);
  Reg<u32> key = block_.warp() * kKeys;
  Cells cells;
  if (!rows.has_codes()) {
    load_words<4>(rows, b_.min(key + eighth_, page.last), is_whole ? first : 0, cells);
    return cells;
  }
  load_words<2>(rows, b_.min(key + eighth_, page.last), is_whole ? first : 0, cells);
  b_.region("scales", [&] {
    for (uint32_t i : {0, 1}) {
      Reg<u32> row = b_.min(key + quarter_ * 2 + i, page.last);
      cells.scales.push_back(page.all.scales(row).load(group, cache_of_rows(kReadOnly)));
    }
  });
  return cells;
}

// Four dimensions from each half of the group, so a load covers one contiguous range per row.
AttentionSplit::Cells AttentionSplit::load_float_keys(const PageRows& page, uint32_t group) {
  const uint32_t head_dim = plan_.spec.head_dim;
  const Reg<u32> row = b_.min(block_.warp() * kKeys + eighth_, page.last);
  Cells cells;
  for (const uint32_t first : {group * kGroup, group * kGroup + kGroup / 2}) {
    const bool is_whole = first + kGroup / 2 <= head_dim;
    Reg<u32> dim = is_whole ? quarter_ * 4 : b_.min(quarter_ * 4 + first, head_dim - 4);
    load_words<4>(page.all.from_value(dim), row, is_whole ? first : 0, cells);
  }
  return cells;
}

// Four keys, four dimensions each, from the turn's group; past the end, the last group again.
AttentionSplit::Cells AttentionSplit::load_values(const PageRows& page, uint32_t turn) {
  const uint32_t first = turn * 2 * kGroup, head_dim = plan_.spec.head_dim;
  const bool is_whole = first + 2 * kGroup <= head_dim;
  Reg<u32> own = half_ * kGroup + eighth_ * 4;
  Reg<u32> dim = is_whole ? own : b_.min(own + first, head_dim - 4);
  const KvRows rows = page.all.from_value(dim);
  Cells cells;
  for (uint32_t i = 0; i < 4; ++i) {
    Reg<u32> row = b_.min(sum_ * 16 + quarter_ * 4 + i, page.last);
    if (rows.has_floats()) {
      load_words<4>(rows, row, is_whole ? first : 0, cells);
      continue;
    }
    if (!rows.has_codes()) {
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

// q8_0 stays bare codes, which f16 holds exactly.
AttentionSplit::Planes AttentionSplit::planes_of(const KvRows& rows, const std::vector<Reg<u32>>& words) {
  if (rows.has_floats()) return planes_of_floats(words);
  Planes planes;
  for (const Reg<u32>& word : words) {
    if (!rows.has_codes()) {
      planes.high.push_back(word.as<f16x2>());
      continue;
    }
    const Vec<f16x2, 2> two = codes_as_halves(b_, word);
    planes.high.push_back(two[0]), planes.high.push_back(two[1]);
  }
  return planes;
}

// Four lanes, which share a column of the second operand, share one power of two.
AttentionSplit::Planes AttentionSplit::planes_of_floats(const std::vector<Reg<u32>>& words) {
  Var<u32> bits = b_.var("largest", 0u);
  for (const Reg<u32>& word : words) bits = b_.max(bits, word & 0x7fffffffu);
  for (uint32_t distance : {1, 2}) bits = b_.max(bits, b_.shuffle_xor(bits, distance));
  const Reg<u32> exponent = b_.max(bits >> 23, kMinExponent);
  const Reg<f32> scale = power_of_two(127 + 127 + kTopExponent - exponent);
  Planes planes;
  for (size_t i = 0; i < words.size(); i += 2) {
    const Reg<f32> first = words[i].as<f32>() * scale, second = words[i + 1].as<f32>() * scale;
    const Pair high = b_.convert_pair<f16x2>(first, second);
    const Vec<f32, 2> rounded = b_.widen(high);
    planes.high.push_back(high);
    planes.low.push_back(b_.convert_pair<f16x2>(first - rounded[0], second - rounded[1]));
  }
  for (uint32_t column : {0, 1})
    planes.factors.push_back(power_of_two(b_.shuffle(exponent, quarter_ * 8 + column * 4) - kTopExponent));
  return planes;
}

// This lane's head with two of the warp's keys. Each group is summed separately: dependency chains stay short, and
// scales apply per group.
AttentionSplit::Floats AttentionSplit::products_with_keys(uint32_t heads, const std::vector<Cells>& keys) {
  Reg<u32> head = heads == kHeadsAtOnce ? eighth_ : b_.min(eighth_, heads - 1);
  Floats first, second;
  for (uint32_t group = 0; group < plan_.groups; ++group) {
    const Planes key = planes_of(split_.keys, keys[group].words);
    const std::vector<Pair> high = query(0, head, group), low = query(1, head, group);
    const auto add = [&](const std::vector<Pair>& of_key, InVec<f32, 4> before) {
      const auto step = [&](size_t i, InVec<f32, 4> sum) {
        return product_of_16(b_, {high[i], low[i], high[i + 1], low[i + 1]}, {of_key[i], of_key[i + 1]}, sum);
      };
      return step(2, step(0, before));
    };
    const Vec<f32, 4> of_high = add(key.high, zeros()), sum = key.low.empty() ? of_high : add(key.low, of_high);
    const auto scaled = [&](int i) {
      const std::vector<Reg<ptx::f16>>& scales = keys[group].scales;
      Reg<f32> both = sum[i] + sum[i + 2];
      if (!key.factors.empty()) return both * key.factors[static_cast<size_t>(i)];
      return scales.empty() ? both : both * b_.convert<f32>(scales[static_cast<size_t>(i)]);
    };
    first.push_back(scaled(0)), second.push_back(scaled(1));
  }
  return {sum_of(first), sum_of(second)};
}

// Eight dimensions of a head in a group, matching the lane's part of a key; zeros beyond the last.
std::vector<AttentionSplit::Pair> AttentionSplit::query(uint32_t plane, const Reg<u32>& head, uint32_t group) {
  std::vector<Pair> pairs;
  if (split_.keys.has_floats())
    for (const uint32_t first : {group * kGroup, group * kGroup + kGroup / 2}) add_query<4>(plane, head, first, pairs);
  else
    add_query<8>(plane, head, group * kGroup, pairs);
  return pairs;
}

// kDims dimensions from `first` on, per lane of a quarter.
template <int kDims>
void AttentionSplit::add_query(uint32_t plane, const Reg<u32>& head, uint32_t first, std::vector<Pair>& pairs) {
  const uint32_t head_dim = plan_.spec.head_dim;
  const bool is_whole = first + 4 * kDims <= head_dim;
  Reg<u32> dim = is_whole ? quarter_ * kDims : b_.min(quarter_ * kDims + first, head_dim - kDims);
  const auto loaded = queries_.plane(plane, head, dim).as<u32>().load<kDims / 2>(is_whole ? first / 2 : 0);
  for (int i = 0; i < kDims / 2; ++i) {
    Reg<u32> word = is_whole ? loaded[i] : b_.select(quarter_ * kDims + first < head_dim, loaded[i], 0u);
    pairs.push_back(word.as<f16x2>());
  }
}

Reg<f32> AttentionSplit::sum_of(const Floats& terms) {
  Var<f32> sum = b_.var("sum", terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) sum += terms[i];
  return sum;
}

void AttentionSplit::score(uint32_t heads, const std::vector<Cells>& keys, const Reg<u32>& n_keys, const Scores& to) {
  Reg<f32> factor = queries_.factor(heads == kHeadsAtOnce ? eighth_ : b_.min(eighth_, heads - 1));
  const Floats products = products_with_keys(heads, keys);
  Reg<u32> key = block_.warp() * kKeys + quarter_ * 2;
  const auto masked = [&](uint32_t i) { return b_.select(key + i < n_keys, products[i] * factor, kNoScore); };
  const Reg<f32> first = masked(0), second = masked(1);
  to.all.store(eighth_ * kScoreStride + key, {first, second});
  Var<f32> top = b_.var("top", b_.max(first, second));
  for (uint32_t distance : {1, 2}) top = b_.max(top, b_.shuffle_xor(top, distance));
  b_.if_(quarter_ == 0, [&] { to.tops.store(eighth_ * kWarps + block_.warp(), top); });
}

// Top score of a head. Its weight is 2^kTopWeight.
Reg<f32> AttentionSplit::highest(const Reg<u32>& head, const Scores& scores) {
  const Vec<f32, 4> low = scores.tops.load<4>(head * kWarps), high = scores.tops.load<4>(head * kWarps + 4);
  const auto of = [&](const Vec<f32, 4>& v) { return b_.max(b_.max(v[0], v[1]), b_.max(v[2], v[3])); };
  return b_.max(of(low), of(high));
}

// Weights of four keys of the warp's sum, for this lane's head.
AttentionSplit::Floats AttentionSplit::weights_above(const Reg<f32>& shift, const Scores& scores) {
  const Vec<f32, 4> own = scores.all.load<4>(eighth_ * kScoreStride + sum_ * 16 + quarter_ * 4);
  Floats weights;
  for (int i = 0; i < 4; ++i) weights.push_back(b_.ex2(own[i] - shift));
  return weights;
}

// Reduces the lane's sum over the keys to the warp's.
void AttentionSplit::store_sum(Var<f32>& sum) {
  for (uint32_t distance : {1, 2}) sum += b_.shuffle_xor(sum, distance);
  b_.if_((quarter_ | half_) == 0, [&] { sums_.store(sum_ * kHeadsAtOnce + eighth_, sum); });
}

AttentionSplit::Floats AttentionSplit::weigh() {
  Reg<f32> shift = highest(eighth_, scores_) - static_cast<float>(kTopWeight);
  Floats weights = weights_above(shift, scores_);
  Var<f32> sum = b_.var("sum", sum_of_four(weights));
  store_sum(sum);
  return weights;
}

// Splits into f16 high and low parts, as the first operand of an mma.
Vec<f16x2, 4> AttentionSplit::split(const Floats& four) {
  const auto high = [&](size_t i) { return b_.convert_pair<f16x2>(four[i], four[i + 1]); };
  const auto low = [&](size_t i, const Pair& pair) {
    const Vec<f32, 2> rounded = b_.widen(pair);
    return b_.convert_pair<f16x2>(four[i] - rounded[0], four[i + 1] - rounded[1]);
  };
  const Pair first = high(0), second = high(2), left = low(0, first);
  return {first, left, second, low(2, second)};
}

// Calls add(turn, weights, rows) for each turn; rows: four keys, two pairs of dimensions each.
void AttentionSplit::for_dim_blocks(const Floats& weights, const std::vector<Cells>& values, const OnDimBlock& add) {
  std::optional<Vec<f16x2, 4>> of_halves;
  if (!split_.values.has_codes()) of_halves.emplace(split(weights));
  for (uint32_t turn = 0; turn < plan_.turns; ++turn) {
    const Cells& cells = values[turn];
    Floats scaled;
    for (size_t i = 0; i < cells.scales.size(); ++i) scaled.push_back(weights[i] * b_.convert<f32>(cells.scales[i]));
    const Vec<f16x2, 4> own = of_halves ? *of_halves : split(scaled);
    add(turn, own, planes_of(split_.values, cells.words));
  }
}

// One of every lane's four dimensions.
Vec<f32, 4> AttentionSplit::product_with_values(const Vec<f16x2, 4>& weights, const std::vector<Pair>& rows,
                                                uint32_t dim, InVec<f32, 4> sum) {
  const auto of_two = [&](size_t row) {
    const auto word = [&](size_t r) { return rows[r * 2 + dim / 2].as<u32>(); };
    return b_.prmt(word(row), word(row + 1), dim % 2 == 0 ? 0x5410 : 0x7632).as<f16x2>();
  };
  const Pair first = of_two(0);
  return product_of_16(b_, weights, {first, of_two(2)}, sum);
}

void AttentionSplit::store_values(uint32_t heads, uint32_t turn, const std::vector<Vec<f32, 4>>& sums,
                                  const Floats& factors) {
  const uint32_t head_dim = plan_.spec.head_dim;
  Reg<u32> dim = (half_ + turn * 2) * kGroup + quarter_ * 8;
  b_.if_(eighth_ < heads && dim < head_dim, [&] {
    const Shared<f32> to = parts_ + ((sum_ * heads + eighth_) * head_dim + dim);
    for (int column : {0, 1}) {
      const auto both = [&](size_t i) {
        const Reg<f32> sum = sums[i][column] + sums[i][column + 2];
        return factors.empty() ? sum : sum * factors[static_cast<size_t>(column)];
      };
      const Reg<f32> first = both(0), second = both(1), third = both(2);
      to.store(column * 4, {first, second, third, both(3)});
    }
  });
}

SoftmaxState AttentionSplit::state(uint32_t heads, const Reg<u32>& head, const Reg<u32>& dim, const Reg<f32>& top) {
  const Shared<f32> parts = parts_ + (head * plan_.spec.head_dim + dim);
  Var<f32> sum = b_.var("sum", sums_.load(head));
  VarVec<f32, 4> values = b_.vars<f32, 4>("value", 0.0f);
  values = parts.load<4>();
  for (uint32_t part = 1; part < kSums; ++part) {
    sum += sums_.load(head + part * kHeadsAtOnce);
    const Vec<f32, 4> next = parts.load<4>(part * heads * plan_.spec.head_dim);
    for (int i = 0; i < 4; ++i) values[i] += next[i];
  }
  return {top, sum, Vec<f32, 4>(Reg<f32>(values[0]), Reg<f32>(values[1]), Reg<f32>(values[2]), Reg<f32>(values[3]))};
}

}  // namespace warpchat
