// One warp per head.
#include "kernels/attention/kv_scatter.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/attention/head_scatter.h"
#include "kernels/attention/kv_rows.h"
#include "kernels/common/columns.h"
#include "kernels/common/error_word.h"
#include "kernels/common/name_hash.h"
#include "kernels/common/spec_check.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kScatterWarps = 4;

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
  if (!finite) throw Error(family + ": eps, the magnitude or a frequency is not finite");
}

// Hash of the parameters that the name does not spell out.
uint32_t hash_of(const KvScatterSpec& s) {
  uint32_t hash = name_hash("");
  const auto add = [&](const auto& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    hash = name_hash({bytes, sizeof bytes}, hash);
  };
  add(static_cast<uint32_t>(s.pairing)), add(s.rope_dims), add(s.rope_magnitude), add(s.eps);
  for (double frequency : s.frequencies) add(frequency);
  return hash;
}

// Exits the threads of a column whose position is beyond the cache; one of them sets the error word.
Reg<u32> checked_position(Builder& b, const KvScatterSpec& s, const Global<u32>& positions, const Global<u32>& error,
                          const Reg<u32>& column) {
  Reg<u32> position = positions.load(column, kReadOnly).named("position");
  b.if_(position >= s.max_positions, [&] {
    b.if_((b.block() | b.thread()) == 0,
          [&] { report_error(b, error, KernelError::kPositionOutOfRange, position, s.max_positions, column); });
    b.return_();
  });
  return position;
}

Cost cost_of(const KvScatterSpec& s) {
  const uint64_t q = uint64_t{s.columns} * s.n_heads * s.head_dim, kv = uint64_t{s.columns} * s.n_kv_heads * s.head_dim;
  const uint64_t stored = KvLayout{s.k_type, 1, s.head_dim}.row_bytes() + KvLayout{s.v_type, 1, s.head_dim}.row_bytes();
  return {.bytes = q * 8 + kv * 2 * 4 + uint64_t{s.columns} * s.n_kv_heads * stored,
          .flops = (q + kv) * (s.qk_norm ? 7 : 3)};
}

}  // namespace

Launch kv_scatter_launch(const KvScatterSpec& s) {
  return {{ceil_div(s.n_heads + 2 * s.n_kv_heads, kScatterWarps), s.columns}, kScatterWarps * kWarpSize};
}

std::string name_of(const KvScatterSpec& s) {
  char name[128];
  std::snprintf(name, sizeof name, "kv_scatter_h%u_kv%u_d%u_s%u_c%u%s%s%s_%08x", s.n_heads, s.n_kv_heads, s.head_dim,
                s.max_positions, s.columns, s.one_sequence ? "_one" : "", s.qk_norm ? "_norm" : "",
                kv_suffix(s.k_type, s.v_type).c_str(), hash_of(s));
  return name;
}

Kernel kv_scatter(const KvScatterSpec& s, Target target) {
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
  const auto n_columns = declare_columns(b, s.columns);

  Reg<u32> column = b.block(Axis::kY).named("column");
  leave_beyond_columns(b, n_columns, column);
  const Global<u32> pages = page_table(b, page_tables, s.one_sequence ? Index(0) : Index(column));
  Reg<u32> position = checked_position(b, s, positions, error, column);
  Reg<u32> page = b.uniform(pages.load(position / kPagePositions, kReadOnly)).named("page");
  Reg<u32> head = (b.block() * kScatterWarps + b.warp()).named("head");
  b.return_if(head >= s.n_heads + 2 * s.n_kv_heads);
  std::optional<Shared<f32>> staging;
  if (HeadScatter::stages(s))
    staging.emplace(b.shared<f32>("keys", kScatterWarps * s.head_dim) + b.warp() * s.head_dim);
  const HeadAddresses heads{q, k, v, gamma, k_pages, v_pages, n_pages, error};
  HeadScatter(b, {&s, 1}, {}, heads, column, position, page, staging).run(head, {});
  return b.finish(kv_scatter_launch(s), cost_of(s));
}

}  // namespace warpchat
