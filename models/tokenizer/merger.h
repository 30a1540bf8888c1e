// Merge loop of both tokeniser families: repeatedly joins the adjacent pair of the lowest rank, the leftmost of equals.
// O(n log n) in the number of symbols, even for one endless word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/token.h"

namespace warpchat {

inline constexpr uint32_t kNoSymbol = UINT32_MAX;
inline constexpr uint32_t kNoRank = UINT32_MAX;

struct Symbol {
  uint32_t begin, end;  // bytes of the text; end == begin: merged into its left neighbour
  Token token;          // -1 if not in the vocabulary
  uint32_t previous = kNoSymbol, next = kNoSymbol;
};

struct Join {
  uint32_t rank = kNoRank;  // kNoRank: the pair cannot merge
  Token result = -1;
};

class Merger {
 public:
  // Usage: clear, add symbols from left to right, merge.
  void clear() { symbols_.clear(), heap_.clear(); }
  void add(uint32_t begin, uint32_t end, Token token) {
    const auto index = static_cast<uint32_t>(symbols_.size());
    if (index > 0) symbols_.back().next = index;
    symbols_.push_back({begin, end, token, index - 1});
  }

  // rule(left, right): how neighbours merge. visit(symbol): remaining symbols in order.
  template <class Rule, class Visit>
  void merge(Rule rule, Visit visit) {
    for (uint32_t i = 0; i + 1 < symbols_.size(); ++i) propose(i, i + 1, rule);
    while (!heap_.empty()) {
      std::ranges::pop_heap(heap_, after);
      const Proposal best = heap_.back();
      heap_.pop_back();
      if (still_holds(best)) join(best, rule);
    }
    for (const Symbol& symbol : symbols_)
      if (symbol.end > symbol.begin) visit(symbol);
  }

 private:
  struct Proposal {
    uint32_t rank, left, right;
    uint32_t end;  // end of the right symbol when proposed
    Token result;
  };

  static bool after(const Proposal& a, const Proposal& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }
  // A symbol only changes by absorbing its right neighbour, which moves its end and removes the neighbour.
  bool still_holds(const Proposal& p) const {
    return symbols_[p.left].end > symbols_[p.left].begin && symbols_[p.left].next == p.right &&
           symbols_[p.right].end == p.end;
  }

  template <class Rule>
  void propose(uint32_t left, uint32_t right, Rule& rule) {
    if (left == kNoSymbol || right == kNoSymbol) return;
    const Join joined = rule(symbols_[left], symbols_[right]);
    if (joined.rank == kNoRank) return;
    heap_.push_back({joined.rank, left, right, symbols_[right].end, joined.result});
    std::ranges::push_heap(heap_, after);
  }

  template <class Rule>
  void join(const Proposal& p, Rule& rule) {
    Symbol &left = symbols_[p.left], &right = symbols_[p.right];
    left.end = right.end;
    left.token = p.result;
    left.next = right.next;
    right.end = right.begin;
    if (left.next != kNoSymbol) symbols_[left.next].previous = p.left;
    propose(left.previous, p.left, rule);
    propose(p.left, left.next, rule);
  }

  std::vector<Symbol> symbols_;
  std::vector<Proposal> heap_;
};

}  // namespace warpchat
