// Most tokens fit inside a JSON string. Where a state allows any characters, their part of a mask is known ahead or set
// without following their bytes; only tokens with quotes, backslashes and controls are followed there.
#include "engine/grammar/token_masks.h"

namespace warpchat::grammar {

namespace {

constexpr size_t kMaxMasks = 256;  // that are kept, some 19 kB each

}  // namespace

// All tokens below the node, or those of few enough characters. false: the state does not allow any characters.
bool TokenMasks::allow_free_text(const TokenTrie::Tree& tree, const TokenTrie::Node& node, State state,
                                 std::vector<uint32_t>& mask) {
  const Automaton::FreeText free = constraint_.automaton().free_text(state);
  if (free.max < trie_.max_characters() && !free.is_all) return false;
  const uint32_t end = tree.subtree_tokens_end(node);
  for (uint32_t i = node.first_token; i < end; ++i)
    if (tree.n_characters[i] - uint32_t{node.n_characters} <= free.max) allow(mask, tree.tokens[i]);
  return true;
}

void TokenMasks::walk(const TokenTrie::Tree& tree, State state, std::vector<uint32_t>& mask) {
  path_.assign(1, state);
  Automaton& automaton = constraint_.automaton();
  const size_t n_nodes = tree.nodes.size() - 1;
  for (size_t i = 0; i < n_nodes;) {
    const TokenTrie::Node& node = tree.nodes[i];
    const State next = automaton.advance(path_[node.depth - 1], node.byte);
    if (next == kRejected || (node.is_aligned && node.end > i + 1 && allow_free_text(tree, node, next, mask))) {
      i = node.end;
      continue;
    }
    for (uint32_t own = 0; own < node.n_own; ++own) allow(mask, tree.tokens[node.first_token + own]);
    if (path_.size() <= node.depth) path_.resize(node.depth + 1);
    path_[node.depth] = next;
    ++i;
  }
}

std::span<const uint32_t> TokenMasks::mask(State state) {
  if (state != kRejected) state = constraint_.automaton().without_far_counts(state);
  if (const auto known = known_.find(state); known != known_.end()) return known->second;
  if (known_.size() >= kMaxMasks) known_.clear();
  std::vector<uint32_t> mask(trie_.n_words());
  if (state != kRejected) {
    const Automaton::FreeText free = constraint_.automaton().free_text(state);
    if (free.max >= trie_.max_characters() || free.is_all) {
      const auto plain = trie_.plain_mask(free.max);
      mask.assign(plain.begin(), plain.end());
    } else {
      walk(trie_.plain(), state, mask);
    }
    walk(trie_.others(), state, mask);
  }
  return known_[state] = std::move(mask);
}

}  // namespace warpchat::grammar
