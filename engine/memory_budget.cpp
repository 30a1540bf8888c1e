// Sizes are saturating 64-bit numbers.
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

uint64_t MemoryBudget::cache_bytes(uint32_t context) const {
  return std::max(min_cache_bytes, saturating_product({cache_bytes_per_position, context}));
}

uint64_t MemoryBudget::total(uint32_t context) const {
  return saturating_sum({weights_bytes, activation_bytes, cache_bytes(context)});
}

uint32_t MemoryBudget::largest_context(uint64_t available) const {
  if (total(0) >= available) return 0;
  const uint64_t for_cache = available - weights_bytes - activation_bytes;
  return static_cast<uint32_t>(
      std::min<uint64_t>(for_cache / std::max<uint64_t>(1, cache_bytes_per_position), UINT32_MAX));
}

void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available, std::string_view kind,
                  uint32_t own_context) {
  const uint64_t needed = budget.total(context);
  if (needed <= available) return;
  const std::string sentence = "the model needs " + in_gib(needed) + " of " + std::string(kind) + " (" +
                               in_gib(budget.weights_bytes) + " weights, " + in_gib(budget.cache_bytes(context)) +
                               " for a context of " + std::to_string(context) + "), " + in_gib(available) +
                               " are available";
  if (const uint32_t fits = budget.largest_context(available); fits > 0)
    throw MemoryShortage(sentence, {Remedy::Kind::kSmallerContext, std::min(fits, own_context)});
  // A smaller model's cache and activations are smaller, too.
  const uint64_t rest = saturating_sum({budget.activation_bytes, budget.cache_bytes(context)});
  const std::string room = rest < available ? " with weights of up to " + in_gib(available - rest) : "";
  throw MemoryShortage(sentence + "; no context fits, use a smaller model" + room, Remedy::Kind::kNone);
}

}  // namespace warpchat
