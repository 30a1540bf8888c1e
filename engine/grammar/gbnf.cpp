// Rules without recursion become regular expressions, which the automaton follows fastest.
#include "engine/grammar/gbnf.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "engine/grammar/characters.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::grammar {

namespace {

constexpr uint64_t kMaxGbnfCount = 1'000'000'000;
constexpr int kMaxGroups = 250;     // nested
constexpr int kMaxFuseDepth = 400;  // of rules in rules; deeper ones stay rules

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class GbnfParser {
 public:
  GbnfParser(Rules& rules, std::string_view text, const std::map<std::string, Rule>& given)
      : rules_(rules), characters_(rules.expressions(), Encoding::kRaw), text_(text) {
    for (const auto& [name, rule] : given) {
      const Rule reference = rules_.reference(name);
      rules_.bind(reference, rule);
      known_.emplace(name, Named{reference, 0});
    }
  }

  Rule parse() {
    skip_space(true);
    while (at_ < text_.size()) definition();
    for (const auto& [name, rule] : known_)
      if (rules_[rule.number].parts.empty())
        throw Error("the rule " + printable(name) + " is used in line " + std::to_string(line_of(rule.at)) +
                    " of the grammar, but defined nowhere");
    const auto root = known_.find("root");
    if (root == known_.end()) throw Error("the grammar has no rule named root");
    return root->second.number;
  }

 private:
  struct Named {
    Rule number;
    size_t at;  // of its first use or its definition
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("line " + std::to_string(line_of(at_)) + " of the grammar: " + what);
  }
  size_t line_of(size_t at) const { return 1 + static_cast<size_t>(std::ranges::count(text_.substr(0, at), '\n')); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool skip(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  char32_t next() {
    if (at_ >= text_.size()) fail("the text ends too early");
    return next_code_point(text_, at_);
  }

  void skip_space(bool with_lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (!with_lines || at_ == text_.size()) return;
      } else if (c != ' ' && c != '\t' && !(with_lines && (c == '\n' || c == '\r'))) {
        return;
      }
    }
  }

  std::string name() {
    const size_t from = at_;
    while (is_name_character(peek())) ++at_;
    if (at_ == from) fail("expected the name of a rule");
    return std::string(text_.substr(from, at_ - from));
  }

  Rule rule_named(const std::string& name) {
    const auto [found, is_new] = known_.try_emplace(name, Named{0, at_});
    if (is_new) found->second.number = rules_.reference(name);
    return found->second.number;
  }

  void definition() {
    const std::string defined = name();
    skip_space(false);
    if (!skip("::=")) fail("expected ::= behind " + printable(defined));
    const Rule reference = rule_named(defined);
    if (!rules_[reference].parts.empty()) fail("the rule " + printable(defined) + " is defined a second time");
    skip_space(true);
    rules_.bind(reference, alternatives(0));
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r')
      fail("expected the end of the rule " + printable(defined));
    skip_space(true);
  }

  Rule alternatives(int n_groups) {
    if (n_groups > kMaxGroups) fail("more than " + std::to_string(kMaxGroups) + " nested groups");
    std::vector<Rule> all = {sequence(n_groups)};
    while (skip("|")) {
      skip_space(true);
      all.push_back(sequence(n_groups));
    }
    return rules_.alternatives(std::move(all));
  }

  Rule sequence(int n_groups) {
    std::vector<Rule> parts;
    while (const auto part = item(n_groups)) {
      skip_space(n_groups > 0);
      parts.push_back(repeated(*part, n_groups));
    }
    return rules_.sequence(std::move(parts));
  }

  // nullopt: the sequence has ended.
  std::optional<Rule> item(int n_groups) {
    const char c = peek();
    if (c == '"') return rules_.terminal(literal());
    if (c == '[') return rules_.terminal(bracket());
    if (skip(".")) return rules_.terminal(characters_.any());
    if (is_name_character(c)) return rule_named(name());
    if (c == '<' || text_.substr(at_).starts_with("!<")) fail("tokens such as <token> are not supported");
    if (!skip("(")) return std::nullopt;
    skip_space(true);
    const Rule inner = alternatives(n_groups + 1);
    if (!skip(")")) fail("a bracket ( is not closed");
    return inner;
  }

  uint64_t number() {
    const size_t from = at_;
    uint64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      value = value * 10 + static_cast<uint64_t>(peek() - '0');
      if (value > kMaxGbnfCount) fail("a repetition of more than " + grouped(kMaxGbnfCount));
    }
    if (at_ == from) fail("expected a number in braces");
    return value;
  }

  Rule repeated(Rule part, int n_groups) {
    for (;;) {
      uint64_t min = 0, max = UINT64_MAX;
      if (skip("*")) {
      } else if (skip("+")) {
        min = 1;
      } else if (skip("?")) {
        max = 1;
      } else if (skip("{")) {
        skip_space(n_groups > 0);
        min = max = number();
        skip_space(n_groups > 0);
        if (skip(",")) {
          skip_space(n_groups > 0);
          max = peek() == '}' ? UINT64_MAX : number();
          skip_space(n_groups > 0);
        }
        if (!skip("}")) fail("a brace { is not closed");
        if (min > max) fail("a repetition with more at least than at most");
      } else {
        return part;
      }
      part = rules_.repeat(part, min, max);
      skip_space(n_groups > 0);
    }
  }

