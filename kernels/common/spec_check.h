// Error messages for invalid specs.
#pragma once
#include <cstdint>
#include <string>

#include "models/error.h"

namespace warpchat {

// Throws Error "incremental_attention: head_dim is 65, expected a multiple of 8 up to 256" unless `holds`.
inline void require_spec(bool holds, const std::string& family, const std::string& what, uint64_t found,
                         const std::string& expected) {
  if (!holds) throw Error(family + ": " + what + " is " + std::to_string(found) + ", expected " + expected);
}
inline void require_between(uint64_t min, uint64_t max, const std::string& family, const std::string& what,
                            uint64_t found) {
  require_spec(found >= min && found <= max, family, what, found, std::to_string(min) + " to " + std::to_string(max));
}

// At most this many query heads per KV head, since every eight add to the text. Each KV head is a block in the grid's
// y.
inline constexpr uint32_t kMaxGroup = 128, kMaxBlocksInY = 65535;
inline void require_heads(const std::string& family, uint32_t n_heads, uint32_t n_kv_heads) {
  require_between(1, kMaxBlocksInY, family, "n_kv_heads", n_kv_heads);
  require_spec(n_heads > 0 && n_heads % n_kv_heads == 0 && n_heads / n_kv_heads <= kMaxGroup, family, "n_heads",
               n_heads,
               "a multiple of the " + std::to_string(n_kv_heads) + " KV heads, up to " + std::to_string(kMaxGroup) +
                   " for each");
}

}  // namespace warpchat
