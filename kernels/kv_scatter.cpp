// A warp a head, first the query heads, then the keys', then the values'. A lane holds pairs of dimensions: those that
// RoPE turns together; beyond the rotated dimensions, neighbours.
#include "kernels/kv_scatter.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kernels/bodies.h"
#include "kernels/columns.h"
#include "kernels/error_word.h"
#include "kernels/kv_rows.h"
#include "kernels/rotation.h"
#include "kernels/spec_check.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kScatterWarps = 4;
constexpr uint32_t kMaxHeadDim = 256;

void check(const KvScatterSpec& s) {
  const std::string family = "kv_scatter";
  require_between(1, UINT16_MAX, family, "n_heads", s.n_heads);
  require_between(1, UINT16_MAX, family, "n_kv_heads", s.n_kv_heads);
  require_spec(s.head_dim > 0 && s.head_dim <= kMaxHeadDim && s.head_dim % 8 == 0, family, "head_dim", s.head_dim,
               "a multiple of 8 up to " + std::to_string(kMaxHeadDim));
  require_spec(s.rope_dims > 0 && s.rope_dims <= s.head_dim && s.rope_dims % 2 == 0, family, "rope_dims", s.rope_dims,
               "an even number up to the head_dim of " + std::to_string(s.head_dim));
  require_spec(s.frequencies.size() == s.rope_dims / 2, family, "the number of frequencies", s.frequencies.size(),
               std::to_string(s.rope_dims / 2) + ", one for each pair");
  require_between(1, INT32_MAX, family, "max_positions", s.max_positions);
  require_between(1, UINT16_MAX, family, "columns", s.columns);
  bool finite = std::isfinite(s.rope_magnitude) && std::isfinite(s.eps) && s.eps >= 0;
  for (double frequency : s.frequencies) finite = finite && std::isfinite(frequency);
  if (!finite) throw Error(family + ": eps, the magnitude or a frequency is no finite number");
}

// FNV-1a over what the text holds beyond the name's numbers.
uint32_t hash_of(const KvScatterSpec& s) {
  uint32_t hash = 2166136261u;
  const auto add = [&](const auto& value) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 16777619u;
  };
  add(static_cast<uint32_t>(s.pairing)), add(s.rope_dims), add(s.rope_magnitude), add(s.eps);
  for (double frequency : s.frequencies) add(frequency);
  return hash;
}

struct Pair {
  Reg<u32> first, second;  // dimensions
  bool may_turn;
  std::optional<Pred> turns;  // where not all lanes' pairs do, or none
  Var<f32> a, b;              // their values
};

class Head {
 public:
  Head(Builder& b, const KvScatterSpec& spec);

  void load(const Global<f32>& from);
  void normalise(const Global<f32>& gamma);
  void rotate(const Const<u64>& turns, const Reg<u32>& position);
  template <class T, Space S>
  void store(const Pointer<T, S>& to);

 private:
  Pair pair_of(uint32_t first);
  uint32_t n_pairs() const { return s_.head_dim / 2; }
  // body(pair, its index) for each pair of this lane.
  void for_pairs(const std::function<void(Pair&, const Reg<u32>&)>& body);

  Builder& b_;
  const KvScatterSpec& s_;
  std::vector<Pair> pairs_;
};

Head::Head(Builder& b, const KvScatterSpec& spec) : b_(b), s_(spec) {
  for (uint32_t first = 0; first < n_pairs(); first += kWarpSize) pairs_.push_back(pair_of(first));
}

// A lane's pair of those from the first-th on, a warp's.
Pair Head::pair_of(uint32_t first) {
  const uint32_t turned = s_.rope_dims / 2;
  const bool none_turns = first >= turned, all_turn = turned == n_pairs() || first + kWarpSize <= turned;
  const auto pair = [&](const Reg<u32>& a, const Reg<u32>& b, const std::optional<Pred>& turns) {
    return Pair{a, b, !none_turns, turns, b_.var("a", 0.0f), b_.var("b", 0.0f)};
  };
  const bool has_neighbours = s_.pairing == RopePairing::kInterleaved;
  Reg<u32> index = b_.lane() + first;
  if (all_turn && !has_neighbours) return pair(index, index + turned, {});
  Reg<u32> even = index * 2, odd = even + 1;
  if (all_turn || none_turns) return pair(even, odd, {});
  Pred turns = index < turned;
  if (has_neighbours) return pair(even, odd, turns);
  return pair(b_.select(turns, index, even), b_.select(turns, index + turned, odd), turns);
}

void Head::for_pairs(const std::function<void(Pair&, const Reg<u32>&)>& body) {
  for (uint32_t step = 0; step < pairs_.size(); ++step) {
    Reg<u32> index = b_.lane() + step * kWarpSize;
    const auto run = [&] { body(pairs_[step], index); };
    if ((step + 1) * kWarpSize <= n_pairs())
      run();
    else
      b_.if_(index < n_pairs(), run);
  }
}

void Head::load(const Global<f32>& from) {
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    pair.a = from.load(pair.first);
    pair.b = from.load(pair.second);
  });
}

