#include "engine/grammar/automaton.h"

#include <algorithm>
#include <utility>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

constexpr size_t kMaxConfigurations = 20'000;  // of a state
constexpr size_t kMaxTables = 150'000;         // 1 KiB each
constexpr size_t kMaxStates = 2'000'000;
constexpr size_t kMaxFrames = 4'000'000;

// Bytes that begin a character of a JSON string which is written as it is.
constexpr ByteSet kPlainBytes = ByteSet::range(0x20, 0x21) | ByteSet::range(0x23, 0x5B) | ByteSet::range(0x5D, 0xFF);

uint64_t capped(uint64_t count, uint64_t min, uint64_t max) { return max == UINT64_MAX ? std::min(count, min) : count; }

}  // namespace

// Follows rules from a point in them to the next bytes: begins rules, and ends those that are complete.
class Automaton::Closure {
 public:
  explicit Closure(Automaton& automaton) : a_(automaton), e_(automaton.expressions_), rules_(automaton.rules_) {}

  void begin(Rule rule) { add({.rule = rule}); }

  // The rest of a terminal on a stack, behind at least one byte.
  void go_on(Stack stack, Expr rest) { reach(stack, rest, 0); }

  State finish() {
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item item = items_[i];
      if (item.rule != kNoRule)
        begin(item);
      else
        end(item);
    }
    std::ranges::sort(configurations_);
    configurations_.erase(std::ranges::unique(configurations_).begin(), configurations_.end());
    return a_.intern(std::move(configurations_), is_complete_);
  }

 private:
  struct Item {
    Stack stack = 0;
    Rule rule = kNoRule;  // to begin; kNoRule: what was on the stack has ended
    uint32_t label = 0;   // with which it ended
    uint32_t n_new = 0;   // of the stack's frames, those on top that were pushed without a byte since
    bool operator==(const Item&) const = default;
  };

  void add(const Item& item) {
    if (std::ranges::find(items_, item) != items_.end()) return;
    if (items_.size() >= kMaxConfigurations)
      throw Error("the grammar has more than " + grouped(kMaxConfigurations) + " readings of one text");
    items_.push_back(item);
  }

  void reach(Stack stack, Expr rest, uint32_t n_new) {
    if (!e_.first(rest).is_empty()) {
      if (configurations_.size() >= kMaxConfigurations)
        throw Error("the grammar has more than " + grouped(kMaxConfigurations) + " readings of one text");
      configurations_.push_back({stack, rest});
    }
    if (!e_.is_nullable(rest)) return;
    std::vector<uint32_t> labels;
    e_.labels(rest, labels);
    if (labels.empty()) labels.push_back(0);
    for (uint32_t label : labels) add({stack, kNoRule, label, n_new});
  }

  void begin(const Item& item) {
    const Rules::Node& node = rules_[item.rule];
    switch (node.kind) {
      case Rules::Kind::kTerminal:
        reach(item.stack, node.terminal, item.n_new);
        break;
      case Rules::Kind::kReference:
        add({item.stack, node.parts[0], 0, item.n_new});
        break;
      case Rules::Kind::kAlternatives:
        for (Rule part : node.parts) add({item.stack, part, 0, item.n_new});
        break;
      case Rules::Kind::kSequence:
        go_through(item.rule, item.stack, 0, item.n_new, item.n_new + 1);
        break;
      case Rules::Kind::kRepeat:
        repeat(item.rule, item.stack, 0, item.n_new);
        break;
      case Rules::Kind::kMembers:
      case Rules::Kind::kElements: {
        const Frame frame{.below = item.stack, .rule = item.rule};
        const Expr next = node.kind == Rules::Kind::kMembers ? a_.members_expression(item.rule, frame, true)
                                                             : a_.elements_expression(item.rule, frame, true);
        reach(a_.push(frame), next, 0);
        break;
      }
    }
  }

  // n_new: on `below`; n_new_pushed: with the sequence's own frame.
  void go_through(Rule rule, Stack below, uint32_t part, uint32_t n_new, uint32_t n_new_pushed) {
    const std::vector<Rule>& parts = rules_[rule].parts;
    if (part == parts.size()) return add({below, kNoRule, 0, n_new});
    if (part + 1 == parts.size()) return add({below, parts[part], 0, n_new});
    add({a_.push({.below = below, .rule = rule, .position = part + 1}), parts[part], 0, n_new_pushed});
  }

  void repeat(Rule rule, Stack below, uint64_t n_done, uint32_t n_new) {
    const Rules::Node& node = rules_[rule];
    if (n_done >= node.min) add({below, kNoRule, 0, n_new});
    if (n_done >= node.max) return;
    const auto position = static_cast<uint32_t>(capped(n_done + 1, node.min, node.max));
    add({a_.push({.below = below, .rule = rule, .position = position}), node.parts[0], 0, n_new + 1});
  }

  void end(const Item& item) {
    if (item.stack == 0) {
      is_complete_ = true;
      return;
    }
    const Frame frame = a_.frames_[item.stack];
    const uint32_t n_new = item.n_new > 0 ? item.n_new - 1 : 0;
    switch (rules_[frame.rule].kind) {
      case Rules::Kind::kSequence:
        go_through(frame.rule, frame.below, frame.position, n_new, item.n_new);
        break;
      case Rules::Kind::kRepeat:  // one that matched nothing need not be repeated
        if (item.n_new == 0) repeat(frame.rule, frame.below, frame.position, 0);
        break;
      case Rules::Kind::kMembers:
        end_in_members(frame, item.label);
        break;
      case Rules::Kind::kElements:
        end_in_elements(frame, item.label);
        break;
      default:
        break;
    }
  }

  void end_in_members(Frame frame, uint32_t label) {
    if (frame.is_inside) {
      frame.is_inside = false;
      return reach(a_.push(frame), a_.members_expression(frame.rule, frame, false), 0);
    }
    if (label == 0) return add({frame.below, kNoRule, 0, 0});
    const Members& members = rules_.members_of(frame.rule);
    const Members::Entry& entry = members.entries[label - 1];
    if (!entry.can_repeat) frame.position = a_.with_used(frame.position, label - 1);
    frame.count = static_cast<uint32_t>(capped(frame.count + uint64_t{1}, members.min, members.max));
    frame.is_inside = entry.value != kNoRule;
    if (frame.is_inside) return add({a_.push(frame), entry.value, 0, 0});
    reach(a_.push(frame), a_.members_expression(frame.rule, frame, false), 0);
  }

  void end_in_elements(Frame frame, uint32_t label) {
    if (frame.is_inside) {
      frame.is_inside = false;
      return reach(a_.push(frame), a_.elements_expression(frame.rule, frame, false), 0);
    }
    if (label == 0) return add({frame.below, kNoRule, 0, 0});
    const Elements& elements = rules_.elements_of(frame.rule);
    const uint64_t index = frame.position, n_prefix = elements.prefix.size();
    const uint64_t missing = elements.min_counted - std::min<uint64_t>(elements.min_counted, frame.count);
    const Rule element = index < n_prefix ? elements.prefix[index] : elements.rest;
    frame.position = static_cast<uint32_t>(capped(index + 1, std::max(elements.min, n_prefix), elements.max));
    frame.is_inside = true;
    if (element != kNoRule && (elements.max == UINT64_MAX || elements.max - index - 1 >= missing))
      add({a_.push(frame), element, 0, 0});
    if (elements.counted && frame.count < elements.max_counted) {
      frame.count =
          static_cast<uint32_t>(capped(frame.count + uint64_t{1}, elements.min_counted, elements.max_counted));
      add({a_.push(frame), *elements.counted, 0, 0});
    }
  }

  Automaton& a_;
  Expressions& e_;
  const Rules& rules_;
  std::vector<Item> items_;  // a work list that keeps what is done
  std::vector<Configuration> configurations_;
  bool is_complete_ = false;
};

