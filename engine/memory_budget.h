// Memory that a model needs on a device, and the error for a device that lacks it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/remedy.h"

namespace warpchat {

// The model and its context do not fit. They might if other programs released memory.
class MemoryShortage : public ErrorWithRemedy {
 public:
  using ErrorWithRemedy::ErrorWithRemedy;
};

struct MemoryBudget {
  uint64_t weights_bytes;             // packed copies of every matrix
  uint64_t cache_bytes_per_position;  // keys and values of all layers
  uint64_t activation_bytes;          // the buffers of one pass, and all else that does not grow with the context
  uint64_t min_cache_bytes = 0;       // minimum, however short the context
  uint64_t cache_bytes(uint32_t context) const;
  uint64_t total(uint32_t context) const;
  uint32_t largest_context(uint64_t available) const;  // largest that fits into so many bytes; 0: none
};

// 64-bit sums and products that saturate at UINT64_MAX.
uint64_t saturating_sum(std::initializer_list<uint64_t> terms);
uint64_t saturating_product(std::initializer_list<uint64_t> factors);

// Throws MemoryShortage "needs ..., available ..." if total(context) > available. Its remedy is the largest context
// that fits and that the model allows. If none fits, it says how large a model's weights may be. kind: "memory".
void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available, std::string_view kind = "memory",
                  uint32_t own_context = UINT32_MAX);

}  // namespace warpchat