void Head::normalise(const Global<f32>& gamma) {
  Var<f32> squares = b_.var("squares", 0.0f);
  for (Pair& pair : pairs_) squares = b_.fma(pair.b, pair.b, b_.fma(pair.a, pair.a, squares));
  Reg<f32> mean = warp_sum(b_, squares) * (1.0f / static_cast<float>(s_.head_dim));
  Reg<f32> factor = b_.rsqrt(mean + s_.eps);
  for_pairs([&](Pair& pair, const Reg<u32>&) {
    pair.a *= factor * gamma.load(pair.first, kReadOnly);
    pair.b *= factor * gamma.load(pair.second, kReadOnly);
  });
}

void Head::rotate(const Const<u64>& turns, const Reg<u32>& position) {
  const float magnitude = static_cast<float>(s_.rope_magnitude);
  for_pairs([&](Pair& pair, const Reg<u32>& index) {
    const auto turn = [&] {
      const Rotation rotation = rotation_at(b_, turns.load(index), position);
      Reg<f32> a = pair.a * magnitude, c = pair.b * magnitude;
      pair.a = b_.fma(a, rotation.cosine, -(c * rotation.sine));
      pair.b = b_.fma(a, rotation.sine, c * rotation.cosine);
    };
    if (pair.turns)
      b_.if_(*pair.turns, turn);
    else if (pair.may_turn)
      turn();
  });
}

template <class T, Space S>
void Head::store(const Pointer<T, S>& to) {
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

// A lane's eight values of a head, zeros beyond it.
template <Space S>
std::vector<Reg<f32>> eight_of(Builder& b, const Pointer<f32, S>& head, uint32_t head_dim) {
  const uint32_t pieces = head_dim / 8;
  const Pointer<f32, S> own = head + b.min(b.lane(), pieces - 1) * 8;
  std::vector<Reg<f32>> values;
  for (uint32_t first : {0, 4}) {  // 16 bytes at a time: what heads are aligned to
    const Vec<f32, 4> loaded = own.template load<4>(first);
    for (int i = 0; i < 4; ++i)
      values.push_back(pieces == kWarpSize ? loaded[i] : b.select(b.lane() < pieces, loaded[i], 0.0f));
  }
  return values;
}

// Ends the threads of a column whose position the cache does not have, one of which sets the error word.
Reg<u32> checked_position(Builder& b, const KvScatterSpec& s, const KvScatterAddresses& at, const VirtualBlock& block,
                          const Reg<u32>& column) {
  Reg<u32> position = block.load_uniform(at.positions, column).named("position");
  b.if_(position >= s.max_positions, [&] {
    b.if_((block.block() | block.thread()) == 0,
          [&] { report_error(b, at.error, KernelError::kPositionOutOfRange, position, s.max_positions, column); });
    b.return_();
  });
  return position;
}

// Ends the warps if the cache has no such page.
void leave_if_outside(Builder& b, const KvScatterAddresses& at, const Reg<u32>& page, const Reg<u32>& column) {
  b.if_(page >= at.n_pages, [&] {
    b.if_(b.lane() == 0, [&] { report_error(b, at.error, KernelError::kPageOutOfRange, page, at.n_pages, column); });
    b.return_();
  });
}

Cost cost_of(const KvScatterSpec& s) {
  const uint64_t q = uint64_t{s.columns} * s.n_heads * s.head_dim, kv = uint64_t{s.columns} * s.n_kv_heads * s.head_dim;
  const uint64_t stored = KvLayout{s.k_type, 1, s.head_dim}.row_bytes() + KvLayout{s.v_type, 1, s.head_dim}.row_bytes();
  return {.bytes = q * 8 + kv * 2 * 4 + uint64_t{s.columns} * s.n_kv_heads * stored,
          .flops = (q + kv) * (s.qk_norm ? 7 : 3)};
}

}  // namespace

std::string name_of(const KvScatterSpec& s) {
  char name[128];
  std::snprintf(name, sizeof name, "kv_scatter_h%u_kv%u_d%u_s%u_c%u%s%s%s_%08x", s.n_heads, s.n_kv_heads, s.head_dim,
                s.max_positions, s.columns, s.one_sequence ? "_one" : "", s.qk_norm ? "_norm" : "",
                kv_suffix(s.k_type, s.v_type).data(), hash_of(s));
  return name;
}

Launch kv_scatter_launch(const KvScatterSpec& s) {
  return {{ceil_div(s.n_heads + 2 * s.n_kv_heads, kScatterWarps), s.columns}, kScatterWarps * kWarpSize};
}