Automaton::Automaton(Expressions& expressions, const Rules& rules, Rule root)
    : expressions_(expressions),
      rules_(rules),
      frames_(1),
      same_frame_hash_(1, kAbsent),
      used_sets_(1),
      used_before_(1) {
  used_ids_.emplace(std::vector<uint32_t>(), 0);
  states_.emplace_back();  // kRejected
  same_state_hash_.push_back(kAbsent);
  Closure closure(*this);
  closure.begin(root);
  start_ = closure.finish();
}

Automaton::Stack Automaton::push(const Frame& frame) {
  const uint64_t hash = mixed(pair_key(frame.below, frame.rule) + 1) ^
                        mixed(pair_key(frame.position, frame.count * 2 + frame.is_inside) * 31 + 7);
  const uint32_t newest = frame_ids_.find(hash);
  for (uint32_t id = newest; id != kAbsent; id = same_frame_hash_[id])
    if (frames_[id] == frame) return id;
  if (frames_.size() >= kMaxFrames) throw Error("the text is nested too deeply for its grammar");
  const auto id = static_cast<Stack>(frames_.size());
  frames_.push_back(frame);
  if (newest == kAbsent) {
    same_frame_hash_.push_back(kAbsent);
    frame_ids_.insert(hash, id);
  } else {
    same_frame_hash_.push_back(same_frame_hash_[newest]);
    same_frame_hash_[newest] = id;
  }
  return id;
}

