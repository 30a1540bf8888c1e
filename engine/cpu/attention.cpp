// Each row attends to fixed stretches of its past, whose results are added in order. So its bits depend neither on how
// the work is split, nor on the length of a pass, nor on other runs. With many query rows a task is a block of rows
// over their whole past. Otherwise it is a stretch, whose result is stored until it is added.
#include "engine/cpu/attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "engine/cpu/kv_codes.h"
#include "engine/cpu/rounding.h"
#include "engine/cpu/thread_pool.h"
#include "engine/memory_budget.h"

namespace warpchat {
namespace {

constexpr uint32_t kStretch = 256;           // positions
constexpr uint32_t kPartials = 512;          // pending stretches of one column
constexpr uint32_t kBlocksPerThread = 4;     // enough to balance threads
constexpr uint32_t kWorthSharing = 1 << 15;  // floats to add; below, starting threads costs more

static_assert(kKeyTile == kPagePositions && kStretch % kKeyTile == 0);

// Bytes of a row of that many values: floats, f16, or codes with their scales.
uint64_t row_bytes(KvType type, uint64_t width, uint32_t head_dim) {
  switch (type) {
    case KvType::kF32:
      return width * sizeof(float);
    case KvType::kF16:
      return width * sizeof(uint16_t);
    case KvType::kQ8_0:
      break;
  }
  return width + code_groups(head_dim) * sizeof(float);
}

// A position's key and value of one layer and KV head; values are padded to whole blocks.
uint64_t position_bytes(KvTypes types, uint32_t head_dim) {
  return row_bytes(types.k, head_dim, head_dim) + row_bytes(types.v, round_up(head_dim, kKeyBlock), head_dim);
}

uint64_t sum_floats(uint32_t value_stride) { return value_stride + 2; }  // per row: AttendSums

AttendSums sums_at(float* memory, uint32_t rows, uint32_t value_stride) {
  float* highest = memory + uint64_t{rows} * value_stride;
  return {memory, highest, highest + rows};
}

AttendSums from_row(const AttendSums& sums, uint32_t row, uint32_t value_stride) {
  return {sums.out + uint64_t{row} * value_stride, sums.highest + row, sums.sum + row};
}

// Scratch for kAttentionRows rows: queries and limits, the sums of one stretch and of all.
uint64_t scratch_floats(uint32_t head_dim, uint32_t value_stride) {
  const uint64_t row = head_dim + 1 + 2 * sum_floats(value_stride);
  return (attend_scratch(value_stride) + kAttentionRows * row + 15) / 16 * 16;
}

}  // namespace

struct CachedAttention::Work {
  uint32_t layer;
  CachedRun run;
  const float* q;
  float* mixed;
  uint32_t group;   // query heads per KV head
  uint32_t parts;   // per KV head: blocks of rows, or stretches of the past
  float* partials;  // results of stretches: [n_kv_heads, parts] sums of all rows; null with blocks
  uint32_t rows() const { return run.columns * group; }  // per KV head: row = column * group + head in the group
  uint32_t end() const { return run.position + run.columns; }
  uint32_t column_of(uint32_t row) const { return row / group; }
  // Index of a row's head in [columns, n_kv_heads * group].
  uint64_t head_of(uint32_t row, uint32_t kv_head, uint32_t n_kv_heads) const {
    return (uint64_t{column_of(row)} * n_kv_heads + kv_head) * group + row % group;
  }
};

// Query rows of a KV head, as input of the kernels.
struct CachedAttention::Rows {
  HeadCache cache;
  const float* queries;
  const uint32_t* limits;
  uint32_t n;
};

uint64_t CachedAttention::cache_bytes_per_position(const ModelConfig& config, KvTypes types) {
  uint64_t bytes = 0;
  const uint64_t heads = uint64_t{config.n_layers - config.n_layers_with(Mixer::kDeltaNet)} * config.n_kv_heads;
  return __builtin_mul_overflow(heads, position_bytes(types, config.head_dim), &bytes) ? UINT64_MAX : bytes;
}

uint64_t CachedAttention::partial_bytes(const ModelConfig& config) {
  const uint64_t row = sum_floats(round_up(config.head_dim, kKeyBlock));
  return saturating_product({kPartials, config.n_heads, row, sizeof(float)});
}

CachedAttention::CachedAttention(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config,
                                 uint32_t context, uint32_t sequences, KvTypes types, uint32_t n_pages)
    : pool_(pool),
      kernels_(kernels),
      n_heads_(config.n_heads),
      n_kv_heads_(config.n_kv_heads),
      head_dim_(config.head_dim),
      value_stride_(round_up(config.head_dim, kKeyBlock)),
      types_(types),
      key_bytes_(kPagePositions * row_bytes(types.k, head_dim_, head_dim_)),
      page_bytes_(kPagePositions * cache_bytes_per_position(config, types)),
      n_pages_(n_pages > 0 ? n_pages : sequences * pages_of(context)),
      tables_(sequences) {
  memory_ = Pages(saturating_product({n_pages_, page_bytes_}), "the KV cache");
  uint32_t page = 0;
  for (std::vector<uint32_t>& table : tables_)
    while (page < n_pages_ && table.size() < pages_of(context)) table.push_back(page++);
  partials_ = Pages(partial_bytes(config), "attention");
  scratch_ = Pages(pool.n_threads() * scratch_floats(head_dim_, value_stride_) * sizeof(float), "attention");
}

void CachedAttention::set_pages(uint32_t sequence, std::span<const uint32_t> pages) {
  for ([[maybe_unused]] const uint32_t page : pages) assert(page < n_pages_);
  tables_.at(sequence).assign(pages.begin(), pages.end());
}

void CachedAttention::copy_page(uint32_t from, uint32_t to) {
  assert(from < n_pages_ && to < n_pages_);
  std::memcpy(memory_.as<uint8_t>() + to * page_bytes_, memory_.as<uint8_t>() + from * page_bytes_, page_bytes_);
}

uint64_t CachedAttention::bytes_per_key() const { return position_bytes(types_, head_dim_); }

HeadTile CachedAttention::tile(uint32_t layer, uint32_t kv_head, uint32_t page) const {
  const uint64_t tile_bytes = kPagePositions * bytes_per_key();
  uint8_t* start = memory_.as<uint8_t>() + page * page_bytes_ + (uint64_t{layer} * n_kv_heads_ + kv_head) * tile_bytes;
  HeadTile tile{nullptr, nullptr, head_dim_, value_stride_, {}, {}};
  const auto place = [](KvType type, uint8_t* at, uint32_t width, uint16_t*& halves, float*& floats, HeadCodes& codes) {
    if (type == KvType::kF16)
      halves = reinterpret_cast<uint16_t*>(at);
    else if (type == KvType::kF32)
      floats = reinterpret_cast<float*>(at);
    else
      codes = {reinterpret_cast<int8_t*>(at), reinterpret_cast<float*>(at + uint64_t{kPagePositions} * width)};
  };
  place(types_.k, start, head_dim_, tile.keys, tile.key_floats, tile.key_codes);
  place(types_.v, start + key_bytes_, value_stride_, tile.values, tile.value_floats, tile.value_codes);
  return tile;
}

void CachedAttention::store(uint32_t layer, uint32_t sequence, uint32_t kv_head, uint32_t position, const float* key,
                            const float* value) {
  const HeadTile to = tile(layer, kv_head, tables_[sequence][position / kPagePositions]);
  position %= kPagePositions;
  kernels_.store_head(to, position, key, value);
  if (types_.k == KvType::kQ8_0) store_key_codes(to, position, key);
  if (types_.v == KvType::kQ8_0) store_value_codes(to, position, value);
}

float* CachedAttention::scratch(uint32_t thread) const {
  return scratch_.as<float>() + thread * scratch_floats(head_dim_, value_stride_);
}

AttendSums CachedAttention::partial(const Work& work, uint32_t kv_head, uint32_t stretch) const {
  const uint64_t floats = work.rows() * sum_floats(value_stride_);
  return sums_at(work.partials + (uint64_t{kv_head} * work.parts + stretch) * floats, work.rows(), value_stride_);
}

void CachedAttention::run(uint32_t layer, std::span<const CachedRun> runs, const float* q, float* mixed) {
  std::vector<Work> works;  // as many at once as stretches' results fit
  uint32_t n_partials = 0;
  const uint32_t group = n_heads_ / n_kv_heads_;
  for (const CachedRun& whole : runs) {
    for (uint32_t done = 0; done < whole.columns;) {
      Work work{layer, whole, q, mixed, group, ceil_div(whole.columns * group, kAttentionRows), nullptr};
      const uint32_t n_stretches = ceil_div(work.end(), kStretch);
      if (work.parts * n_kv_heads_ < kBlocksPerThread * pool_.n_threads() && n_stretches <= kPartials) {
        if (n_partials + n_stretches > kPartials) {
          run(works);
          works.clear();
          n_partials = 0;
        }
        work.run.position += done;
        work.run.columns = std::min(whole.columns - done, (kPartials - n_partials) / n_stretches);
        work.parts = ceil_div(work.end(), kStretch);
        work.partials = partials_.as<float>() + uint64_t{n_partials} * n_heads_ * sum_floats(value_stride_);
        n_partials += work.run.columns * work.parts;
      }
      works.push_back(work);
      done += work.run.columns;
      q += uint64_t{work.run.columns} * n_heads_ * head_dim_;
      mixed += uint64_t{work.run.columns} * n_heads_ * head_dim_;
    }
  }
  run(works);
}

void CachedAttention::run(std::span<const Work> works) {
  uint32_t n_tasks = 0;
  uint64_t to_add = 0;  // floats
  for (const Work& work : works) {
    n_tasks += work.parts * n_kv_heads_;
    if (work.partials != nullptr) to_add += uint64_t{work.rows()} * n_kv_heads_ * work.parts * value_stride_;
  }
  pool_.for_each(n_tasks, [&](uint32_t task, uint32_t thread) {
    const Work* work = works.data();
    for (; task >= work->parts * n_kv_heads_; ++work) task -= work->parts * n_kv_heads_;
    const uint32_t kv_head = task % n_kv_heads_, part = task / n_kv_heads_;
    if (work->partials != nullptr)
      run_stretch(*work, kv_head, part, scratch(thread));
    else
      run_block(*work, kv_head, work->parts - 1 - part, scratch(thread));  // longest first
  });
  const uint32_t tasks = to_add < kWorthSharing ? 1 : n_kv_heads_;
  pool_.for_each(to_add > 0 ? tasks : 0, [&](uint32_t task) {
    for (const Work& work : works)
      for (uint32_t kv_head = task; work.partials != nullptr && kv_head < n_kv_heads_; kv_head += tasks)
        add_stretches(work, kv_head);
  });
}

CachedAttention::Rows CachedAttention::rows_of(const Work& work, uint32_t kv_head, uint32_t first_row,
                                               float* memory) const {
  const uint32_t n = std::min(kAttentionRows, work.rows() - first_row);
  float* queries = memory + attend_scratch(value_stride_);
  auto* limits = reinterpret_cast<uint32_t*>(queries + uint64_t{kAttentionRows} * head_dim_);
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim_)));
  for (uint32_t r = 0; r < n; ++r) {
    const float* q = work.q + work.head_of(first_row + r, kv_head, n_kv_heads_) * head_dim_;
    for (uint32_t d = 0; d < head_dim_; ++d) queries[r * head_dim_ + d] = q[d] * scale;
    limits[r] = work.run.position + work.column_of(first_row + r) + 1;
  }
  return {{tile(work.layer, kv_head, 0), page_bytes_, tables_[work.run.sequence].data()}, queries, limits, n};
}

