// The tokens of a vocabulary as a tree of their bytes, flat and in depth-first order, so that a mask visits each
// beginning once. Immutable: one for all answers of a model.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/token.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat::grammar {

class TokenTrie {
 public:
  // texts: each token's bytes as decoding yields them; empty: the token is never allowed.
  explicit TokenTrie(const std::vector<std::string>& texts);

  // A vocabulary's tokens, but for control, unknown and unused ones.
  static TokenTrie of(const Tokenizer& tokenizer);

  struct Node {
    uint8_t byte;
    bool is_aligned;        // its text is whole characters
    uint16_t depth;         // bytes of its text
    uint16_t n_characters;  // of its text, if that is whole characters
    uint32_t end;           // node behind its subtree
    uint32_t first_token;   // in tokens, of its subtree; tokens with exactly its text come first
    uint32_t n_own;         // such tokens
  };
  struct Tree {
    std::vector<Node> nodes;             // depth first, without the root; [n]: a last one with the end of tokens
    std::vector<Token> tokens;           // in the order of the nodes
    std::vector<uint16_t> n_characters;  // [tokens] the last may be incomplete
    uint32_t subtree_tokens_end(const Node& node) const { return nodes[node.end].first_token; }
  };
  // Tokens of characters that a JSON string may hold as they are, and the others.
  const Tree& plain() const { return plain_; }
  const Tree& others() const { return others_; }
  // [n_words] plain tokens of at most so many characters.
  std::span<const uint32_t> plain_mask(uint32_t max_characters) const;

  bool has_longer(std::string_view beginning) const;  // whether a token begins so and goes on

  uint32_t n_tokens() const { return n_tokens_; }
  uint32_t n_words() const { return (n_tokens_ + 31) / 32; }   // of a mask: bit i % 32 of word i / 32 is token i
  uint32_t max_characters() const { return max_characters_; }  // of a plain token

 private:
  uint32_t n_tokens_, max_characters_ = 0;
  Tree plain_, others_;
  std::vector<std::vector<uint32_t>> plain_masks_;
};

}  // namespace warpchat::grammar
