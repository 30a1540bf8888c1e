// Each lane holds pairs of dimensions: those that RoPE rotates together or, beyond the rotated dimensions, neighbours.
#include "kernels/attention/head_scatter.h"

#include <functional>

#include "kernels/attention/rotation.h"
#include "kernels/common/error_word.h"
#include "kernels/common/half_range.h"
#include "kernels/common/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

struct Pair {
  Reg<u32> first, second;  // dimensions
  bool can_rotate;
  std::optional<Pred> turns;  // whether the pair is rotated; none if all pairs are, or none is
  Var<f32> a, b;              // their values
};

class RotatedHead {
 public:
  RotatedHead(Builder& b, const KvScatterSpec& spec);

  void load(const Global<f32>& from);
  // Warp-wide; kept out of branches that ptxas may consider divergent, which would turn shuffles into calls.
  Reg<f32> rms_factor();
  Reg<u32> largest_exponent(float scale);

  void normalise(const Global<f32>& gamma, const Reg<f32>& factor);
  void rotate(const Const<u64>& turns, const Reg<f32>& magnitude, const Reg<u32>& position);
  template <class T, Space S>
  void store(const Pointer<T, S>& to);
  void split(const QueryPlanes& to, const Reg<u32>& exponent);

 private:
  Pair pair_of(uint32_t first);
  uint32_t n_pairs() const { return s_.head_dim / 2; }
  // Calls body(pair, index) for each pair of this lane.
  void for_pairs(const std::function<void(Pair&, const Reg<u32>&)>& body);

  Builder& b_;
  const KvScatterSpec& s_;
  std::vector<Pair> pairs_;
};

RotatedHead::RotatedHead(Builder& b, const KvScatterSpec& spec) : b_(b), s_(spec) {
  for (uint32_t first = 0; first < n_pairs(); first += kWarpSize) pairs_.push_back(pair_of(first));
}

// The lane's pair among the 32 from `first` on.
Pair RotatedHead::pair_of(uint32_t first) {
  const uint32_t rotated = s_.rope_dims / 2;
  const bool none_turns = first >= rotated, all_turn = rotated == n_pairs() || first + kWarpSize <= rotated;
  const auto pair = [&](const Reg<u32>& a, const Reg<u32>& b, const std::optional<Pred>& turns) {
    return Pair{a, b, !none_turns, turns, b_.var("a", 0.0f), b_.var("b", 0.0f)};
  };
  const bool has_neighbours = s_.pairing == RopePairing::kInterleaved;
  Reg<u32> index = b_.lane() + first;
  if (all_turn && !has_neighbours) return pair(index, index + rotated, {});
  Reg<u32> even = index * 2, odd = even + 1;
  if (all_turn || none_turns) return pair(even, odd, {});
  Pred turns = index < rotated;
  if (has_neighbours) return pair(even, odd, turns);
  return pair(b_.select(turns, index, even), b_.select(turns, index + rotated, odd), turns);
}

void RotatedHead::for_pairs(const std::function<void(Pair&, const Reg<u32>&)>& body) {
  for (uint32_t step = 0; step < pairs_.size(); ++step) {
    Reg<u32> index = b_.lane() + step * kWarpSize;
    const auto run = [&] { body(pairs_[step], index); };
    if ((step + 1) * kWarpSize <= n_pairs())
      run();
    else
      b_.if_(index < n_pairs(), run);
  }
}

void RotatedHead::load(const Global<f32>& from) {
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    pair.a = from.load(pair.first);
    pair.b = from.load(pair.second);
  });
}

Reg<f32> RotatedHead::rms_factor() {
  Var<f32> squares = b_.var("squares", 0.0f);
  for (Pair& pair : pairs_) squares = b_.fma(pair.b, pair.b, b_.fma(pair.a, pair.a, squares));
  return b_.rsqrt(warp_sum(b_, squares) * (1.0f / static_cast<float>(s_.head_dim)) + s_.eps);
}

Reg<u32> RotatedHead::largest_exponent(float scale) {
  Var<u32> max = b_.var("max", 0u);
  for (Pair& pair : pairs_)
    for (const Var<f32>* value : {&pair.a, &pair.b})
      max = b_.max(max, Reg<f32>(*value * scale).as<u32>() & 0x7fffffffu);
  return b_.max(warp_max(b_, max) >> 23, kMinExponent);
}

