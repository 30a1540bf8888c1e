// Simplification happens where a node is made, so that few different expressions mean the same.
#include "engine/grammar/expressions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/error.h"

namespace warpchat::grammar {

namespace {

constexpr size_t kMaxNodes = 6'000'000;         // some 400 MiB with derivatives
constexpr uint32_t kMaxDepth = 2000;            // of recursion
constexpr size_t kMaxSearchSteps = 300'000;     // derivatives to find a text
constexpr size_t kNodesPerDeadlineCheck = 512;  // a power of two

struct DepthGuard {
  explicit DepthGuard(uint32_t& count) : depth(count) {
    if (++depth > kMaxDepth) {
      --depth;
      throw Error("the expression is nested too deeply");
    }
  }
  ~DepthGuard() { --depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  uint32_t& depth;
};

uint32_t saturating_sum(uint32_t a, uint32_t b) {
  const uint64_t sum = uint64_t{a} + b;
  return a == kUnbounded || b == kUnbounded || sum >= kUnbounded ? kUnbounded : static_cast<uint32_t>(sum);
}

}  // namespace

Expressions::Expressions() : table_(1024, kAbsent) {
  intern_set(ByteSet());
  intern({.kind = Kind::kNone});
  intern({.kind = Kind::kEmpty, .is_nullable = true, .is_text = true});
}

uint32_t Expressions::intern_set(const ByteSet& set) {
  const uint64_t hash = set.hash();
  const uint32_t last = set_ids_.find(hash);
  for (uint32_t id = last; id != kAbsent; id = same_hash_[id])
    if (sets_[id] == set) return id;
  const auto id = static_cast<uint32_t>(sets_.size());
  sets_.push_back(set);
  same_hash_.push_back(last);
  if (last == kAbsent)
    set_ids_.insert(hash, id);
  else
    std::swap(same_hash_[last], same_hash_.back());  // behind the first, which stays the entry of the map
  if (last != kAbsent) same_hash_[last] = id;
  return id;
}

bool Expressions::is_same(const Node& a, const Node& b, std::span<const Expr> operands_of_b) const {
  if (a.kind != b.kind || a.hash != b.hash || a.min != b.min || a.max != b.max) return false;
  return is_nary(a.kind) ? std::ranges::equal(operands(a), operands_of_b) : a.a == b.a && a.b == b.b;
}

void Expressions::check_limits() const {
  if (nodes_.size() >= kMaxNodes) throw Error("it needs too much memory");
  if (nodes_.size() % kNodesPerDeadlineCheck == 0 && deadline_ && std::chrono::steady_clock::now() > *deadline_)
    throw Error("it takes too long to read");
}

Expr Expressions::intern(const Node& of, std::span<const Expr> parts) {
  Node node = of;
  uint64_t hash = mixed(pair_key(static_cast<uint32_t>(node.kind), node.min) + node.max * uint64_t{0x9E3779B9});
  if (is_nary(node.kind)) {
    for (Expr part : parts) hash = mixed(hash * 31 + part);
  } else {
    hash = mixed(hash * 31 + pair_key(node.a, node.b));
  }
  node.hash = static_cast<uint32_t>(hash);
  size_t slot = node.hash & (table_.size() - 1);
  for (; table_[slot] != kAbsent; slot = (slot + 1) & (table_.size() - 1))
    if (is_same(nodes_[table_[slot]], node, parts)) return table_[slot];
  check_limits();
  if (is_nary(node.kind)) {
    node.a = static_cast<uint32_t>(operands_.size());
    node.b = static_cast<uint32_t>(parts.size());
    operands_.insert(operands_.end(), parts.begin(), parts.end());
  }
  const auto id = static_cast<Expr>(nodes_.size());
  nodes_.push_back(node);
  table_[slot] = id;
  if (nodes_.size() * 2 > table_.size()) {
    std::vector<Expr> larger(table_.size() * 2, kAbsent);
    for (Expr e = 0; e < nodes_.size(); ++e) {
      size_t place = nodes_[e].hash & (larger.size() - 1);
      while (larger[place] != kAbsent) place = (place + 1) & (larger.size() - 1);
      larger[place] = e;
    }
    table_.swap(larger);
  }
  return id;
}

Expr Expressions::bytes(const ByteSet& set) {
  if (set.is_empty()) return kNothing;
  const uint32_t id = intern_set(set);
  return intern({.kind = Kind::kBytes, .first = id, .a = id});
}

Expr Expressions::byte(char c) {
  ByteSet set;
  set.insert(static_cast<uint8_t>(c));
  return bytes(set);
}

Expr Expressions::text(std::string_view bytes) {
  Expr e = kEmptyText;
  for (size_t i = bytes.size(); i-- > 0;) e = concat(byte(bytes[i]), e);
  return e;
}

Expr Expressions::label(uint32_t number) { return intern({.kind = Kind::kLabel, .is_nullable = true, .a = number}); }

// Concatenations nest to the right. head: none.
Expr Expressions::join(Expr head, Expr tail) {
  if (head == kNothing || tail == kNothing) return kNothing;
  if (head == kEmptyText) return tail;
  if (tail == kEmptyText) return head;
  const Node &a = nodes_[head], &b = nodes_[tail];
  if (a.kind == Kind::kRepeat) {
    const bool is_pair = b.kind == Kind::kConcat;
    const Node& next = is_pair ? nodes_[b.a] : b;
    if (next.kind == Kind::kRepeat && next.a == a.a) {
      const Expr rest = is_pair ? b.b : kEmptyText;
      return join(repeat(a.a, saturating_sum(a.min, next.min), saturating_sum(a.max, next.max)), rest);
    }
  }
  Node node{.kind = Kind::kConcat, .a = head, .b = tail};
  node.is_nullable = a.is_nullable && b.is_nullable;
  node.needs_search = a.needs_search || b.needs_search;
  node.is_text = a.is_text && b.is_text;
  node.first = a.is_nullable ? intern_set(sets_[a.first] | sets_[b.first]) : a.first;
  return intern(node);
}

Expr Expressions::concat(Expr first, Expr second) {
  if (nodes_[first].kind != Kind::kConcat) return join(first, second);
  std::vector<Expr> heads;
  while (nodes_[first].kind == Kind::kConcat) {
    heads.push_back(nodes_[first].a);
    first = nodes_[first].b;
  }
  Expr e = join(first, second);
  for (size_t i = heads.size(); i-- > 0;) e = join(heads[i], e);
  return e;
}

Expr Expressions::concat(std::initializer_list<Expr> parts) {
  Expr e = kEmptyText;
  for (size_t i = parts.size(); i-- > 0;) e = concat(parts.begin()[i], e);
  return e;
}

void Expressions::flatten(Kind kind, std::vector<Expr>& parts) const {
  std::vector<Expr> flat;
  for (Expr part : parts) {
    const Node& node = nodes_[part];
    if (node.kind == kind) {
      const auto inner = operands(node);
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else {
      flat.push_back(part);
    }
  }
  std::ranges::sort(flat);
  flat.erase(std::ranges::unique(flat).begin(), flat.end());
  parts.swap(flat);
}

// Any text of characters makes other texts superfluous in a union, and is superfluous beside them in an intersection.
void Expressions::absorb(std::vector<Expr>& parts, bool keeps_universe) const {
  if (any_text_ == kNothing || parts.size() < 2 || std::ranges::find(parts, any_text_) == parts.end()) return;
  if (keeps_universe) {
    std::erase_if(parts, [this](Expr e) { return e != any_text_ && nodes_[e].is_text; });
  } else if (std::ranges::any_of(parts, [this](Expr e) { return e != any_text_ && nodes_[e].is_text; })) {
    std::erase(parts, any_text_);
  }
}

Expr Expressions::nary(Kind kind, const std::vector<Expr>& parts) {
  const bool is_or = kind == Kind::kOr;
  Node node{.kind = kind};
  node.is_nullable = !is_or;
  node.needs_search = !is_or;
  node.is_text = is_or;
  ByteSet first = is_or ? ByteSet() : ByteSet::all();
  for (Expr part : parts) {
    const Node& operand = nodes_[part];
    node.needs_search |= operand.needs_search;
    node.is_nullable = is_or ? node.is_nullable || operand.is_nullable : node.is_nullable && operand.is_nullable;
    node.is_text = is_or ? node.is_text && operand.is_text : node.is_text || operand.is_text;
    first = is_or ? first | sets_[operand.first] : first & sets_[operand.first];
  }
  if (!is_or && first.is_empty()) return node.is_nullable ? kEmptyText : kNothing;
  node.first = intern_set(first);
  return intern(node, parts);
}

Expr Expressions::any_of(std::vector<Expr> parts) {
  std::erase(parts, kNothing);
  absorb(parts, true);
  // A character is an alternative of its spellings, of which each alone is no character: asked before they are joined.
  const bool is_text = !parts.empty() && std::ranges::all_of(parts, [this](Expr e) { return nodes_[e].is_text; });
  flatten(Kind::kOr, parts);
  absorb(parts, true);
  ByteSet single;
  size_t n_single = 0;
  for (Expr part : parts)
    if (nodes_[part].kind == Kind::kBytes) {
      single = single | sets_[nodes_[part].a];
      ++n_single;
    }
  if (n_single > 1) {
    std::erase_if(parts, [this](Expr e) { return nodes_[e].kind == Kind::kBytes; });
    parts.push_back(bytes(single));
    std::ranges::sort(parts);
  }
  if (parts.empty()) return kNothing;
  const Expr e = parts.size() == 1 ? parts[0] : nary(Kind::kOr, parts);
  nodes_[e].is_text |= is_text;
  return e;
}

Expr Expressions::all_of(std::vector<Expr> parts) {
  flatten(Kind::kAnd, parts);
  if (std::ranges::find(parts, kNothing) != parts.end()) return kNothing;
  absorb(parts, false);
  std::erase_if(parts, [this](Expr e) { return nodes_[e].kind == Kind::kNot && nodes_[e].a == kNothing; });
  const bool is_text = std::ranges::any_of(parts, [this](Expr e) { return nodes_[e].is_text; });
  for (Expr part : parts) {
    if (nodes_[part].kind != Kind::kNot) continue;
    const Expr refused = nodes_[part].a;
    if (std::ranges::binary_search(parts, refused) || (is_text && refused == any_text_)) return kNothing;
  }
  if (parts.empty()) return complement(kNothing);
  return parts.size() == 1 ? parts[0] : nary(Kind::kAnd, parts);
}

Expr Expressions::complement(Expr e) {
  if (nodes_[e].kind == Kind::kNot) return nodes_[e].a;
  Node node{.kind = Kind::kNot, .a = e};
  node.is_nullable = !nodes_[e].is_nullable;
  node.needs_search = true;
  node.first = intern_set(ByteSet::all());
  return intern(node);
}

Expr Expressions::repeat(Expr e, uint32_t min, uint32_t max) {
  if (max == 0 || e == kEmptyText) return kEmptyText;
  if (e == kNothing) return min == 0 ? kEmptyText : kNothing;
  if (nodes_[e].is_nullable) min = 0;  // the missing ones match nothing
  if (min == 1 && max == 1) return e;
  const Node& of = nodes_[e];
  if (of.kind == Kind::kRepeat && of.min <= 1 && of.max == kUnbounded && max == kUnbounded)
    return repeat(of.a, std::min(of.min, min), kUnbounded);
  Node node{.kind = Kind::kRepeat, .a = e, .min = min, .max = max};
  node.is_nullable = min == 0;
  node.needs_search = of.needs_search;
  node.is_text = of.is_text;
  node.first = of.first;
  return intern(node);
}

Expr Expressions::multiple(uint32_t modulus, uint32_t remainder) {
  constexpr auto kFirst = [] {
    ByteSet set = ByteSet::range('0', '9');
    set.insert('.');
    return set;
  }();
  Node node{.kind = Kind::kMultiple, .a = modulus, .min = remainder};
  node.is_nullable = remainder == 0;
  node.first = intern_set(kFirst);
  return intern(node);
}

Expr Expressions::derive(Expr e, uint8_t byte) {
  if (!first(e).contains(byte)) return kNothing;
  if (nodes_[e].kind == Kind::kBytes) return kEmptyText;
  const uint64_t key = pair_key(e, byte);
  if (const uint32_t known = derivatives_.find(key); known != kAbsent) return known;
  const DepthGuard guard(depth_);
  const Expr result = compute_derivative(e, byte);
  derivatives_.insert(key, result);
  return result;
}

Expr Expressions::derive_concat(Expr e, uint8_t byte) {
  std::vector<Expr> alternatives;
  while (nodes_[e].kind == Kind::kConcat) {
    const auto [head, tail] = std::pair(nodes_[e].a, nodes_[e].b);
    if (const Expr rest = derive(head, byte); rest != kNothing) alternatives.push_back(concat(rest, tail));
    if (!nodes_[head].is_nullable) return any_of(std::move(alternatives));
    e = tail;
  }
  alternatives.push_back(derive(e, byte));
  return any_of(std::move(alternatives));
}

Expr Expressions::compute_derivative(Expr e, uint8_t byte) {
  const Node node = nodes_[e];  // a copy: nodes_ grows
  switch (node.kind) {
    case Kind::kNone:
    case Kind::kEmpty:
    case Kind::kLabel:
      return kNothing;
    case Kind::kBytes:
      return kEmptyText;
    case Kind::kConcat:
      return derive_concat(e, byte);
    case Kind::kNot:
      return complement(derive(node.a, byte));
    case Kind::kRepeat:
      return concat(derive(node.a, byte), repeat(node.a, node.min == 0 ? 0 : node.min - 1,
                                                 node.max == kUnbounded ? kUnbounded : node.max - 1));
    case Kind::kMultiple:
      if (byte == '.') return e;
      return multiple(node.a, static_cast<uint32_t>((uint64_t{node.min} * 10 + (byte - '0')) % node.a));
    case Kind::kOr:
    case Kind::kAnd:
      break;
  }
  std::vector<Expr> parts;
  for (uint32_t i = 0; i < node.b; ++i) {
    const Expr part = derive(operands_[node.a + i], byte);
    if (part != kNothing)
      parts.push_back(part);
    else if (node.kind == Kind::kAnd)
      return kNothing;
  }
  return node.kind == Kind::kOr ? any_of(std::move(parts)) : all_of(std::move(parts));
}

bool Expressions::is_live(Expr e) {
  Node& node = nodes_[e];
  if (!node.needs_search) return e != kNothing;
  if (node.liveness == kUnknown) {
    const DepthGuard guard(depth_);
    const bool is_alive = compute_liveness(e);
    nodes_[e].liveness = is_alive ? kLive : kDead;
  }
  return nodes_[e].liveness == kLive;
}

bool Expressions::compute_liveness(Expr e) {
  const Node node = nodes_[e];
  if (node.is_nullable) return true;
  if (node.kind == Kind::kRepeat) return is_live(node.a);
  if (node.kind == Kind::kConcat) {
    for (; nodes_[e].kind == Kind::kConcat; e = nodes_[e].b)
      if (!is_live(nodes_[e].a)) return false;
    return is_live(e);
  }
  if (node.kind == Kind::kOr) {
    for (uint32_t i = 0; i < node.b; ++i)
      if (is_live(operands_[node.a + i])) return true;
    return false;
  }
  return search(e);
}

// Breadth first: the shortest rest of a text is mostly short. Escapes and longer characters, which mostly lead where a
// single byte leads, come when nothing else is left. If nothing is found, all that was seen is dead.
bool Expressions::search(Expr from) {
  struct Reached {
    Expr e;
    size_t before;  // index of what it was reached from
  };
  std::vector<Reached> reached = {{from, 0}};
  FlatMap is_reached;
  is_reached.insert(from, 1);
  size_t n_steps = 0;
  std::vector<size_t> open = {0}, deferred;  // indices in reached
  for (size_t next = 0; next < open.size() || !deferred.empty(); ++next) {
    if (next == open.size()) open.insert(open.end(), deferred.begin(), deferred.end()), deferred.clear();
    const size_t i = open[next];
    for (uint8_t byte : representatives(reached[i].e)) {
      if (++n_steps > kMaxSearchSteps)
        throw Error("it takes too long to find out whether a text satisfies all of its conditions");
      const Expr rest = derive(reached[i].e, byte);
      const Node& node = nodes_[rest];
      if (rest == kNothing || node.liveness == kDead || is_reached.find(rest) != kAbsent) continue;
      if (node.is_nullable || !node.needs_search || node.liveness == kLive) {
        for (size_t at = i;; at = reached[at].before) {
          nodes_[reached[at].e].liveness = kLive;
          if (at == 0) return true;
        }
      }
      is_reached.insert(rest, 1);
      (byte == '\\' || byte >= 0x80 ? deferred : open).push_back(reached.size());
      reached.push_back({rest, i});
    }
  }
  for (const Reached& one : reached) nodes_[one.e].liveness = kDead;
  return false;
}

// Sets of bytes, in or out of which all bytes have equal derivatives.
void Expressions::collect_classes(Expr e, std::vector<uint32_t>& sets) const {
  const DepthGuard guard(depth_);
  for (; nodes_[e].kind == Kind::kConcat; e = nodes_[e].b) {
    collect_classes(nodes_[e].a, sets);
    if (!nodes_[nodes_[e].a].is_nullable) return;
  }
  const Node& node = nodes_[e];
  switch (node.kind) {
    case Kind::kBytes:
      sets.push_back(node.a);
      break;
    case Kind::kNot:
    case Kind::kRepeat:
      collect_classes(node.a, sets);
      break;
    case Kind::kOr:
    case Kind::kAnd:
      for (Expr part : operands(node)) collect_classes(part, sets);
      break;
    case Kind::kMultiple:  // each byte by itself, marked by the empty set
      sets.push_back(0);
      break;
    default:
      break;
  }
}

std::vector<uint8_t> Expressions::representatives(Expr e) const {
  std::vector<uint32_t> sets;
  collect_classes(e, sets);
  std::ranges::sort(sets);
  sets.erase(std::ranges::unique(sets).begin(), sets.end());
  std::array<uint64_t, 256> signature{};
  for (uint32_t id : sets) {
    for (int byte = 0; byte < 256; ++byte) {
      const uint64_t is_in = id == 0 ? static_cast<uint64_t>(byte) + 1 : sets_[id].contains(static_cast<uint8_t>(byte));
      signature[byte] = mixed(signature[byte] * 3 + is_in + id * uint64_t{0x9E3779B97F4A7C15});
    }
  }
  std::vector<uint8_t> found;
  FlatMap known;
  first(e).for_each([&](uint8_t byte) {
    if (known.find(signature[byte]) != kAbsent) return;
    known.insert(signature[byte], 1);
    found.push_back(byte);
  });
  return found;
}

bool Expressions::matches(Expr e, std::string_view text) {
  for (char c : text) {
    e = derive(e, static_cast<uint8_t>(c));
    if (e == kNothing) return false;
  }
  return nodes_[e].is_nullable;
}

void Expressions::labels(Expr e, std::vector<uint32_t>& found) const {
  const DepthGuard guard(depth_);
  if (!nodes_[e].is_nullable) return;
  for (; nodes_[e].kind == Kind::kConcat; e = nodes_[e].b) {
  }
  const Node& node = nodes_[e];
  if (node.kind == Kind::kLabel) found.push_back(node.a);
  if (node.kind == Kind::kOr)
    for (Expr part : operands(node)) labels(part, found);
  if (depth_ > 1) return;
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
}

void Expressions::set_character(Expr character) {
  character_ = character;
  nodes_[character].is_text = true;
  any_text_ = repeat(character, 0, kUnbounded);
}

std::optional<Expressions::Run> Expressions::leading_run(Expr e) const {
  const Node& node = nodes_[e];
  if (node.kind != Kind::kConcat) return std::nullopt;
  const Node& head = nodes_[node.a];
  if (head.kind != Kind::kRepeat || head.a != character_) return std::nullopt;
  return Run{head.max, node.b};
}

Expr Expressions::without_far_counts(Expr e) {
  const DepthGuard guard(depth_);
  const Node node = nodes_[e];
  if (node.needs_search) return e;  // a count may decide over an intersection
  if (node.kind == Kind::kConcat) return concat(without_far_counts(node.a), node.b);
  if (node.kind == Kind::kRepeat && node.max > kFarBytes)
    return repeat(node.a, std::min(node.min, kFarBytes + 1), kUnbounded);
  if (node.kind != Kind::kOr) return e;
  std::vector<Expr> parts;
  for (uint32_t i = 0; i < node.b; ++i) parts.push_back(without_far_counts(operands_[node.a + i]));
  return any_of(std::move(parts));
}

}  // namespace warpchat::grammar
