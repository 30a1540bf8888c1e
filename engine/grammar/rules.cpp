#include "engine/grammar/rules.h"

#include <algorithm>
#include <utility>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

Rule Rules::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<Rule>(nodes_.size() - 1);
}

Rule Rules::terminal(Expr e) { return add({.kind = Kind::kTerminal, .terminal = e}); }
Rule Rules::sequence(std::vector<Rule> parts) {
  return parts.size() == 1 ? parts[0] : add({.kind = Kind::kSequence, .parts = std::move(parts)});
}
Rule Rules::alternatives(std::vector<Rule> parts) {
  return parts.size() == 1 ? parts[0] : add({.kind = Kind::kAlternatives, .parts = std::move(parts)});
}
Rule Rules::repeat(Rule part, uint64_t min, uint64_t max) {
  return add({.kind = Kind::kRepeat, .parts = {part}, .min = min, .max = max});
}
Rule Rules::reference(std::string name) { return add({.kind = Kind::kReference, .name = std::move(name)}); }

Rule Rules::members(Members members) {
  members_.push_back(std::move(members));
  return add({.kind = Kind::kMembers, .index = static_cast<uint32_t>(members_.size() - 1)});
}

Rule Rules::elements(Elements elements) {
  elements_.push_back(std::move(elements));
  return add({.kind = Kind::kElements, .index = static_cast<uint32_t>(elements_.size() - 1)});
}

bool Rules::can_finish(const Members& members) const {
  uint64_t n_required = 0, n_once = 0;
  bool can_repeat = false;
  for (const Members::Entry& entry : members.entries) {
    const bool can_be = entry.value == kNoRule || nodes_[entry.value].can_finish;
    if (!can_be && entry.is_required) return false;
    n_required += entry.is_required;
    n_once += can_be && !entry.can_repeat;
    can_repeat |= can_be && entry.can_repeat;
  }
  return n_required <= members.max && members.min <= members.max && (can_repeat || n_once >= members.min);
}

bool Rules::can_finish(const Elements& elements) const {
  const auto can_be = [&](Rule rule) { return rule != kNoRule && nodes_[rule].can_finish; };
  if (elements.min > elements.max) return false;
  const uint64_t n_prefix = elements.prefix.size();
  for (uint64_t i = 0; i < std::min(elements.min, n_prefix); ++i)
    if (!can_be(elements.prefix[i])) return false;
  if (!elements.counted) return elements.min <= n_prefix || can_be(elements.rest);
  if (!can_be(*elements.counted)) return elements.min_counted == 0 && (elements.min == 0 || can_be(elements.rest));
  const uint64_t min = std::max(elements.min, elements.min_counted);
  if (!can_be(elements.rest)) return min <= std::min(elements.max, elements.max_counted);
  return elements.min_counted <= std::min(elements.max, elements.max_counted);
}

bool Rules::can_finish(const Node& node) {
  const auto can = [this](Rule part) { return nodes_[part].can_finish; };
  switch (node.kind) {
    case Kind::kTerminal:
      return expressions_.is_live(node.terminal);
    case Kind::kSequence:
    case Kind::kReference:
      return std::ranges::all_of(node.parts, can);
    case Kind::kAlternatives:
      return std::ranges::any_of(node.parts, can);
    case Kind::kRepeat:
      return node.min == 0 || can(node.parts[0]);
    case Kind::kMembers:
      return can_finish(members_[node.index]);
    case Kind::kElements:
      return can_finish(elements_[node.index]);
  }
  return false;
}

bool Rules::is_nullable(const Node& node) const {
  const auto is = [this](Rule part) { return nodes_[part].is_nullable; };
  switch (node.kind) {
    case Kind::kTerminal:
      return expressions_.is_nullable(node.terminal);
    case Kind::kSequence:
    case Kind::kReference:
      return std::ranges::all_of(node.parts, is);
    case Kind::kAlternatives:
      return std::ranges::any_of(node.parts, is);
    case Kind::kRepeat:
      return node.min == 0 || is(node.parts[0]);
    case Kind::kMembers:
    case Kind::kElements:
      return false;
  }
  return false;
}

