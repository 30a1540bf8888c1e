// What the bytes of an answer may be: a JSON Schema or a GBNF grammar, compiled. The room's door: later users need this
// header and token_masks.h alone.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/automaton.h"
#include "engine/grammar/schema_rules.h"

namespace warpchat::grammar {

// A rule of a grammar that a JSON Schema describes: an object of it.
struct ObjectRule {
  std::string name;  // in the grammar
  std::string schema;
  std::optional<MemberMarkup> markup = {};  // nullopt: JSON
};

// For one answer at a time: states are built while they are asked for, so that a constraint is not for two threads at
// once. A state is a number that stays valid as long as the constraint: a draft is undone by going back to an old one.
class Constraint {
 public:
  // Text of a JSON Schema, drafts 4 to 2020-12. Error: one sentence that names keyword, format or reference, and where,
  // for what cannot be read or held, and for a schema that no value satisfies.
  static std::unique_ptr<Constraint> from_schema(std::string_view json);
  // GBNF, as llama.cpp has it, with the rule `root`. objects: rules that it uses without defining them. Error: one
  // sentence with line or rule, or as above.
  static std::unique_ptr<Constraint> from_grammar(std::string_view gbnf, std::span<const ObjectRule> objects = {});

  State start() const { return automaton_->start(); }
  // kRejected: no allowed text goes on with the bytes. From any other state an allowed text can be completed. Error if
  // the state needs more memory than a constraint may have.
  State advance(State state, std::string_view bytes) { return automaton_->advance(state, bytes); }
  State advance(State state, uint8_t byte) { return automaton_->advance(state, byte); }
  // Whether the text so far is whole: the answer may end.
  bool is_complete(State state) const { return automaton_->is_complete(state); }
  // Bytes of which at least one can follow. Empty: the answer must end.
  ByteSet next_bytes(State state);
  // The bytes that must follow, as far as there is one way to go on; escapes of a character that may stand as it is are
  // no other way. At most max_bytes.
  std::string forced_bytes(State state, size_t max_bytes = 256);
  // What can follow, for a message: "\"", a digit or the end.
  std::string expected(State state);

  struct Verdict {
    bool is_accepted;
    size_t at;             // rejected: the first byte that no allowed text has there; the length if more must follow
    std::string expected;  // rejected: what could follow there
  };
  Verdict check(std::string_view text);

  Automaton& automaton() { return *automaton_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what was ignored as an annotation, for the log

 private:
  Constraint() = default;
  void build(Rules& rules, Rule root, std::string_view what);
  bool is_escaped_form(State state, State plain);

  Expressions expressions_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<Automaton> automaton_;
  std::vector<std::string> notes_;
};

}  // namespace warpchat::grammar