void RotatedHead::normalise(const Global<f32>& gamma, const Reg<f32>& factor) {
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    pair.a *= factor * gamma.load(pair.first, kReadOnly);
    pair.b *= factor * gamma.load(pair.second, kReadOnly);
  });
}

void RotatedHead::rotate(const Const<u64>& turns, const Reg<f32>& magnitude, const Reg<u32>& position) {
  for_pairs([&](Pair& pair, const Reg<u32>& index) {
    const auto turn = [&] {
      const Rotation rotation = rotation_at(b_, turns.load(index), position);
      Reg<f32> a = pair.a * magnitude, c = pair.b * magnitude;
      pair.a = b_.fma(a, rotation.cosine, -(c * rotation.sine));
      pair.b = b_.fma(a, rotation.sine, c * rotation.cosine);
    };
    if (pair.turns)
      b_.if_(*pair.turns, turn);
    else if (pair.can_rotate)
      turn();
  });
}

template <class T, Space S>
void RotatedHead::store(const Pointer<T, S>& to) {
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    if constexpr (std::is_same_v<T, f32>) {
      to.store(pair.first, pair.a);
      to.store(pair.second, pair.b);
    } else {
      to.store(pair.first, b_.convert<T>(pair.a));
      to.store(pair.second, b_.convert<T>(pair.b));
    }
  });
}

// exponent: the maximum over the values times to.scale.
void RotatedHead::split(const QueryPlanes& to, const Reg<u32>& exponent) {
  Reg<f32> scale = power_of_two(127 + 127 + kTopExponent - exponent);
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    const auto store_value = [&](const Reg<u32>& dim, const Reg<f32>& value) {
      Reg<f32> scaled = value * to.scale * scale;
      Reg<ptx::f16> high = b_.convert<ptx::f16>(scaled);
      to.high.store(dim, high);
      to.low.store(dim, b_.convert<ptx::f16>(scaled - b_.convert<f32>(high)));
    };
    store_value(pair.first, pair.a), store_value(pair.second, pair.b);
  });
  b_.if_(b_.lane() == 0, [&] { to.factor.store(0, power_of_two(exponent - kTopExponent)); });
}

// A lane's eight values of a head, zeros beyond its end.
template <Space S>
std::vector<Reg<f32>> eight_of(Builder& b, const Pointer<f32, S>& head, uint32_t head_dim) {
  const uint32_t pieces = head_dim / 8;
  const Pointer<f32, S> own = head + b.min(b.lane(), pieces - 1) * 8;
  std::vector<Reg<f32>> values;
  for (uint32_t first : {0, 4}) {  // 16 bytes at a time, the alignment of heads
    const Vec<f32, 4> loaded = own.template load<4>(first);
    for (int i = 0; i < 4; ++i)
      values.push_back(pieces == kWarpSize ? loaded[i] : b.select(b.lane() < pieces, loaded[i], 0.0f));
  }
  return values;
}

// Turns per position of the rotation's pairs.
Const<u64> turns_of(Builder& b, std::span<const KvScatterSpec> specs, const std::optional<Reg<u32>>& rope) {
  std::vector<uint64_t> table;
  for (const KvScatterSpec& spec : specs)
    for (double frequency : spec.frequencies) table.push_back(turns_per_position(frequency));
  const Const<u64> turns = b.constant<u64>("turns", table);
  return specs.size() == 1 ? turns : turns + rope.value() * (specs[0].rope_dims / 2);
}

Reg<f32> magnitude_of(Builder& b, std::span<const KvScatterSpec> specs, const std::optional<Reg<u32>>& rope) {
  std::vector<float> magnitudes;
  for (const KvScatterSpec& spec : specs) magnitudes.push_back(static_cast<float>(spec.rope_magnitude));
  if (magnitudes.size() == 1) return b.var("magnitude", magnitudes[0]);
  return b.constant<f32>("magnitudes", magnitudes).load(rope.value());
}

}  // namespace

void split_query(Builder& b, const Global<f32>& query, uint32_t head_dim, const QueryPlanes& to) {
  const KvScatterSpec unrotated{.n_heads = 1, .n_kv_heads = 1, .head_dim = head_dim, .rope_dims = 0};
  RotatedHead values(b, unrotated);
  values.load(query);
  values.split(to, values.largest_exponent(to.scale));
}

