// The sentence for a spec that no kernel can have.
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
inline void require_between(uint64_t least, uint64_t most, const std::string& family, const std::string& what,
                            uint64_t found) {
  require_spec(found >= least && found <= most, family, what, found,
               std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace warpchat
