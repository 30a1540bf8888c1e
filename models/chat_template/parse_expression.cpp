#include <algorithm>

#include "models/chat_template/parser.h"

namespace warpchat::jinja {
namespace {

// Limit on depth, since expressions are evaluated and freed recursively. jinja2 gives up at 200.
constexpr int kMaxDepth = 250;
constexpr char kTooDeep[] = "an expression is nested too deeply";

std::string describe(const Token& token) {
  switch (token.type) {
    case TokenType::kData:
      return "the text behind the tag";
    case TokenType::kVariableBegin:
      return "'{{'";
    case TokenType::kVariableEnd:
      return "the tag's end '}}'";
    case TokenType::kBlockBegin:
      return "'{%'";
    case TokenType::kBlockEnd:
      return "the tag's end '%}'";
    case TokenType::kString:
      return "the string '" + token.text + "'";
    case TokenType::kEnd:
      return "the end of the template";
    default:
      return "'" + token.text + "'";
  }
}

}  // namespace

class ExpressionParser::Level {
 public:
  explicit Level(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.depth_ > kMaxDepth) fail_at(parser_.current().line, kTooDeep);
  }
  ~Level() { --parser_.depth_; }
  Level(const Level&) = delete;

 private:
  ExpressionParser& parser_;
};

template <class Node>
ExprPtr ExpressionParser::make(int line, Node node) {
  auto expr = std::make_unique<Expr>(Expr{line, 0, std::move(node)});
  expr->height = height_of_children(*expr) + 1;
  if (expr->height > kMaxDepth) fail_at(line, kTooDeep);
  return expr;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next_token();
  return true;
}

bool ExpressionParser::skip_operator(std::string_view op) {
  if (!is_operator(op)) return false;
  next_token();
  return true;
}

void ExpressionParser::expect_operator(std::string_view op) {
  if (!skip_operator(op)) fail_unexpected("'" + std::string(op) + "'");
}

std::string ExpressionParser::expect_name() {
  if (current().type != TokenType::kName) fail_unexpected("a name");
  return next_token().text;
}

std::string ExpressionParser::expect_dotted_name() {
  std::string name = expect_name();
  while (skip_operator(".")) name += "." + expect_name();
  return name;
}

void ExpressionParser::expect(TokenType type) {
  if (current().type != type) fail_unexpected(describe({type, 0, ""}));
  next_token();
}

void ExpressionParser::fail_unexpected(const std::string& expected) const {
  fail_at(current().line, "found " + describe(current()) + " where " + expected + " is expected");
}

ExprPtr ExpressionParser::parse_conditional() {
  const Level level(*this);
  const int line = current().line;
  const size_t unsupported_before = unsupported_.size();
  ExprPtr expr = parse_or();
  while (skip_name("if")) {
    ExprPtr test = parse_or();
    ExprPtr otherwise = skip_name("else") ? parse_conditional() : nullptr;
    expr = make(line, Conditional{std::move(test), std::move(expr), std::move(otherwise)});
    unsupported_.resize(unsupported_before);
  }
  return expr;
}

ExprPtr ExpressionParser::parse_or() {
  const int line = current().line;
  ExprPtr left = parse_and();
  while (skip_name("or")) left = make(line, Binary{Binary::Op::kOr, std::move(left), parse_and()});
  return left;
}

ExprPtr ExpressionParser::parse_and() {
  const int line = current().line;
  ExprPtr left = parse_not();
  while (skip_name("and")) left = make(line, Binary{Binary::Op::kAnd, std::move(left), parse_not()});
  return left;
}

ExprPtr ExpressionParser::parse_not() {
  const Level level(*this);
  const int line = current().line;
  if (skip_name("not")) return make(line, Unary{Unary::Op::kNot, parse_not()});
  return parse_comparison();
}

std::optional<Comparison::Op> ExpressionParser::take_comparison() {
  using Op = Comparison::Op;
  constexpr std::pair<std::string_view, Op> kOperators[] = {{"==", Op::kEqual},  {"!=", Op::kNotEqual},
                                                            {"<", Op::kLess},    {"<=", Op::kLessEqual},
                                                            {">", Op::kGreater}, {">=", Op::kGreaterEqual}};
  for (const auto& [spelling, op] : kOperators) {
    if (skip_operator(spelling)) return op;
  }
  if (skip_name("in")) return Op::kIn;
  if (is_name("not") && following().type == TokenType::kName && following().text == "in") {
    next_token();
    next_token();
    return Op::kNotIn;
  }
  return std::nullopt;
}

ExprPtr ExpressionParser::parse_comparison() {
  const int line = current().line;
  ExprPtr first = parse_sum();
  Comparison comparison;
  while (const auto op = take_comparison()) comparison.rest.emplace_back(*op, parse_sum());
  if (comparison.rest.empty()) return first;
  comparison.first = std::move(first);
  return make(line, std::move(comparison));
}

