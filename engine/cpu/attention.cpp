// Two ways to cut the work. A few new positions (decoding): every KV head's past in stretches, whose results are
// combined in order. Many (prefill): blocks of query rows over their whole past. Neither depends on the threads.
#include "engine/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cpu/kv_codes.h"
#include "engine/cpu/thread_pool.h"
#include "engine/memory_budget.h"

namespace warpchat {
namespace {

constexpr uint32_t kFewColumns = 8;   // up to here the past is cut into stretches
constexpr uint32_t kMostChunks = 64;  // stretches of a KV head's past

uint32_t round_up(uint32_t n, uint32_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Of a row of so many values: halves, or codes and their scales.
uint64_t row_bytes(KvType type, uint64_t width, uint32_t head_dim) {
  return type == KvType::kF16 ? width * sizeof(uint16_t) : width + code_groups(head_dim) * sizeof(float);
}

uint64_t scratch_floats(uint32_t head_dim, uint32_t value_stride) {
  const uint64_t row = head_dim + value_stride + 3;  // query, output; limit, highest, sum
  return (attend_scratch(value_stride) + kAttentionRows * row + 15) / 16 * 16;
}

}  // namespace

struct CachedAttention::Pass {
  uint32_t layer, position, columns;
  const float* q;
  float* mixed;
  uint32_t group;                                    // query heads of a KV head
  uint32_t chunk;                                    // positions of a stretch
  uint32_t chunks;                                   // stretches, with few columns
  uint32_t rows() const { return columns * group; }  // of a KV head: row = column * group + head in the group
  uint32_t end() const { return position + columns; }
};

struct CachedAttention::Partial {
  float *out, *highest, *sum;  // [rows, value_stride], [rows], [rows]
};

uint64_t CachedAttention::cache_bytes_per_position(const ModelConfig& config, KvTypes types) {
  const uint64_t rows = row_bytes(types.k, config.head_dim, config.head_dim) +
                        row_bytes(types.v, round_up(config.head_dim, kKeyBlock), config.head_dim);
  uint64_t bytes = 0;
  return __builtin_mul_overflow(uint64_t{config.n_layers} * config.n_kv_heads, rows, &bytes) ? UINT64_MAX : bytes;
}

uint64_t CachedAttention::partial_bytes(const ModelConfig& config) {
  const uint64_t row = uint64_t{round_up(config.head_dim, kKeyBlock)} + 2;
  return saturating_product({kMostChunks, kFewColumns, config.n_heads, row, sizeof(float)});
}

CachedAttention::CachedAttention(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config,
                                 uint32_t context, uint32_t sequences, KvTypes types)
    : pool_(pool),
      kernels_(kernels),
      n_heads_(config.n_heads),
      n_kv_heads_(config.n_kv_heads),
      head_dim_(config.head_dim),
      value_stride_(round_up(config.head_dim, kKeyBlock)),
      types_(types),
      padded_context_((uint64_t{context} + kKeyTile - 1) / kKeyTile * kKeyTile) {
  const uint64_t heads = uint64_t{config.n_layers} * sequences * n_kv_heads_;
  keys_ = Pages(heads * padded_context_ * row_bytes(types.k, head_dim_, head_dim_), "the keys of the KV cache");
  values_ = Pages(heads * padded_context_ * row_bytes(types.v, value_stride_, head_dim_), "the values of the KV cache");
  partials_ = Pages(partial_bytes(config), "attention");
  scratch_ = Pages(pool.n_threads() * scratch_floats(head_dim_, value_stride_) * sizeof(float), "attention");
}

HeadCache CachedAttention::head(uint32_t layer, uint32_t kv_head) const {
  const uint64_t before = (uint64_t{layer} * n_kv_heads_ + kv_head) * padded_context_;
  HeadCache cache{nullptr, nullptr, head_dim_, value_stride_, {}, {}};
  const auto place = [&](KvType type, const Pages& pages, uint32_t width, uint16_t*& halves, HeadCodes& codes) {
    uint8_t* start = pages.as<uint8_t>() + before * row_bytes(type, width, head_dim_);
    if (type == KvType::kF16)
      halves = reinterpret_cast<uint16_t*>(start);
    else
      codes = {reinterpret_cast<int8_t*>(start), reinterpret_cast<float*>(start + padded_context_ * width)};
  };
  place(types_.k, keys_, head_dim_, cache.keys, cache.key_codes);
  place(types_.v, values_, value_stride_, cache.values, cache.value_codes);
  return cache;
}

void CachedAttention::store(uint32_t layer, uint32_t kv_head, uint32_t position, const float* key, const float* value) {
  const HeadCache cache = head(layer, kv_head);
  kernels_.store_head(cache, position, key, value);
  if (cache.keys == nullptr) store_key_codes(cache, position, key);
  if (cache.values == nullptr) store_value_codes(cache, position, value);
}

float* CachedAttention::scratch(uint32_t thread) const {
  return scratch_.as<float>() + thread * scratch_floats(head_dim_, value_stride_);
}

float* CachedAttention::mixed_row(const Pass& pass, uint32_t kv_head, uint32_t row) const {
  const uint64_t column = row / pass.group, h = kv_head * pass.group + row % pass.group;
  return pass.mixed + (column * n_heads_ + h) * head_dim_;
}

CachedAttention::Partial CachedAttention::partial(const Pass& pass, uint32_t kv_head, uint32_t chunk) const {
  const uint64_t rows = pass.rows();
  float* out = partials_.as<float>() + (uint64_t{kv_head} * pass.chunks + chunk) * rows * (value_stride_ + 2);
  return {out, out + rows * value_stride_, out + rows * (value_stride_ + 1)};
}

void CachedAttention::run(uint32_t layer, const float* q, uint32_t position, uint32_t columns, float* mixed) {
  Pass pass{layer, position, columns, q, mixed, n_heads_ / n_kv_heads_, 0, 0};
  if (columns > kFewColumns) {
    const uint32_t blocks = (pass.rows() + kAttentionRows - 1) / kAttentionRows;
    return pool_.for_each(blocks * n_kv_heads_, [&](uint32_t task, uint32_t thread) {
      run_block(pass, task % n_kv_heads_, blocks - 1 - task / n_kv_heads_, scratch(thread));  // the longest first
    });
  }
  pass.chunk = round_up((pass.end() + kMostChunks - 1) / kMostChunks, kKeyTile);
  pass.chunks = (pass.end() + pass.chunk - 1) / pass.chunk;
  pool_.for_each(pass.chunks * n_kv_heads_, [&](uint32_t task, uint32_t thread) {
    const uint32_t kv_head = task % n_kv_heads_, chunk = task / n_kv_heads_, first = chunk * pass.chunk;
    const Partial to = partial(pass, kv_head, chunk);
    for (uint32_t row = 0; row < pass.rows(); row += kAttentionRows)
      attend_rows(pass, kv_head, row, std::min(kAttentionRows, pass.rows() - row), first,
                  std::min(first + pass.chunk, pass.end()),
                  {to.out + uint64_t{row} * value_stride_, to.highest + row, to.sum + row}, scratch(thread));
  });
  constexpr uint32_t kWorthSharing = 1 << 15;  // floats to add; below, starting the threads costs more
  const uint32_t n_rows = pass.rows() * n_kv_heads_;
  const uint32_t tasks = uint64_t{n_rows} * pass.chunks * value_stride_ < kWorthSharing ? 1 : n_kv_heads_;
  pool_.for_each(tasks, [&](uint32_t task) {
    for (uint32_t i = task * (n_rows / tasks); i < (task + 1) * (n_rows / tasks); ++i)
      combine(pass, i / pass.rows(), i % pass.rows());
  });
}

void CachedAttention::attend_rows(const Pass& pass, uint32_t kv_head, uint32_t first_row, uint32_t rows, uint32_t first,
                                  uint32_t end, const Partial& to, float* memory) const {
  float* queries = memory + attend_scratch(value_stride_);
  auto* limits = reinterpret_cast<uint32_t*>(queries + uint64_t{rows} * head_dim_);
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim_)));
  for (uint32_t r = 0; r < rows; ++r) {
    const uint64_t row = first_row + r, column = row / pass.group, h = kv_head * pass.group + row % pass.group;
    const float* q = pass.q + (column * n_heads_ + h) * head_dim_;
    for (uint32_t d = 0; d < head_dim_; ++d) queries[r * head_dim_ + d] = q[d] * scale;
    limits[r] = pass.position + static_cast<uint32_t>(column) + 1;
  }
  kernels_.attend({head(pass.layer, kv_head), queries, limits, rows, first, end, to.out, to.highest, to.sum, memory});
}

