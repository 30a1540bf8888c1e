// A grammar of rules above regular expressions: what a pushdown automaton (automaton.h) follows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/grammar/expressions.h"

namespace warpchat::grammar {

using Rule = uint32_t;  // index in Rules

inline constexpr Rule kNoRule = UINT32_MAX;

// Things between brackets in any order, separated by commas: members of an object, or the elements of a list of which
// each stands once.
struct Members {
  struct Entry {
    std::vector<Expr> head;    // joined: a key with its colon, or an element; equal beginnings are followed once
    Rule value = kNoRule;      // after the head; kNoRule: nothing
    bool is_required = false;  // once
    bool can_repeat = false;   // else once at most
  };
  Expr open, close, separator;  // with the white space around them; close: also of an empty list behind `open`
  Expr open_and_close;          // without entries
  std::vector<Entry> entries;
  uint64_t min = 0, max = UINT64_MAX;
};

// Elements in order between brackets.
struct Elements {
  Expr open, close, separator, open_and_close;
  std::vector<Rule> prefix;
  Rule rest = kNoRule;  // kNoRule: no more than prefix
  uint64_t min = 0, max = UINT64_MAX;
  // Without prefix: elements that are counted, beside those of the rest, which are not.
  std::optional<Rule> counted;
  uint64_t min_counted = 0, max_counted = UINT64_MAX;
};

class Rules {
 public:
  enum class Kind : uint8_t { kTerminal, kSequence, kAlternatives, kRepeat, kReference, kMembers, kElements };

  struct Node {
    Kind kind = Kind::kReference;
    Expr terminal = kNothing;
    std::vector<Rule> parts;    // sequence, alternatives; one: repeat, reference
    uint64_t min = 0, max = 0;  // repeat
    uint32_t index = 0;         // in members(), elements()
    std::string name;           // of a rule in a text; empty: none
    bool can_finish = false;    // has a text; known after finish()
    bool is_nullable = false;   // matches the empty text; the same
  };

  explicit Rules(Expressions& expressions) : expressions_(expressions) {}

  Rule terminal(Expr e);
  Rule sequence(std::vector<Rule> parts);
  Rule alternatives(std::vector<Rule> parts);
  Rule repeat(Rule part, uint64_t min, uint64_t max);  // max: UINT64_MAX: unbounded
  Rule reference(std::string name = "");               // to be bound
  Rule members(Members members);
  Rule elements(Elements elements);
  void bind(Rule reference, Rule target) { nodes_[reference].parts = {target}; }

  // Removes what no text satisfies, so that every state of the automaton can be finished. false: no text satisfies
  // root. Error naming the rule for left recursion.
  bool finish(Rule root);

  size_t size() const { return nodes_.size(); }
  const Node& operator[](Rule rule) const { return nodes_[rule]; }
  Node& node(Rule rule) { return nodes_[rule]; }
  const Members& members_of(Rule rule) const { return members_[nodes_[rule].index]; }
  const Elements& elements_of(Rule rule) const { return elements_[nodes_[rule].index]; }
  Expressions& expressions() const { return expressions_; }

 private:
  Rule add(Node node);
  bool can_finish(const Node& node);
  bool can_finish(const Members& members) const;
  bool can_finish(const Elements& elements) const;
  bool is_nullable(const Node& node) const;
  void prune(Node& node);
  void prune(Members& members) const;
  void prune(Elements& elements) const;
  void refuse_left_recursion() const;
  std::vector<Rule> first_parts(const Node& node) const;

  Expressions& expressions_;
  std::vector<Node> nodes_;
  std::vector<Members> members_;
  std::vector<Elements> elements_;
};

}  // namespace warpchat::grammar