State Automaton::intern(std::vector<Configuration> configurations, bool is_complete) {
  if (configurations.empty() && !is_complete) return kRejected;
  uint64_t hash = is_complete;
  for (const auto& [stack, rest] : configurations) hash = mixed(hash * 31 + pair_key(stack, rest));
  const uint32_t newest = state_ids_.find(hash);
  for (uint32_t id = newest; id != kAbsent; id = same_state_hash_[id])
    if (states_[id].configurations == configurations && states_[id].is_complete == is_complete) return id;
  if (states_.size() >= kMaxStates) throw Error("the grammar needs more than " + grouped(kMaxStates) + " states");
  Entry entry;
  for (const Configuration& configuration : configurations)
    entry.first = entry.first | expressions_.first(configuration.rest);
  entry.free_text = find_free_text(configurations);
  entry.configurations = std::move(configurations);
  entry.is_complete = is_complete;
  const auto id = static_cast<State>(states_.size());
  states_.push_back(std::move(entry));
  if (newest == kAbsent) {
    same_state_hash_.push_back(kAbsent);
    state_ids_.insert(hash, id);
  } else {
    same_state_hash_.push_back(same_state_hash_[newest]);
    same_state_hash_[newest] = id;
  }
  return id;
}

State Automaton::compute(State state, uint8_t byte) {
  if (!states_[state].first.contains(byte)) return kRejected;
  Closure closure(*this);
  for (size_t i = 0; i < states_[state].configurations.size(); ++i) {
    const auto [stack, rest] = states_[state].configurations[i];
    const Expr next = expressions_.derive(rest, byte);
    if (expressions_.is_live(next)) closure.go_on(stack, next);
  }
  const State next = closure.finish();
  if (!states_[state].transitions) {
    if (++n_tables_ > kMaxTables) {
      for (Entry& entry : states_) entry.transitions.reset();
      n_tables_ = 1;
    }
    auto table = std::make_unique<std::array<State, 256>>();
    table->fill(kRejected);
    states_[state].first.for_each([&](uint8_t possible) { (*table)[possible] = kAbsent; });
    states_[state].transitions = std::move(table);
  }
  return (*states_[state].transitions)[byte] = next;
}

State Automaton::without_far_counts(State state) {
  std::vector<Configuration> configurations = states_[state].configurations;
  for (Configuration& configuration : configurations)
    configuration.rest = expressions_.without_far_counts(configuration.rest);
  std::ranges::sort(configurations);
  configurations.erase(std::ranges::unique(configurations).begin(), configurations.end());
  return intern(std::move(configurations), states_[state].is_complete);
}

