// Linear search: there are few checkpoints.
#include "engine/sequences/state_checkpoints.h"

#include <algorithm>
#include <cassert>

namespace warpchat {

void StateCheckpoints::clear() {
  for (Kept& kept : kept_) kept.tokens.clear(), kept.last_use = 0;
}

std::optional<StateCheckpoints::Found> StateCheckpoints::find(std::span<const Token> tokens) {
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

std::optional<uint32_t> StateCheckpoints::add(std::span<const Token> tokens) {
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

}  // namespace warpchat
