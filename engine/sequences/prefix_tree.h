// The pages whose tokens are known, found by the tokens themselves: a prompt that begins as an earlier one did, or as a
// sequence that is still being decoded does, need not be computed again as far as they agree.
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
  // The tree is one owner of each of its pages. page_positions: tokens of a full page.
  PrefixTree(PagePool& pool, uint32_t page_positions) : pool_(pool), page_positions_(page_positions) {}
  PrefixTree(const PrefixTree&) = delete;
  ~PrefixTree() { clear(); }
  void clear();  // gives all pages back

  struct Prefix {
    std::vector<uint32_t> pages;  // in order; they stay the tree's
    uint32_t n_tokens = 0;        // that agree; behind them the last page may hold others
    bool ends_leaf = false;       // it does not, and no page follows it
  };
  // The longest one. Its pages count as just used.
  Prefix find(std::span<const Token> tokens);

  // pages[i] holds the keys and values of tokens[i * page_positions, ...): of a full page, or at the end of fewer.
  // Tokens that the tree knows keep the pages that it has for them.
  void add(std::span<const Token> tokens, std::span<const uint32_t> pages);

  // A page that no other follows leaves the tree, whose share of it becomes the caller's.
  void take_leaf(uint32_t page);

  // Gives back the least recently used page among those that no other follows and nobody else owns. False if there is
  // none.
  bool drop_oldest();

  uint32_t n_droppable() const;  // pages that drop_oldest would give back one after the other

 private:
  struct Node {
    std::vector<Token> tokens;  // page_positions of them where others follow
    uint32_t page;
    uint64_t last_use;
    Node* parent;
    std::vector<std::unique_ptr<Node>> children;
  };
  template <class Visit>
  static void for_leaves(Node& node, Visit&& visit);
  static void remove(Node& leaf);
  void give_back_below(const Node& node);
  bool count_droppable(const Node& node, uint32_t& n) const;

  PagePool& pool_;
  uint32_t page_positions_;
  uint64_t n_uses_ = 0;
  Node root_{};
};

}  // namespace warpchat