ExprPtr ExpressionParser::parse_sum() {
  const int line = current().line;
  ExprPtr left = parse_concatenation();
  while (is_operator("+") || is_operator("-")) {
    const auto op = next_token().text == "+" ? Binary::Op::kAdd : Binary::Op::kSubtract;
    left = make(line, Binary{op, std::move(left), parse_concatenation()});
  }
  return left;
}

ExprPtr ExpressionParser::parse_concatenation() {
  const int line = current().line;
  Concatenation concatenation;
  concatenation.parts.push_back(parse_product());
  while (skip_operator("~")) concatenation.parts.push_back(parse_product());
  if (concatenation.parts.size() == 1) return std::move(concatenation.parts[0]);
  return make(line, std::move(concatenation));
}

ExprPtr ExpressionParser::parse_product() {
  using Op = Binary::Op;
  const int line = current().line;
  ExprPtr left = parse_power();
  while (true) {
    Op op;
    if (skip_operator("*")) {
      op = Op::kMultiply;
    } else if (skip_operator("/")) {
      op = Op::kDivide;
    } else if (skip_operator("//")) {
      op = Op::kFloorDivide;
    } else if (skip_operator("%")) {
      op = Op::kModulo;
    } else {
      return left;
    }
    left = make(line, Binary{op, std::move(left), parse_power()});
  }
}

ExprPtr ExpressionParser::parse_power() {  // left-associative, unlike Python
  const int line = current().line;
  ExprPtr left = parse_unary();
  while (skip_operator("**")) left = make(line, Binary{Binary::Op::kPower, std::move(left), parse_unary()});
  return left;
}

