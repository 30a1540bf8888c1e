// Which tokens of a vocabulary may follow in a state of a constraint.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/grammar/constraint.h"
#include "engine/grammar/token_trie.h"
#include "engine/token_mask.h"

namespace warpchat::grammar {

class TokenMasks {
 public:
  // Both must outlive it. For one thread at a time, as the constraint.
  TokenMasks(Constraint& constraint, const TokenTrie& trie) : constraint_(constraint), trie_(trie) {}

  // [trie.n_words()] the tokens of which all bytes may follow. Tokens that end an answer are the caller's, by
  // Constraint::is_complete. Valid until the next call. Error as from Constraint::advance.
  std::span<const uint32_t> mask(State state);

 private:
  void walk(const TokenTrie::Tree& tree, State state, std::vector<uint32_t>& mask);
  bool allow_free_text(const TokenTrie::Tree& tree, const TokenTrie::Node& node, State state,
                       std::vector<uint32_t>& mask);

  Constraint& constraint_;
  const TokenTrie& trie_;
  std::vector<State> path_;  // [depth] states along the tree
  std::unordered_map<State, std::vector<uint32_t>> known_;
};

}  // namespace warpchat::grammar