  char32_t hex(int n_digits) {
    char32_t value = 0;
    for (int i = 0; i < n_digits; ++i) {
      const size_t digit = std::string_view("0123456789abcdefABCDEF").find(peek());
      if (at_ >= text_.size() || digit == std::string_view::npos) fail("an incomplete hexadecimal escape");
      value = value * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
      ++at_;
    }
    if (value > kLastCharacter || (value >= 0xD800 && value <= 0xDFFF)) fail("an escape that is no character");
    return value;
  }

  char32_t character() {
    const char32_t c = next();
    if (c != U'\\') return c;
    switch (const char32_t escaped = next()) {
      case U'x':
        return hex(2);
      case U'u':
        return hex(4);
      case U'U':
        return hex(8);
      case U'n':
        return U'\n';
      case U'r':
        return U'\r';
      case U't':
        return U'\t';
      case U'\\':
      case U'"':
      case U'[':
      case U']':
        return escaped;
      default:
        fail("an unknown escape: \\" + printable(std::string(1, escaped < 0x80 ? static_cast<char>(escaped) : '?')));
    }
  }

  Expr literal() {
    ++at_;
    std::u32string content;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n') fail("a quote \" is not closed");
      content += character();
    }
    ++at_;
    return characters_.text(content);
  }

  Expr bracket() {
    ++at_;
    const bool is_complement = skip("^");
    CharacterSet set;
    while (peek() != ']') {
      if (at_ >= text_.size()) fail("a bracket [ is not closed");
      const char32_t from = character();
      char32_t to = from;
      if (peek() == '-' && !text_.substr(at_).starts_with("-]")) {
        ++at_;
        if (at_ >= text_.size()) fail("a bracket [ is not closed");
        to = character();
        if (from > to) fail("a range of characters that ends before it begins");
      }
      set.add(from, to);
    }
    ++at_;
    return characters_.one_of(is_complement ? set.complement() : set);
  }

  Rules& rules_;
  Characters characters_;
  std::string_view text_;
  size_t at_ = 0;
  std::map<std::string, Named> known_;
};

class Fusion {
 public:
  // first: of the grammar's own rules. Those before it stay what they are.
  Fusion(Rules& rules, Rule first) : rules_(rules), first_(first), found_(rules.size()) {
    for (Rule rule = 0; rule < first; ++rule) found_[rule].is_known = true;
  }

  void run() {
    const size_t n = rules_.size();
    for (Rule rule = first_; rule < n; ++rule) expression_of(rule);
    for (Rule rule = first_; rule < n; ++rule) {
      if (!found_[rule].is_regular) continue;
      Rules::Node& node = rules_.node(rule);
      node.kind = Rules::Kind::kTerminal;
      node.terminal = found_[rule].e;
      node.parts.clear();
    }
  }

 private:
  struct Found {
    bool is_known = false, is_regular = false;
    Expr e = kNothing;
  };

  std::optional<Expr> expression_of(Rule rule) {
    Found& found = found_[rule];
    if (!found.is_known) {
      found.is_known = true;  // met again below, the rule is recursive
      if (depth_ >= kMaxFuseDepth) return std::nullopt;
      ++depth_;
      const std::optional<Expr> e = compute(rules_[rule]);
      --depth_;
      if (e) found = {true, true, *e};
    }
    return found.is_regular ? std::optional(found.e) : std::nullopt;
  }

  std::optional<Expr> compute(const Rules::Node& node) {
    if (node.kind == Rules::Kind::kTerminal) return node.terminal;
    std::vector<Expr> parts;
    for (Rule part : node.parts) {
      const auto e = expression_of(part);
      if (!e) return std::nullopt;
      parts.push_back(*e);
    }
    Expressions& e = rules_.expressions();
    switch (node.kind) {
      case Rules::Kind::kAlternatives:
        return e.any_of(std::move(parts));
      case Rules::Kind::kRepeat:
        return e.repeat(parts[0], static_cast<uint32_t>(node.min),
                        node.max == UINT64_MAX ? kUnbounded : static_cast<uint32_t>(node.max));
      default:
        break;
    }
    Expr joined = kEmptyText;
    for (size_t i = parts.size(); i-- > 0;) joined = e.concat(parts[i], joined);
    return joined;
  }

  Rules& rules_;
  const Rule first_;
  std::vector<Found> found_;
  int depth_ = 0;
};

}  // namespace

Rule rules_of_gbnf(Rules& rules, std::string_view text, const std::map<std::string, Rule>& given) {
  if (const size_t at = find_invalid_utf8(text); at != std::string_view::npos)
    throw Error("the grammar is not valid UTF-8 (byte " + std::to_string(at) + ")");
  const auto first = static_cast<Rule>(rules.size());
  const Rule root = GbnfParser(rules, text, given).parse();
  Fusion(rules, first).run();
  return root;
}

}  // namespace warpchat::grammar
