#include "engine/sequences/token_constraint.h"

#include "models/error.h"

namespace warpchat {

// What fails ahead of an answer fails again when the answer gets there.
size_t TokenConstraint::n_allowed(std::span<const Token> draft) {
  size_t n = 0;
  try {
    for (; n < draft.size(); ++n) {
      const std::span<const uint32_t> next = mask();
      if (!next.empty() && !is_allowed(next, draft[n])) break;
      accept(draft[n]);
    }
  } catch (const Error&) {
  }
  undo(n);
  return n;
}

TokenConstraint::Masks TokenConstraint::masks(std::span<const Token> draft) {
  Masks masks;
  const auto add = [&] {
    const std::span<const uint32_t> next = mask();
    masks.emplace_back(next.begin(), next.end());
  };
  size_t n = 0;
  try {
    for (add(); n < draft.size(); add()) accept(draft[n]), ++n;
  } catch (const Error&) {
    undo(n);
    throw;
  }
  undo(n);
  return masks;
}

}  // namespace warpchat
