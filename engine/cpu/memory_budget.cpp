// Sizes as saturating 64-bit products, the system's limits, and the sentence that compares them.
#include "engine/cpu/memory_budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>

#include "engine/cpu/attention.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/products.h"

namespace warpchat {
namespace {

uint64_t plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

uint64_t product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (uint64_t factor : factors)
    if (__builtin_mul_overflow(result, factor, &result)) return UINT64_MAX;
  return result;
}

std::string in_gib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

// The number after a name in a file of "name: number kB" or "name number" lines; UINT64_MAX if it is not there.
uint64_t read_field(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, name.size(), name) == 0) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  return UINT64_MAX;
}

uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : UINT64_MAX;  // "max" is no number: no limit
}

uint64_t available_in_control_group() {
  const uint64_t limit = read_number("/sys/fs/cgroup/memory.max"), used = read_number("/sys/fs/cgroup/memory.current");
  if (limit == UINT64_MAX || used == UINT64_MAX) return UINT64_MAX;
  const uint64_t cached = read_field("/sys/fs/cgroup/memory.stat", "file ");  // can be given back
  const uint64_t held = cached == UINT64_MAX || cached > used ? used : used - cached;
  return limit > held ? limit - held : 0;
}

uint64_t available_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const uint64_t used_kib = read_field("/proc/self/status", "VmSize:");
  const uint64_t used = used_kib == UINT64_MAX ? 0 : used_kib * 1024;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

uint32_t widest_input(const ModelConfig& config) {
  return std::max({config.hidden, config.ffn, config.n_heads * config.head_dim});
}

uint64_t MemoryBudget::total(uint32_t context) const {
  return plus(plus(weights_bytes, activation_bytes), product({cache_bytes_per_position, context}));
}

MemoryBudget memory_budget(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                           uint32_t max_columns) {
  MemoryBudget budget{};
  const auto add = [&](const TensorInfo* t) {
    budget.weights_bytes = plus(budget.weights_bytes, plus(PackedMatrix::bytes_needed(kernels, *t), 63) / 64 * 64);
  };
  for (const LayerTensors& layer : tensors.layers)
    for (const TensorInfo* t :
         {layer.attn_q, layer.attn_k, layer.attn_v, layer.attn_output, layer.ffn_gate, layer.ffn_up, layer.ffn_down})
      add(t);
  add(tensors.output);
  budget.cache_bytes_per_position = CachedAttention::cache_bytes_per_position(config);
  const uint64_t q_width = product({config.n_heads, config.head_dim});
  const uint64_t kv_width = product({config.n_kv_heads, config.head_dim});
  const uint64_t values = plus(plus(config.hidden, config.ffn), plus(2 * q_width, 2 * kv_width));
  budget.activation_bytes =
      plus(product({max_columns, values, sizeof(float)}), product({config.n_vocab, sizeof(float)}));
  budget.activation_bytes =
      plus(budget.activation_bytes, ProductRunner::bytes_needed(max_columns, widest_input(config)));
  return budget;
}

uint64_t available_memory() {
  const uint64_t free_kib = read_field("/proc/meminfo", "MemAvailable:");
  const uint64_t free = free_kib == UINT64_MAX ? UINT64_MAX : free_kib * 1024;
  return std::min({free, available_in_control_group(), available_address_space()});
}

void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available) {
  const uint64_t needed = budget.total(context);
  if (needed <= available) return;
  std::string sentence = "the model needs " + in_gib(needed) + " of memory (" + in_gib(budget.weights_bytes) +
                         " weights, " + in_gib(product({budget.cache_bytes_per_position, context})) +
                         " for a context of " + std::to_string(context) + "), " + in_gib(available) +
                         " are available; ";
  const uint64_t fixed = budget.total(0);
  const uint64_t fits =
      fixed < available ? (available - fixed) / std::max<uint64_t>(1, budget.cache_bytes_per_position) : 0;
  throw Error(sentence + (fits > 0 ? "the largest --ctx-size that fits is " + std::to_string(fits)
                                   : "no --ctx-size fits, use a smaller model"));
}

}  // namespace warpchat
