// Parses a template's tokens with jinja2's grammar.
#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "models/chat_template/ast.h"
#include "models/chat_template/lexer.h"

namespace warpchat::jinja {

// Error with construct and line for invalid syntax and unsupported features.
Template parse_template(std::string_view source);

// Expressions: one function per level of precedence, lowest first.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  // Implicit names used in a macro, besides its parameters.
  struct MacroUses {
    bool caller = false, varargs = false, kwargs = false;
  };
  // How to read an expression list without brackets.
  struct TupleRules {
    bool allows_conditional = true;
    bool may_be_empty = false;       // in parentheses
    std::string_view end_name = {};  // a name that ends the list
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token next_token() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool is_name(std::string_view name) const { return current().type == TokenType::kName && current().text == name; }
  bool is_operator(std::string_view op) const { return is_operator(current(), op); }
  static bool is_operator(const Token& token, std::string_view op) {
    return token.type == TokenType::kOperator && token.text == op;
  }
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view op);
  void expect_operator(std::string_view op);
  std::string expect_name();
  std::string expect_dotted_name();
  void expect(TokenType type);
  [[noreturn]] void fail_unexpected(const std::string& expected) const;

  ExprPtr parse_expression() { return parse_conditional(); }
  ExprPtr parse_or();
  ExprPtr parse_tuple(const TupleRules& rules);
  ExprPtr parse_filters(ExprPtr input, bool begins_with_name = false);
  ExprPtr parse_primary();

  void mention(const std::string& name) {
    if (scopes_ == 0) mentioned_.insert(name);
  }

  std::vector<MacroUses> macros_;    // being parsed, outermost first
  int scopes_ = 0;                   // enclosing scopes: loops, macros, blocks
  std::set<std::string> mentioned_;  // variables mentioned outside all scopes
  // Unknown filters and tests so far, with lines, outside code that may never run: in such code they fail when reached.
  std::vector<std::pair<int, std::string>> unsupported_;

 private:
  class Level;  // guards the recursion depth

  ExprPtr parse_conditional();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_comparison();
  std::optional<Comparison::Op> take_comparison();
  ExprPtr parse_sum();
  ExprPtr parse_concatenation();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filters = true);
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_filters_and_tests(ExprPtr expr);
  ExprPtr parse_test(ExprPtr value);
  ExprPtr parse_name();
  ExprPtr parse_string();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_attribute(ExprPtr object);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_slice(ExprPtr object, ExprPtr start, int line);
  ExprPtr parse_call(ExprPtr callee);
  CallArguments parse_arguments();
  bool is_tuple_end(const TupleRules& rules) const;

  template <class Node>
  ExprPtr make(int line, Node node);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace warpchat::jinja