void CachedAttention::run_block(const Pass& pass, uint32_t kv_head, uint32_t block, float* memory) const {
  const uint32_t first_row = block * kAttentionRows, rows = std::min(kAttentionRows, pass.rows() - first_row);
  const uint32_t end = pass.position + (first_row + rows - 1) / pass.group + 1;
  float* out = memory + attend_scratch(value_stride_) + kAttentionRows * (head_dim_ + 1);
  const Partial to{out, out + uint64_t{rows} * value_stride_, out + uint64_t{rows} * (value_stride_ + 1)};
  attend_rows(pass, kv_head, first_row, rows, 0, end, to, memory);
  for (uint32_t r = 0; r < rows; ++r) {
    float* mixed = mixed_row(pass, kv_head, first_row + r);
    const float inverse = 1.0f / to.sum[r];
    for (uint32_t d = 0; d < head_dim_; ++d) mixed[d] = to.out[uint64_t{r} * value_stride_ + d] * inverse;
  }
}

void CachedAttention::combine(const Pass& pass, uint32_t kv_head, uint32_t row) const {
  float highest = -std::numeric_limits<float>::infinity(), sum = 0;
  for (uint32_t c = 0; c < pass.chunks; ++c) highest = std::max(highest, partial(pass, kv_head, c).highest[row]);
  float* mixed = mixed_row(pass, kv_head, row);
  std::fill_n(mixed, head_dim_, 0.0f);
  for (uint32_t c = 0; c < pass.chunks; ++c) {
    const Partial from = partial(pass, kv_head, c);
    const float weight = std::exp(from.highest[row] - highest);
    const float* out = from.out + uint64_t{row} * value_stride_;
    sum += from.sum[row] * weight;
    for (uint32_t d = 0; d < head_dim_; ++d) mixed[d] += out[d] * weight;
  }
  for (uint32_t d = 0; d < head_dim_; ++d) mixed[d] /= sum;
}

}  // namespace warpchat
