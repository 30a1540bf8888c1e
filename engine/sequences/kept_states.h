// Copies of what recurrent layers remember after known tokens: their states cannot be rewound, only replaced by one
// that was kept. Which state of the device each is in, and nothing of what is in it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/token.h"

namespace warpchat {

class KeptStates {
 public:
  // n of the device's states, from `first` on.
  KeptStates(uint32_t first, uint32_t n) : kept_(n) {
    for (uint32_t i = 0; i < n; ++i) kept_[i].state = first + i;
  }
  void clear();

  struct Found {
    uint32_t state, n_tokens;
  };
  // The one after the most tokens that these begin with. It counts as just used.
  std::optional<Found> find(std::span<const Token> tokens);
  // Into which state the one after these tokens is to be copied, that least recently used; nothing where there is one
  // already, or none can be kept.
  std::optional<uint32_t> add(std::span<const Token> tokens);

 private:
  struct Kept {
    uint32_t state = 0;
    std::vector<Token> tokens;  // empty: none is kept there
    uint64_t last_use = 0;
  };
  std::vector<Kept> kept_;
  uint64_t n_uses_ = 0;
};

}  // namespace warpchat