void Rules::prune(Members& members) const {
  std::erase_if(members.entries, [this](const Members::Entry& entry) {
    return entry.value != kNoRule && !nodes_[entry.value].can_finish;
  });
}

void Rules::prune(Elements& elements) const {
  const auto can_be = [&](Rule rule) { return rule != kNoRule && nodes_[rule].can_finish; };
  const auto bad = std::ranges::find_if_not(elements.prefix, can_be);
  if (bad != elements.prefix.end()) {
    elements.max = std::min(elements.max, static_cast<uint64_t>(bad - elements.prefix.begin()));
    elements.prefix.erase(bad, elements.prefix.end());
  }
  if (elements.counted && !can_be(*elements.counted)) elements.counted.reset();
  if (!can_be(elements.rest)) elements.rest = kNoRule;
  if (elements.rest != kNoRule) return;
  if (elements.counted) {  // all are counted
    elements.min = std::max(elements.min, elements.min_counted);
    elements.max = std::min(elements.max, elements.max_counted);
  } else {
    elements.max = std::min<uint64_t>(elements.max, elements.prefix.size());
  }
}

void Rules::prune(Node& node) {
  if (node.kind == Kind::kAlternatives)
    std::erase_if(node.parts, [this](Rule part) { return !nodes_[part].can_finish; });
  if (node.kind == Kind::kRepeat) {
    if (!nodes_[node.parts[0]].can_finish) node.max = 0;
    if (nodes_[node.parts[0]].is_nullable) node.min = 0;  // the missing ones match nothing
  }
  if (node.kind == Kind::kMembers) prune(members_[node.index]);
  if (node.kind == Kind::kElements) prune(elements_[node.index]);
}

bool Rules::finish(Rule root) {
  for (bool has_changed = true; has_changed;) {  // parts come behind what they are parts of, mostly
    has_changed = false;
    for (size_t i = nodes_.size(); i-- > 0;) {
      Node& node = nodes_[i];
      const bool can = node.can_finish || can_finish(node), empty = node.is_nullable || is_nullable(node);
      has_changed |= can != node.can_finish || empty != node.is_nullable;
      node.can_finish = can;
      node.is_nullable = empty;
    }
  }
  if (!nodes_[root].can_finish) return false;
  for (Node& node : nodes_) prune(node);
  refuse_left_recursion();
  return true;
}

// What a text of the node may begin with.
std::vector<Rule> Rules::first_parts(const Node& node) const {
  if (node.kind != Kind::kSequence) return node.parts;
  std::vector<Rule> first;
  for (Rule part : node.parts) {
    first.push_back(part);
    if (!nodes_[part].is_nullable) break;
  }
  return first;
}

void Rules::refuse_left_recursion() const {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(nodes_.size(), kNew);
  struct Level {
    Rule rule;
    std::vector<Rule> next;
  };
  for (Rule from = 0; from < nodes_.size(); ++from) {
    std::vector<Level> path;
    const auto enter = [&](Rule rule) {
      state[rule] = kOpen;
      path.push_back({rule, first_parts(nodes_[rule])});
    };
    if (state[from] == kNew) enter(from);
    while (!path.empty()) {
      Level& level = path.back();
      if (level.next.empty()) {
        state[level.rule] = kDone;
        path.pop_back();
        continue;
      }
      const Rule next = level.next.back();
      level.next.pop_back();
      if (state[next] == kNew)
        enter(next);
      else if (state[next] == kOpen) {
        std::string name = nodes_[next].name;
        for (size_t i = path.size(); name.empty() && i-- > 0;) name = nodes_[path[i].rule].name;
        throw Error("the rule " + printable(name) + " begins with itself (left recursion), which is not supported");
      }
    }
  }
}

}  // namespace warpchat::grammar
