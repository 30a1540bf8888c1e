// What a model on a device will hold in memory, and the sentence for a device that lacks it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "engine/way_out.h"

namespace warpchat {

// The model and its context do not fit; they might if something else gave its memory back.
class MemoryShortage : public ErrorWithWayOut {
 public:
  using ErrorWithWayOut::ErrorWithWayOut;
};

struct MemoryBudget {
  uint64_t weights_bytes;             // packed copies of every matrix
  uint64_t cache_bytes_per_position;  // keys and values of all layers
  uint64_t activation_bytes;          // the buffers of one pass, and whatever else does not grow with the context
  uint64_t least_cache_bytes = 0;     // that it takes however short the context
  uint64_t cache_bytes(uint32_t context) const;
  uint64_t total(uint32_t context) const;
  uint32_t largest_context(uint64_t available) const;  // that fits so many bytes; 0: none
};

// 64-bit sums and products that stay at UINT64_MAX instead of wrapping.
uint64_t saturating_sum(std::initializer_list<uint64_t> terms);
uint64_t saturating_product(std::initializer_list<uint64_t> factors);

// MemoryShortage "needs ..., available ...", if total(context) > available. Its way out is the largest context that
// fits, and that is no larger than the model's own; without one it says how large a model's weights may be. kind:
// "memory".
void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available, std::string_view kind = "memory",
                  uint32_t own_context = UINT32_MAX);

}  // namespace warpchat
