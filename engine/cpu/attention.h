// The KV cache in fp16, q8_0 or f32, and attention over it. The cache is a pool of pages of 64 positions. A page holds
// the keys and values of all layers and KV heads in [layers, n_kv_heads] tiles; a tile holds keys, then values, as in
// HeadTile, and scales after codes. A page table per sequence names its pages. The system provides memory when a page
// is first written.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/pages.h"
#include "kernels/attention/kv_cache.h"
#include "models/model_config.h"

namespace warpchat {

class ThreadPool;

struct CachedRun {  // consecutive positions of a sequence
  uint32_t sequence, position, columns;
};

class CachedAttention {
 public:
  // n_pages 0: enough for all sequences. Initially page tables assign pages in order: all of the first sequence, then
  // all of the second, as far as they exist.
  CachedAttention(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config, uint32_t context,
                  uint32_t sequences = 1, KvTypes types = {}, uint32_t n_pages = 0);

  // For all layers of a sequence; saturates.
  static uint64_t cache_bytes_per_position(const ModelConfig& config, KvTypes types = {});
  static uint64_t partial_bytes(const ModelConfig& config);  // memory independent of the context; saturates

  uint64_t bytes_per_key() const;                         // a position's key and value of one layer and KV head
  uint64_t n_bytes() const { return memory_.n_bytes(); }  // size of the page pool
  uint32_t n_pages() const { return n_pages_; }
  void set_pages(uint32_t sequence, std::span<const uint32_t> pages);
  uint64_t positions_of(uint32_t sequence) const { return uint64_t{tables_[sequence].size()} * kPagePositions; }
  void copy_page(uint32_t from, uint32_t to);

  // Here and below `layer` counts attention layers only. key, value: [head_dim], already rotated.
  void store(uint32_t layer, uint32_t sequence, uint32_t kv_head, uint32_t position, const float* key,
             const float* value);

  // q, mixed: [columns of all runs, n_heads * head_dim], run after run. Keys and values of the runs must be stored.
  // Every query sees its sequence's positions up to its own. A column's bits depend on its sequence alone.
  void run(uint32_t layer, std::span<const CachedRun> runs, const float* q, float* mixed);

 private:
  struct Work;  // a run and how it is split
  struct Rows;
  HeadTile tile(uint32_t layer, uint32_t kv_head, uint32_t page) const;
  AttendSums partial(const Work& work, uint32_t kv_head, uint32_t stretch) const;
  void run(std::span<const Work> works);
  Rows rows_of(const Work& work, uint32_t kv_head, uint32_t first_row, float* scratch) const;
  void attend(const Rows& rows, uint32_t stretch, const AttendSums& to, float* scratch) const;
  void run_stretch(const Work& work, uint32_t kv_head, uint32_t stretch, float* scratch) const;
  void run_block(const Work& work, uint32_t kv_head, uint32_t block, float* scratch) const;
  void add_stretches(const Work& work, uint32_t kv_head) const;
  void mix(const Work& work, uint32_t kv_head, uint32_t first_row, uint32_t rows, const AttendSums& sums) const;
  float* scratch(uint32_t thread) const;

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  uint32_t n_heads_, n_kv_heads_, head_dim_, value_stride_;
  KvTypes types_;
  uint64_t key_bytes_, page_bytes_;  // a tile's keys; a page
  uint32_t n_pages_;
  std::vector<std::vector<uint32_t>> tables_;  // page table of each sequence
  Pages memory_;                               // [n_pages, page_bytes]
  Pages partials_, scratch_;
};

}  // namespace warpchat