ExprPtr ExpressionParser::parse_unary(bool with_filters) {
  const Level level(*this);
  const int line = current().line;
  ExprPtr expr;
  if (skip_operator("-")) {
    expr = make(line, Unary{Unary::Op::kMinus, parse_unary(false)});
  } else if (skip_operator("+")) {
    expr = make(line, Unary{Unary::Op::kPlus, parse_unary(false)});
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filters ? parse_filters_and_tests(std::move(expr)) : std::move(expr);
}

ExprPtr ExpressionParser::parse_primary() {
  const Token& token = current();
  if (token.type == TokenType::kName) return parse_name();
  if (token.type == TokenType::kString) return parse_string();
  if (token.type == TokenType::kInteger) return make(token.line, Literal{next_token().integer});
  if (token.type == TokenType::kReal) return make(token.line, Literal{next_token().real});
  if (is_operator("[")) return parse_list();
  if (is_operator("{")) return parse_dict();
  if (!skip_operator("(")) fail_unexpected("an expression");
  ExprPtr inner = parse_tuple({.may_be_empty = true});
  expect_operator(")");
  return inner;
}

ExprPtr ExpressionParser::parse_name() {
  const Token token = next_token();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return make(token.line, Literal{true});
  if (name == "false" || name == "False") return make(token.line, Literal{false});
  if (name == "none" || name == "None") return make(token.line, Literal{None{}});
  for (MacroUses& macro : macros_) {
    macro.caller |= name == "caller";
    macro.varargs |= name == "varargs";
    macro.kwargs |= name == "kwargs";
  }
  mention(name);
  return make(token.line, Variable{name});
}

ExprPtr ExpressionParser::parse_string() {
  const int line = current().line;
  std::string text;
  while (current().type == TokenType::kString) text += next_token().text;
  return make(line, Literal{literal_text(std::move(text))});
}

ExprPtr ExpressionParser::parse_list() {
  const int line = current().line;
  ListDisplay list{{}, false};
  expect_operator("[");
  while (!is_operator("]")) {
    if (!list.items.empty()) expect_operator(",");
    if (is_operator("]")) break;
    list.items.push_back(parse_expression());
  }
  expect_operator("]");
  return make(line, std::move(list));
}

ExprPtr ExpressionParser::parse_dict() {
  const int line = current().line;
  DictDisplay dict;
  expect_operator("{");
  while (!is_operator("}")) {
    if (!dict.entries.empty()) expect_operator(",");
    if (is_operator("}")) break;
    ExprPtr key = parse_expression();
    expect_operator(":");
    dict.entries.emplace_back(std::move(key), parse_expression());
  }
  expect_operator("}");
  return make(line, std::move(dict));
}

bool ExpressionParser::is_tuple_end(const TupleRules& rules) const {
  return current().type == TokenType::kVariableEnd || current().type == TokenType::kBlockEnd || is_operator(")") ||
         (!rules.end_name.empty() && is_name(rules.end_name));
}

ExprPtr ExpressionParser::parse_tuple(const TupleRules& rules) {
  const int line = current().line;
  ListDisplay tuple{{}, true};
  bool has_comma = false;
  while (!is_tuple_end(rules)) {
    tuple.items.push_back(rules.allows_conditional ? parse_expression() : parse_or());
    if (!skip_operator(",")) break;
    has_comma = true;
  }
  if (!has_comma && tuple.items.size() == 1) return std::move(tuple.items[0]);
  if (!has_comma && !rules.may_be_empty) fail_unexpected("an expression");
  return make(line, std::move(tuple));
}

ExprPtr ExpressionParser::parse_postfix(ExprPtr expr) {
  while (true) {
    if (is_operator(".")) {
      expr = parse_attribute(std::move(expr));
    } else if (is_operator("[")) {
      expr = parse_subscript(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExpressionParser::parse_attribute(ExprPtr object) {
  const int line = next_token().line;
  if (current().type == TokenType::kInteger) {
    ExprPtr index = make(line, Literal{next_token().integer});
    return make(line, ItemOf{std::move(object), std::move(index)});
  }
  return make(line, AttributeOf{std::move(object), literal_text(expect_name())});
}

ExprPtr ExpressionParser::parse_subscript(ExprPtr object) {
  const int line = next_token().line;
  ExprPtr result;
  if (is_operator(":")) {
    result = parse_slice(std::move(object), nullptr, line);
  } else {
    ListDisplay indices{{}, true};
    if (!is_operator("]")) indices.items.push_back(parse_expression());
    if (is_operator(":")) {
      result = parse_slice(std::move(object), std::move(indices.items[0]), line);
    } else {
      while (skip_operator(",")) indices.items.push_back(parse_expression());
      const bool is_one = indices.items.size() == 1;
      ExprPtr index = is_one ? std::move(indices.items[0]) : make(line, std::move(indices));
      result = make(line, ItemOf{std::move(object), std::move(index)});
    }
  }
  expect_operator("]");
  return result;
}

ExprPtr ExpressionParser::parse_slice(ExprPtr object, ExprPtr start, int line) {
  expect_operator(":");
  SliceOf slice{std::move(object), std::move(start), nullptr, nullptr};
  if (!is_operator(":") && !is_operator("]")) slice.stop = parse_expression();
  if (skip_operator(":") && !is_operator("]")) slice.step = parse_expression();
  return make(line, std::move(slice));
}

ExprPtr ExpressionParser::parse_call(ExprPtr callee) {
  const int line = current().line;
  CallArguments arguments = parse_arguments();
  return make(line, Call{std::move(callee), std::move(arguments)});
}

CallArguments ExpressionParser::parse_arguments() {
  const int line = current().line;
  const auto ensure = [line](bool holds) {
    if (!holds) fail_at(line, "the arguments of a call are in the wrong order or doubled");
  };
  CallArguments arguments;
  expect_operator("(");
  for (bool is_first = true; !is_operator(")"); is_first = false) {
    if (!is_first) expect_operator(",");
    if (is_operator(")")) break;
    if (skip_operator("*")) {
      ensure(!arguments.rest && !arguments.named_rest);
      arguments.rest = parse_expression();
    } else if (skip_operator("**")) {
      ensure(!arguments.named_rest);
      arguments.named_rest = parse_expression();
    } else if (current().type == TokenType::kName && is_operator(following(), "=")) {
      ensure(!arguments.named_rest);
      std::string name = next_token().text;
      for (const auto& earlier : arguments.named) ensure(earlier.first != name);
      next_token();
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      ensure(!arguments.rest && !arguments.named_rest && arguments.named.empty());
      arguments.positional.push_back(parse_expression());
    }
  }
  expect_operator(")");
  return arguments;
}

ExprPtr ExpressionParser::parse_filters_and_tests(ExprPtr expr) {
  while (true) {
    if (is_operator("|")) {
      expr = parse_filters(std::move(expr));
    } else if (is_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExpressionParser::parse_filters(ExprPtr input, bool begins_with_name) {
  while (begins_with_name || skip_operator("|")) {
    begins_with_name = false;
    const int line = current().line;
    Filtered filtered;
    filtered.name = expect_dotted_name();
    filtered.filter = find_filter(filtered.name);
    if (!filtered.filter) unsupported_.emplace_back(line, "the filter '" + filtered.name + "' is not supported");
    filtered.input = std::move(input);
    if (is_operator("(")) filtered.arguments = parse_arguments();
    input = make(line, std::move(filtered));
  }
  return input;
}

ExprPtr ExpressionParser::parse_test(ExprPtr value) {
  const int line = next_token().line;
  const bool negated = skip_name("not");
  Tested tested;
  tested.name = expect_dotted_name();
  tested.test = find_test(tested.name);
  if (!tested.test) unsupported_.emplace_back(line, "the test '" + tested.name + "' is not supported");
  tested.value = std::move(value);
  const TokenType type = current().type;
  const bool begins_argument = type == TokenType::kName || type == TokenType::kString || type == TokenType::kInteger ||
                               type == TokenType::kReal || is_operator("[") || is_operator("{");
  if (is_operator("(")) {
    tested.arguments = parse_arguments();
  } else if (begins_argument && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) fail_at(line, "tests cannot be chained with 'is'");
    tested.arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  ExprPtr expr = make(line, std::move(tested));
  return negated ? make(line, Unary{Unary::Op::kNot, std::move(expr)}) : std::move(expr);
}

}  // namespace warpchat::jinja
