// Checkpoints of recurrent states by their tokens: a state cannot be rewound, only replaced by a checkpoint. Tracks
// which device state holds which checkpoint, not the contents. Searches linearly: there are few checkpoints.
#pragma once
#include <algorithm>
#include <cassert>
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
  void clear() {
    for (Kept& kept : kept_) kept.tokens.clear(), kept.last_use = 0;
  }

  struct Found {
    uint32_t state, n_tokens;
  };
  // The checkpoint of the longest prefix of these tokens. Counts as just used.
  std::optional<Found> find(std::span<const Token> tokens) {
    Kept* longest = nullptr;
    for (Kept& kept : kept_) {
      const size_t n = kept.tokens.size();
      if (n == 0 || n > tokens.size() || (longest != nullptr && n <= longest->tokens.size())) continue;
      if (std::ranges::equal(kept.tokens, tokens.first(n))) longest = &kept;
    }
    if (longest == nullptr) return std::nullopt;
    longest->last_use = ++n_uses_;
    return Found{longest->state, static_cast<uint32_t>(longest->tokens.size())};
  }
  // The state to copy these tokens' checkpoint into: the least recently used one. nullopt if the checkpoint exists, or
  // none can be kept.
  std::optional<uint32_t> add(std::span<const Token> tokens) {
    assert(!tokens.empty());
    const auto same =
        std::ranges::find_if(kept_, [&](const Kept& kept) { return std::ranges::equal(kept.tokens, tokens); });
    if (same != kept_.end()) {
      same->last_use = ++n_uses_;
      return std::nullopt;
    }
    const auto oldest = std::ranges::min_element(kept_, {}, &Kept::last_use);
    if (oldest == kept_.end()) return std::nullopt;
    oldest->tokens.assign(tokens.begin(), tokens.end());
    oldest->last_use = ++n_uses_;
    return oldest->state;
  }

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
