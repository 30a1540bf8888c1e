// A node is a page; its children are pages that followed it. Leaves are searched linearly: a cache has thousands of
// pages at most, and filling a page takes longer than finding one.
#include "engine/sequences/prefix_tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace warpchat {

namespace {

size_t n_equal(std::span<const Token> a, std::span<const Token> b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void PrefixTree::clear() {
  give_back_below(root_);
  root_.children.clear();
}

void PrefixTree::give_back_below(const Node& node) {
  for (const auto& child : node.children) {
    give_back_below(*child);
    pool_.give_back(child->page);
  }
}

template <class Visit>
void PrefixTree::for_leaves(Node& node, Visit&& visit) {
  for (const auto& child : node.children) {
    if (child->children.empty())
      visit(*child);
    else
      for_leaves(*child, visit);
  }
}

PrefixTree::Prefix PrefixTree::find(std::span<const Token> tokens) {
  Prefix prefix;
  const uint64_t now = ++n_uses_;
  for (Node* node = &root_; !tokens.empty();) {
    Node* best = nullptr;
    size_t n_best = 0;
    for (const auto& child : node->children) {
      const size_t n = n_equal(child->tokens, tokens);
      if (n > n_best) best = child.get(), n_best = n;
    }
    if (best == nullptr) break;
    best->last_use = now;
    prefix.pages.push_back(best->page);
    prefix.n_tokens += static_cast<uint32_t>(n_best);
    prefix.ends_leaf = n_best == best->tokens.size() && best->children.empty();
    if (n_best < page_positions_) break;
    tokens = tokens.subspan(n_best);
    node = best;
  }
  return prefix;
}

void PrefixTree::add(std::span<const Token> tokens, std::span<const uint32_t> pages) {
  assert((tokens.size() + page_positions_ - 1) / page_positions_ == pages.size());
  const uint64_t now = ++n_uses_;
  Node* node = &root_;
  for (const uint32_t page : pages) {
    const std::span<const Token> held = tokens.first(std::min<size_t>(page_positions_, tokens.size()));
    tokens = tokens.subspan(held.size());
    const auto known = std::ranges::find_if(
        node->children, [&](const auto& child) { return n_equal(child->tokens, held) == held.size(); });
    if (known != node->children.end()) {
      node = known->get();
      node->last_use = now;
      continue;
    }
    // Shorter prefixes of this page, known before it was full, are redundant now.
    std::erase_if(node->children, [&](const auto& child) {
      const bool is_less = child->children.empty() && n_equal(child->tokens, held) == child->tokens.size();
      if (is_less) pool_.give_back(child->page);
      return is_less;
    });
    pool_.share(page);
    node->children.push_back(std::make_unique<Node>(
        Node{{held.begin(), held.end()}, page, now, node, std::vector<std::unique_ptr<Node>>{}}));
    node = node->children.back().get();
  }
}

void PrefixTree::remove(Node& leaf) {
  std::erase_if(leaf.parent->children, [&](const auto& child) { return child.get() == &leaf; });
}

void PrefixTree::detach_leaf(uint32_t page) {
  Node* found = nullptr;
  for_leaves(root_, [&](Node& leaf) {
    if (leaf.page == page) found = &leaf;
  });
  assert(found != nullptr);
  remove(*found);
}

bool PrefixTree::drop_oldest() {
  Node* oldest = nullptr;
  for_leaves(root_, [&](Node& leaf) {
    if (pool_.owners(leaf.page) == 1 && (oldest == nullptr || leaf.last_use < oldest->last_use)) oldest = &leaf;
  });
  if (oldest == nullptr) return false;
  pool_.give_back(oldest->page);
  remove(*oldest);
  return true;
}

}  // namespace warpchat