void kv_scatter_body(Builder& b, const KvScatterSpec& s, const KvScatterAddresses& at, const VirtualBlock& block) {
  const uint64_t q_width = uint64_t{s.n_heads} * s.head_dim, kv_width = uint64_t{s.n_kv_heads} * s.head_dim;
  std::vector<uint64_t> table;
  for (double frequency : s.frequencies) table.push_back(turns_per_position(frequency));
  Const<u64> turns = b.constant<u64>("turns", table);

  Reg<u32> column = block.block(Axis::kY).named("column");
  leave_beyond_columns(b, at.n_columns, column);
  const Global<u32> pages = page_table(b, at.page_tables, s.one_sequence ? Index(0) : Index(column));
  Reg<u32> position = checked_position(b, s, at, block, column);
  Reg<u32> page = block.uniform(pages.load(position / kPagePositions, kReadOnly)).named("page");
  const auto row = [&](KvType type, const Global<u8>& all, const Reg<u32>& head) {
    return KvRows(b, {type, s.n_kv_heads, s.head_dim}, all, head).in_page(page).from_row(position % kPagePositions);
  };

  Reg<u32> index = (block.block() * kScatterWarps + block.warp()).named("head");
  Reg<u32> key_index = index - s.n_heads, value_index = key_index - s.n_kv_heads;
  b.return_if(index >= s.n_heads + 2 * s.n_kv_heads);
  Pred is_query = index < s.n_heads, is_key = key_index < s.n_kv_heads, is_value = value_index < s.n_kv_heads;
  const Global<f32> query = at.q + wide(column) * q_width + index * s.head_dim;
  const Global<f32> key = at.k + wide(column) * kv_width + key_index * s.head_dim;
  const Global<f32> value = at.v + wide(column) * kv_width + value_index * s.head_dim;
  const auto either = [&](const Pred& is_first, const auto& first, const auto& second) {
    return b.select(is_first, b.address(first), b.address(second));
  };
  Head head(b, s);
  head.load(b.pointer<f32>(b.select(is_query, b.address(query), either(is_key, key, value)), 4));
  b.if_(!is_value, [&] {
    if (s.qk_norm)
      b.region("norm", [&] { head.normalise(b.pointer<f32>(either(is_query, at.gamma[0], at.gamma[1]), 4)); });
    b.region("rope", [&] { head.rotate(turns, position); });
  });
  b.if_(is_query, [&] { head.store(query); });
  leave_if_outside(b, at, page, column);
  if (s.k_type == KvType::kF16 && s.v_type == KvType::kF16)
    return b.if_(!is_query, [&] {
      const Global<u8> pages_of = b.pointer<u8>(either(is_key, at.k_pages, at.v_pages), 16);
      head.store(row(KvType::kF16, pages_of, b.select(is_key, key_index, value_index)).halves());
    });
  b.if_(is_key, [&] {
    const KvRows to = row(s.k_type, at.k_pages, key_index);
    if (s.k_type == KvType::kF16) return head.store(to.halves());
    const Shared<f32> own = block.shared<f32>("keys", kScatterWarps * s.head_dim) + block.warp() * s.head_dim;
    head.store(own);  // pairs, out of which come neighbours
    b.warp_barrier();
    store_codes(b, to, eight_of(b, own, s.head_dim));
  });
  b.if_(is_value, [&] {
    const KvRows to = row(s.v_type, at.v_pages, value_index);
    if (s.v_type != KvType::kF16) return store_codes(b, to, eight_of(b, value, s.head_dim));
    head.store(to.halves());
  });
}

Kernel kv_scatter_kernel(const KvScatterSpec& s, Target target, const BodyOf<KvScatterAddresses>& body) {
  check(s);
  const uint64_t q_width = uint64_t{s.n_heads} * s.head_dim, kv_width = uint64_t{s.n_kv_heads} * s.head_dim;
  Builder b(name_of(s), target);
  Global<f32> q = b.global<f32>("q", s.columns * q_width);
  Global<f32> k = b.global<f32>("k", s.columns * kv_width), v = b.global<f32>("v", s.columns * kv_width);
  std::vector<Global<f32>> gamma;
  if (s.qk_norm) gamma.push_back(b.global<f32>("q_gamma", s.head_dim));
  if (s.qk_norm) gamma.push_back(b.global<f32>("k_gamma", s.head_dim));
  Global<u32> positions = b.global<u32>("positions", s.columns);
  Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
  Global<u64> page_tables = b.global<u64>("page_tables", s.one_sequence ? 1 : s.columns);
  Reg<u32> n_pages = b.param<u32>("n_pages");
  Global<u32> error = b.global<u32>("error", kErrorWords);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  body(b, {q, k, v, gamma, positions, k_pages, v_pages, page_tables, n_pages, error, n_columns}, VirtualBlock(b));
  return b.finish(kv_scatter_launch(s), cost_of(s));
}

Kernel kv_scatter(const KvScatterSpec& spec, Target target) {
  return kv_scatter_kernel(spec, target, [&](Builder& b, const KvScatterAddresses& at, const VirtualBlock& block) {
    kv_scatter_body(b, spec, at, block);
  });
}

// The position and the table's address, then the head and the page; the norm if there is one.
Flow kv_scatter_flow(const KvScatterSpec& s) {
  const Waits norm = s.qk_norm ? Waits{.common = 1, .local = 5} : Waits{};
  return {.pieces = kv_scatter_launch(s).blocks.total(),
          .warps = kScatterWarps,
          .blocks_per_sm = 8,
          .piece = Waits{.common = 1, .l2 = 1} + norm};
}

}  // namespace warpchat
