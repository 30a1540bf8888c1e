#include "engine/grammar/constraint.h"

#include <map>
#include <optional>

#include "engine/grammar/gbnf.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::grammar {

namespace {

constexpr std::chrono::seconds kMaxCompileTime{8};
constexpr size_t kMaxAlternatives = 8;  // of bytes, in a message

std::string byte_name(uint8_t byte) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  if (byte == ' ') return "a blank";
  if (byte == '\n') return "a line break";
  if (byte == '\t') return "a tab";
  if (byte > ' ' && byte < 0x7F) return std::string{'\'', static_cast<char>(byte), '\''};
  return std::string("byte 0x") + kHex[byte / 16] + kHex[byte % 16];
}

// Ranges of three and more bytes as "'a' to 'z'".
std::vector<std::string> names_of(ByteSet bytes) {
  std::vector<std::string> names;
  for (int from = 0; from < 256; ++from) {
    int to = from;
    while (to < 256 && bytes.contains(static_cast<uint8_t>(to))) ++to;
    const int n = to - from;
    if (n > 2)
      names.push_back(byte_name(static_cast<uint8_t>(from)) + " to " + byte_name(static_cast<uint8_t>(to - 1)));
    for (int i = from; n <= 2 && i < to; ++i) names.push_back(byte_name(static_cast<uint8_t>(i)));
    from = to;
  }
  return names;
}

}  // namespace

void Constraint::build(Rules& rules, Rule root, std::string_view what) {
  if (!rules.finish(root)) throw Error("no text satisfies the " + std::string(what));
  automaton_ = std::make_unique<Automaton>(expressions_, rules, root);
  expressions_.set_deadline(std::nullopt);
}

std::unique_ptr<Constraint> Constraint::from_schema(std::string_view json) {
  std::unique_ptr<Constraint> constraint(new Constraint());
  constraint->expressions_.set_deadline(std::chrono::steady_clock::now() + kMaxCompileTime);
  constraint->rules_ = std::make_unique<Rules>(constraint->expressions_);
  const Rule root = rules_of_schema(*constraint->rules_, json, constraint->notes_);
  constraint->build(*constraint->rules_, root, "schema");
  return constraint;
}

std::unique_ptr<Constraint> Constraint::from_grammar(std::string_view gbnf, std::span<const ObjectRule> objects) {
  std::unique_ptr<Constraint> constraint(new Constraint());
  constraint->expressions_.set_deadline(std::chrono::steady_clock::now() + kMaxCompileTime);
  constraint->rules_ = std::make_unique<Rules>(constraint->expressions_);
  std::map<std::string, Rule> given;
  for (const ObjectRule& object : objects)
    given[object.name] = object.markup
                             ? rules_of_members(*constraint->rules_, object.schema, *object.markup, constraint->notes_)
                             : rules_of_object_schema(*constraint->rules_, object.schema, constraint->notes_);
  const Rule root = rules_of_gbnf(*constraint->rules_, gbnf, given);
  constraint->build(*constraint->rules_, root, objects.empty() ? "grammar" : "schema");
  return constraint;
}

ByteSet Constraint::next_bytes(State state) {
  ByteSet possible;
  const ByteSet candidates = automaton_->next_bytes(state);  // a copy: states move when there are more
  candidates.for_each([&](uint8_t byte) {
    if (automaton_->advance(state, byte) != kRejected) possible.insert(byte);
  });
  return possible;
}

// Whether every way from the state, which is behind a backslash, leads to `plain` within the length of an escape.
bool Constraint::is_escaped_form(State state, State plain) {
  constexpr size_t kMaxEscapeBytes = 11;  // a surrogate pair, without the first backslash
  std::vector<std::pair<State, size_t>> open = {{state, 0}};
  for (size_t i = 0; i < open.size(); ++i) {
    const auto [at, n_bytes] = open[i];
    if (at == plain) continue;
    if (n_bytes == kMaxEscapeBytes || is_complete(at) || open.size() > 64) return false;
    next_bytes(at).for_each([&, n = n_bytes + 1](uint8_t byte) { open.emplace_back(advance(at, byte), n); });
  }
  return true;
}

std::string Constraint::forced_bytes(State state, size_t max_bytes) {
  std::string forced;
  while (forced.size() < max_bytes && !is_complete(state)) {
    ByteSet next = next_bytes(state);
    if (next.size() > 2 || next.is_empty()) break;
    std::optional<uint8_t> byte;
    next.for_each([&](uint8_t b) {
      if (b != '\\' || next.size() == 1) byte = b;
    });
    const State after = advance(state, *byte);
    if (next.size() == 2 && (!next.contains('\\') || !is_escaped_form(advance(state, uint8_t{'\\'}), after))) break;
    forced += static_cast<char>(*byte);
    state = after;
  }
  return forced;
}

std::string Constraint::expected(State state) {
  std::vector<std::string> names;
  const std::string forced = forced_bytes(state, 40);
  if (forced.size() > 1)
    names.push_back(forced);
  else
    names = names_of(next_bytes(state));
  if (names.size() > kMaxAlternatives) {
    names.resize(kMaxAlternatives);
    names.emplace_back("others");
  }
  if (is_complete(state)) names.emplace_back("the end");
  return word_list(names, " or ");
}

Constraint::Verdict Constraint::check(std::string_view text) {
  State state = start();
  for (size_t i = 0; i < text.size(); ++i) {
    const State next = advance(state, static_cast<uint8_t>(text[i]));
    if (next == kRejected) return {false, i, expected(state)};
    state = next;
  }
  if (is_complete(state)) return {true, text.size(), ""};
  return {false, text.size(), expected(state)};
}

}  // namespace warpchat::grammar
