// A nondeterministic pushdown automaton over bytes that follows rules. A state is a set of (stack, rest of a regular
// expression); stacks share their lower parts, and equal states have equal numbers. States are built when they are
// first reached and kept, so that a state is a plain number: cheap to copy, to keep and to return to.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/entry_tree.h"
#include "engine/grammar/rules.h"

namespace warpchat::grammar {

using State = uint32_t;

inline constexpr State kRejected = 0;  // no text goes on from here

class Automaton {
 public:
  // rules: finished, and can be satisfied; both must outlive it.
  Automaton(Expressions& expressions, const Rules& rules, Rule root);

  State start() const { return start_; }
  // The state after a byte. From every state other than kRejected some text leads to the end. Error if the state would
  // have too many configurations or memory is used up.
  State advance(State state, uint8_t byte) {
    if (state == kRejected) return kRejected;
    const Entry& entry = states_[state];
    const State known = entry.transitions ? (*entry.transitions)[byte] : kAbsent;
    return known != kAbsent ? known : compute(state, byte);
  }
  State advance(State state, std::string_view bytes);
  bool is_complete(State state) const { return states_[state].is_complete; }
  const ByteSet& next_bytes(State state) const { return states_[state].first; }  // a superset of those that go on
  size_t size() const { return states_.size(); }

  // How many of any JSON characters the state allows, whatever they are, and whether others than these are refused.
  struct FreeText {
    uint32_t max = 0;
    bool is_all = false;  // after max of them none follows
  };
  FreeText free_text(State state) const { return states_[state].free_text; }
  // A state from which the same texts of up to kFarBytes bytes go on.
  State without_far_counts(State state);

 private:
  using Stack = uint32_t;  // 0: empty
  struct Frame {           // what goes on when a rule on top of it ends
    Stack below = 0;
    Rule rule = 0;
    uint32_t position = 0;   // sequence: the next part; repeat, elements: done; members: which were used
    uint32_t count = 0;      // members: done; elements: of the counted kind
    bool is_inside = false;  // members, elements: a value is read; else its key or a separator
    bool operator==(const Frame&) const = default;
  };
  struct Configuration {
    Stack stack;
    Expr rest;
    auto operator<=>(const Configuration&) const = default;
  };
  struct Entry {
    std::vector<Configuration> configurations;  // sorted
    ByteSet first;
    FreeText free_text;
    bool is_complete = false;
    std::unique_ptr<std::array<State, 256>> transitions;  // kAbsent: not computed
  };

  class Closure;

  State compute(State state, uint8_t byte);
  FreeText find_free_text(const std::vector<Configuration>& configurations) const;
  State intern(std::vector<Configuration> configurations, bool is_complete);
  Stack push(const Frame& frame);
  uint32_t with_used(uint32_t set, uint32_t entry);
  bool is_used(uint32_t set, uint32_t entry) const;
  Expr allowed_entries(Rule rule, uint32_t used, bool has_required_alone);
  Expr members_expression(Rule rule, const Frame& frame, bool is_first);
  Expr elements_expression(Rule rule, const Frame& frame, bool is_first);

  Expressions& expressions_;
  const Rules& rules_;
  std::vector<Frame> frames_;
  FlatMap frame_ids_;  // hash -> the newest
  std::vector<uint32_t> same_frame_hash_;
  std::vector<std::vector<uint32_t>> used_sets_;            // entries, ascending; 0: none
  std::vector<std::pair<uint32_t, uint32_t>> used_before_;  // of a set: one that lacks one entry, and that entry
  std::map<std::vector<uint32_t>, uint32_t> used_ids_;
  struct Entries {  // that members allow, by what was used
    EntryTree tree;
    std::map<uint32_t, EntryTree::Version> versions;
  };
  std::map<std::pair<Rule, bool>, Entries> entries_;
  FlatMap with_used_;
  std::map<std::array<uint64_t, 4>, Expr> expressions_of_frames_;
  std::vector<Entry> states_;
  FlatMap state_ids_;
  std::vector<uint32_t> same_state_hash_;
  size_t n_tables_ = 0;
  State start_ = kRejected;
};

}  // namespace warpchat::grammar
