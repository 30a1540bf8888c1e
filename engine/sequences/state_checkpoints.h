// Checkpoints of recurrent states by their tokens: a state cannot be rewound, only replaced by a checkpoint. Tracks
// which device state holds which checkpoint, not the contents.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/token.h"

namespace warpchat {

class StateCheckpoints {
 public:
  // Manages the device's states first to first + n - 1.
  StateCheckpoints(uint32_t first, uint32_t n) : kept_(n) {
    for (uint32_t i = 0; i < n; ++i) kept_[i].state = first + i;
  }
  void clear();

  struct Found {
    uint32_t state, n_tokens;
  };
  // The checkpoint of the longest prefix of these tokens. Counts as just used.
  std::optional<Found> find(std::span<const Token> tokens);
  // The state to copy these tokens' checkpoint into: the least recently used one. nullopt if the checkpoint exists, or
  // none can be kept.
  std::optional<uint32_t> add(std::span<const Token> tokens);

 private:
  struct Kept {
    uint32_t state = 0;
    std::vector<Token> tokens;  // empty: unused
    uint64_t last_use = 0;
  };
  std::vector<Kept> kept_;
  uint64_t n_uses_ = 0;
};

}  // namespace warpchat
