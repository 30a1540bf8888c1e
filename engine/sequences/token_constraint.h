// Which tokens an answer may have, one after another.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/token_mask.h"

namespace warpchat {

// For one thread at a time. All may throw Error: no token of the vocabulary can follow, or memory is used up.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  virtual bool is_free() const { return false; }  // every token may follow: mask() is empty
  // For the next token; at least one is allowed. Empty: all are. Valid until the next call of any function.
  virtual std::span<const uint32_t> mask() = 0;
  virtual bool is_over() { return false; }  // only the answer's end may follow
  virtual void accept(Token token) = 0;     // Error if it is not allowed
  virtual void undo(size_t n_tokens) = 0;   // the last ones that were accepted
  virtual std::vector<Token> forced() = 0;  // that are likely to follow, since the text has one way to go on

  using Masks = std::vector<std::vector<uint32_t>>;
  Masks masks(std::span<const Token> draft);       // for each of its tokens, which are allowed, and for the next one
  size_t n_allowed(std::span<const Token> draft);  // its first tokens that may follow
};

}  // namespace warpchat