State Automaton::advance(State state, std::string_view bytes) {
  for (char byte : bytes) {
    if (state == kRejected) break;
    state = advance(state, static_cast<uint8_t>(byte));
  }
  return state;
}

uint32_t Automaton::with_used(uint32_t set, uint32_t entry) {
  const uint64_t key = pair_key(set, entry);
  if (const uint32_t known = with_used_.find(key); known != kAbsent) return known;
  std::vector<uint32_t> entries = used_sets_[set];
  const auto at = std::ranges::lower_bound(entries, entry);
  if (at == entries.end() || *at != entry) entries.insert(at, entry);
  const auto [found, is_new] = used_ids_.try_emplace(entries, static_cast<uint32_t>(used_sets_.size()));
  if (is_new) {
    used_sets_.push_back(std::move(entries));
    used_before_.emplace_back(set, entry);
  }
  with_used_.insert(key, found->second);
  return found->second;
}

bool Automaton::is_used(uint32_t set, uint32_t entry) const {
  return std::ranges::binary_search(used_sets_[set], entry);
}

Expr Automaton::allowed_entries(Rule rule, uint32_t used, bool has_required_alone) {
  const std::pair key(rule, has_required_alone);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    Entries all{EntryTree(expressions_, rules_.members_of(rule), has_required_alone), {{0, 0}}};
    found = entries_.emplace(key, std::move(all)).first;
  }
  Entries& entries = found->second;
  std::vector<uint32_t> missing;  // sets from `used` to one that is known
  while (!entries.versions.contains(used)) {
    missing.push_back(used);
    used = used_before_[used].first;
  }
  EntryTree::Version version = entries.versions[used];
  for (size_t i = missing.size(); i-- > 0;)
    entries.versions[missing[i]] = version = entries.tree.without(version, used_before_[missing[i]].second);
  return entries.tree.expression(version);
}

// Keys that are still needed always find room, so that every state can be finished.
Expr Automaton::members_expression(Rule rule, const Frame& frame, bool is_first) {
  const std::array<uint64_t, 4> key = {rule, frame.position, frame.count, is_first};
  if (const auto known = expressions_of_frames_.find(key); known != expressions_of_frames_.end()) return known->second;
  const Members& members = rules_.members_of(rule);
  uint64_t n_missing = 0;
  for (uint32_t i = 0; i < members.entries.size(); ++i)
    n_missing += members.entries[i].is_required && !is_used(frame.position, i);
  const uint64_t room = members.max - frame.count;
  const Expr head = room == 0 ? kNothing : allowed_entries(rule, frame.position, room <= n_missing);
  const Expr more = expressions_.concat(is_first ? members.open : members.separator, head);
  const bool can_close = n_missing == 0 && frame.count >= members.min;
  const Expr close = expressions_.concat(is_first ? members.open_and_close : members.close, expressions_.label(0));
  return expressions_of_frames_[key] = can_close ? expressions_.either(more, close) : more;
}

Expr Automaton::elements_expression(Rule rule, const Frame& frame, bool is_first) {
  const Elements& elements = rules_.elements_of(rule);
  const bool can_close = frame.position >= elements.min && frame.count >= elements.min_counted;
  const bool can_go_on = frame.position < elements.max;
  const Expr more = expressions_.concat(is_first ? elements.open : elements.separator, expressions_.label(1));
  const Expr close = expressions_.concat(is_first ? elements.open_and_close : elements.close, expressions_.label(0));
  return expressions_.either(can_go_on ? more : kNothing, can_close ? close : kNothing);
}

Automaton::FreeText Automaton::find_free_text(const std::vector<Configuration>& configurations) const {
  for (const Configuration& configuration : configurations) {
    const auto run = expressions_.leading_run(configuration.rest);
    if (!run) continue;
    if (run->max >= kFarBytes) return {kUnbounded, true};
    if (configurations.size() == 1) return {run->max, (expressions_.first(run->rest) & kPlainBytes).is_empty()};
  }
  return {};
}

}  // namespace warpchat::grammar