void CachedAttention::attend(const Rows& rows, uint32_t stretch, const AttendSums& to, float* memory) const {
  const uint32_t first = stretch * kStretch, end = std::min(first + kStretch, rows.limits[rows.n - 1]);
  kernels_.attend({rows.cache, rows.queries, rows.limits, rows.n, first, end, to, memory});
}

void CachedAttention::run_stretch(const Work& work, uint32_t kv_head, uint32_t stretch, float* memory) const {
  const AttendSums to = partial(work, kv_head, stretch);
  for (uint32_t row = 0; row < work.rows(); row += kAttentionRows)
    attend(rows_of(work, kv_head, row, memory), stretch, from_row(to, row, value_stride_), memory);
}

void CachedAttention::run_block(const Work& work, uint32_t kv_head, uint32_t block, float* memory) const {
  const uint32_t first_row = block * kAttentionRows;
  const Rows rows = rows_of(work, kv_head, first_row, memory);
  float* sums = memory + attend_scratch(value_stride_) + kAttentionRows * uint64_t{head_dim_ + 1};
  const AttendSums all = sums_at(sums, rows.n, value_stride_);
  const AttendSums more = sums_at(sums + rows.n * sum_floats(value_stride_), rows.n, value_stride_);
  attend(rows, 0, all, memory);
  for (uint32_t stretch = 1; stretch < ceil_div(rows.limits[rows.n - 1], kStretch); ++stretch) {
    attend(rows, stretch, more, memory);
    kernels_.add_sums(all, more, rows.n, value_stride_);
  }
  mix(work, kv_head, first_row, rows.n, all);
}

void CachedAttention::add_stretches(const Work& work, uint32_t kv_head) const {
  const AttendSums all = partial(work, kv_head, 0);
  for (uint32_t stretch = 1; stretch < work.parts; ++stretch)
    kernels_.add_sums(all, partial(work, kv_head, stretch), work.rows(), value_stride_);
  mix(work, kv_head, 0, work.rows(), all);
}

void CachedAttention::mix(const Work& work, uint32_t kv_head, uint32_t first_row, uint32_t rows,
                          const AttendSums& sums) const {
  for (uint32_t r = 0; r < rows; ++r) {
    float* mixed = work.mixed + work.head_of(first_row + r, kv_head, n_kv_heads_) * head_dim_;
    const float inverse = 1.0f / sums.sum[r];
    for (uint32_t d = 0; d < head_dim_; ++d) mixed[d] = sums.out[uint64_t{r} * value_stride_ + d] * inverse;
  }
}

}  // namespace warpchat
