// Sizes as saturating 64-bit numbers, and the sentence that compares them with what there is.
#include "engine/memory_budget.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace warpchat {
namespace {

std::string in_gib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

uint64_t saturating_sum(std::initializer_list<uint64_t> terms) {
  uint64_t sum = 0;
  for (uint64_t term : terms)
    if (__builtin_add_overflow(sum, term, &sum)) return UINT64_MAX;
  return sum;
}

uint64_t saturating_product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (uint64_t factor : factors)
    if (__builtin_mul_overflow(result, factor, &result)) return UINT64_MAX;
  return result;
}

uint64_t MemoryBudget::total(uint32_t context) const {
  return saturating_sum({weights_bytes, activation_bytes, saturating_product({cache_bytes_per_position, context})});
}

void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available, std::string_view kind) {
  const uint64_t needed = budget.total(context);
  if (needed <= available) return;
  std::string sentence = "the model needs " + in_gib(needed) + " of " + std::string(kind) + " (" +
                         in_gib(budget.weights_bytes) + " weights, " +
                         in_gib(saturating_product({budget.cache_bytes_per_position, context})) + " for a context of " +
                         std::to_string(context) + "), " + in_gib(available) + " are available; ";
  const uint64_t fixed = budget.total(0);
  const uint64_t fits =
      fixed < available ? (available - fixed) / std::max<uint64_t>(1, budget.cache_bytes_per_position) : 0;
  throw MemoryShortage(sentence + (fits > 0 ? "the largest --ctx-size that fits is " + std::to_string(fits)
                                   : "no --ctx-size fits, use a smaller model"));
}

}  // namespace warpchat