HeadScatter::HeadScatter(Builder& b, std::span<const KvScatterSpec> specs, const std::optional<Reg<u32>>& rope,
                         const HeadAddresses& at, const Reg<u32>& column, const Reg<u32>& position,
                         const Reg<u32>& page, const std::optional<Shared<f32>>& staging)
    : b_(b),
      s_(specs[0]),
      at_(at),
      turns_(turns_of(b, specs, rope)),
      magnitude_(magnitude_of(b, specs, rope)),
      column_(column),
      position_(position),
      page_(page),
      staging_(staging) {}

Global<f32> HeadScatter::projection(const Reg<u32>& head) const {
  const uint64_t q_width = uint64_t{s_.n_heads} * s_.head_dim, kv_width = uint64_t{s_.n_kv_heads} * s_.head_dim;
  Reg<u32> key = head - s_.n_heads, value = key - s_.n_kv_heads;
  const auto of = [&](const Global<f32>& all, uint64_t width, const Reg<u32>& own) {
    return b_.address(all + wide(column_) * width + own * s_.head_dim);
  };
  Reg<u64> of_rows = b_.select(key < s_.n_kv_heads, of(at_.k, kv_width, key), of(at_.v, kv_width, value));
  return b_.pointer<f32>(b_.select(head < s_.n_heads, of(at_.q, q_width, head), of_rows), 4);
}

KvRows HeadScatter::row(KvType type, const Global<u8>& pages, const Reg<u32>& kv_head) const {
  const KvRows rows(b_, {type, s_.n_kv_heads, s_.head_dim}, pages, kv_head);
  return rows.in_page(page_).from_row(position_ % kPagePositions);
}

void HeadScatter::run(const Reg<u32>& head, const std::optional<QueryPlanes>& query) const {
  Reg<u32> key = head - s_.n_heads, value = key - s_.n_kv_heads;  // for earlier heads these wrap to large values
  const Pred is_query = head < s_.n_heads, is_key = key < s_.n_kv_heads, is_value = value < s_.n_kv_heads;
  const auto either = [&](const Pred& is_first, const auto& first, const auto& second) {
    return b_.select(is_first, b_.address(first), b_.address(second));
  };
  const Global<f32> from = projection(head);
  RotatedHead values(b_, s_);
  values.load(from);
  std::optional<Reg<f32>> factor;
  if (s_.qk_norm) b_.region("norm", [&] { factor.emplace(values.rms_factor()); });
  b_.if_(!is_value, [&] {
    if (factor)
      b_.region("norm",
                [&] { values.normalise(b_.pointer<f32>(either(is_query, at_.gamma[0], at_.gamma[1]), 4), *factor); });
    b_.region("rope", [&] { values.rotate(turns_, magnitude_, position_); });
  });
  std::optional<Reg<u32>> exponent;
  if (query) exponent.emplace(values.largest_exponent(query->scale));
  b_.if_(is_query, [&] { query ? values.split(*query, *exponent) : values.store(from); });
  const Pred has_page = page_ < at_.n_pages;
  b_.if_(!is_query && !has_page && b_.lane() == 0,
         [&] { report_error(b_, at_.error, KernelError::kPageOutOfRange, page_, at_.n_pages, column_); });
  const auto store_pairs = [&](const KvRows& to) {
    to.has_floats() ? values.store(to.floats()) : values.store(to.halves());
  };
  if (s_.k_type == s_.v_type && s_.k_type != KvType::kQ8_0)
    return b_.if_(!is_query && has_page, [&] {
      const Global<u8> pages = b_.pointer<u8>(either(is_key, at_.k_pages, at_.v_pages), KvLayout::kAlignment);
      store_pairs(row(s_.k_type, pages, b_.select(is_key, key, value)));
    });
  b_.if_(is_key && has_page, [&] {
    const KvRows to = row(s_.k_type, at_.k_pages, key);
    if (!to.has_codes()) return store_pairs(to);
    values.store(staging_.value());  // changes pairs into neighbouring values
    b_.warp_barrier();
    store_codes(b_, to, eight_of(b_, *staging_, s_.head_dim));
  });
  b_.if_(is_value && has_page, [&] {
    const KvRows to = row(s_.v_type, at_.v_pages, value);
    if (!to.has_codes()) return store_pairs(to);
    store_codes(b_, to, eight_of(b_, b_.pointer<f32>(b_.address(from), 16), s_.head_dim));
  });
}

}  // namespace warpchat
