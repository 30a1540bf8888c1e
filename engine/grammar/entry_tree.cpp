#include "engine/grammar/entry_tree.h"

#include <algorithm>

namespace warpchat::grammar {

EntryTree::EntryTree(Expressions& expressions, const Members& members, bool has_required_alone)
    : expressions_(expressions), nodes_(1) {
  for (uint32_t i = 0; i < members.entries.size(); ++i) {
    const Members::Entry& entry = members.entries[i];
    paths_.push_back(entry.head);
    if (has_required_alone && !entry.is_required) continue;
    uint32_t at = 0;
    for (Expr part : entry.head) {
      const auto child = std::ranges::find(nodes_[at].children, part, &std::pair<Expr, uint32_t>::first);
      if (child != nodes_[at].children.end()) {
        at = child->second;
        continue;
      }
      const auto next = static_cast<uint32_t>(nodes_.size());
      nodes_[at].children.emplace_back(part, next);
      nodes_.emplace_back();
      at = next;
    }
    nodes_[at].entries.push_back(i);
  }
  for (size_t i = nodes_.size(); i-- > 0;) nodes_[i].e = joined(nodes_[i]);  // children come behind
}

Expr EntryTree::joined(const Node& node) {
  std::vector<Expr> parts;
  for (uint32_t entry : node.entries) parts.push_back(expressions_.label(entry + 1));
  for (const auto& [part, child] : node.children) parts.push_back(expressions_.concat(part, nodes_[child].e));
  return expressions_.any_of(std::move(parts));
}

EntryTree::Version EntryTree::without(Version version, uint32_t entry) {
  std::vector<uint32_t> path = {version};
  for (Expr part : paths_[entry]) {
    const auto& children = nodes_[path.back()].children;
    const auto child = std::ranges::find(children, part, &std::pair<Expr, uint32_t>::first);
    if (child == children.end()) return version;
    path.push_back(child->second);
  }
  Node renewed = nodes_[path.back()];
  std::erase(renewed.entries, entry);
  for (size_t i = path.size(); i-- > 0;) {
    renewed.e = joined(renewed);
    const auto id = static_cast<uint32_t>(nodes_.size());
    const bool is_empty = renewed.e == kNothing;
    nodes_.push_back(std::move(renewed));
    if (i == 0) return id;
    renewed = nodes_[path[i - 1]];
    const auto child = std::ranges::find(renewed.children, path[i], &std::pair<Expr, uint32_t>::second);
    if (is_empty)
      renewed.children.erase(child);
    else
      child->second = id;
  }
  return version;
}

}  // namespace warpchat::grammar
