// The KV cache, in fp16 or q8_0, and the attention over it.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/pages.h"
#include "kernels/kv_cache.h"
#include "models/model_config.h"

namespace warpchat {

class ThreadPool;

class CachedAttention {
 public:
  // Each sequence has a cache of its own in every layer: that of a layer is layer + sequence * n_layers below.
  CachedAttention(ThreadPool& pool, const CpuKernels& kernels, const ModelConfig& config, uint32_t context,
                  uint32_t sequences = 1, KvTypes types = {});

  // All layers of a sequence together; saturates.
  static uint64_t cache_bytes_per_position(const ModelConfig& config, KvTypes types = {});
  static uint64_t partial_bytes(const ModelConfig& config);  // of what does not grow with the context; saturates

  uint64_t n_bytes() const { return keys_.n_bytes() + values_.n_bytes(); }  // of the caches of all sequences

  // key, value: [head_dim], already rotated.
  void store(uint32_t layer, uint32_t kv_head, uint32_t position, const float* key, const float* value);

  // q: [columns, n_heads * head_dim] at consecutive positions from `position`, whose keys and values are stored;
  // mixed: the same shape. Every query sees the positions up to its own.
  void run(uint32_t layer, const float* q, uint32_t position, uint32_t columns, float* mixed);

 private:
  struct Pass;     // what run was asked for, and how it is cut
  struct Partial;  // rows' results over one stretch of positions
  HeadCache head(uint32_t layer, uint32_t kv_head) const;
  Partial partial(const Pass& pass, uint32_t kv_head, uint32_t chunk) const;
  void attend_rows(const Pass& pass, uint32_t kv_head, uint32_t first_row, uint32_t rows, uint32_t first, uint32_t end,
                   const Partial& to, float* scratch) const;
  void run_block(const Pass& pass, uint32_t kv_head, uint32_t block, float* scratch) const;
  void combine(const Pass& pass, uint32_t kv_head, uint32_t row) const;
  float* mixed_row(const Pass& pass, uint32_t kv_head, uint32_t row) const;
  float* scratch(uint32_t thread) const;

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  uint32_t n_heads_, n_kv_heads_, head_dim_, value_stride_;
  KvTypes types_;
  uint64_t padded_context_;  // positions, rounded up to whole tiles
  Pages keys_, values_;      // [n_layers, n_kv_heads] times HeadCache's arrays
  Pages partials_, scratch_;
};

}  // namespace warpchat
