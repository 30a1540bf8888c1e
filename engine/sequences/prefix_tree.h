// Prefix cache: pages found by their tokens. A prompt that begins like an earlier one, or like a sequence still being
// decoded, reuses the pages of the common prefix.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/sequences/page_pool.h"
#include "models/token.h"

namespace warpchat {

class PrefixTree {
 public:
  // The tree owns a share of each of its pages. page_positions: tokens per full page.
  PrefixTree(PagePool& pool, uint32_t page_positions) : pool_(pool), page_positions_(page_positions) {}
  PrefixTree(const PrefixTree&) = delete;
  ~PrefixTree() { clear(); }
  void clear();  // releases all pages

  struct Prefix {
    std::vector<uint32_t> pages;  // in order; owned by the tree
    uint32_t n_tokens = 0;        // matching tokens; the last page may hold others after them
    bool ends_leaf = false;       // the last page holds no others, and no page follows it
  };
  // The longest match. Its pages count as just used.
  Prefix find(std::span<const Token> tokens);

  // pages[i] holds the keys and values of tokens[i * page_positions, ...); the last page may be partly filled. Tokens
  // already in the tree keep their pages.
  void add(std::span<const Token> tokens, std::span<const uint32_t> pages);

  // Removes a leaf page from the tree and passes its share to the caller.
  void detach_leaf(uint32_t page);

  // Evicts the least recently used leaf page without other owners. False if there is none.
  bool drop_oldest();

 private:
  struct Node {
    std::vector<Token> tokens;  // page_positions of them in inner nodes
    uint32_t page;
    uint64_t last_use;
    Node* parent;
    std::vector<std::unique_ptr<Node>> children;
  };
  template <class Visit>
  static void for_leaves(Node& node, Visit&& visit);
  static void remove(Node& leaf);
  void give_back_below(const Node& node);

  PagePool& pool_;
  uint32_t page_positions_;
  uint64_t n_uses_ = 0;
  Node root_{};
};

}  // namespace warpchat
