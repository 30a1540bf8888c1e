// Declarations of variables: `.align 4 .b8 name[16] = {...}` for every state space.
#include <algorithm>
#include <bit>

#include "ptx/emulator/parser.h"

namespace ptx::emulator {

Parser::Declaration Parser::parse_declaration_head() {
  Declaration head;
  while (peek().kind == TokenKind::kDot) {
    const Token token = next_token();
    if (token.text == "align") {
      head.align = static_cast<uint32_t>(expect_integer("an alignment"));
      if (!std::has_single_bit(head.align)) refuse(token.at, "an alignment must be a power of two");
    } else if (token.text == "v2" || token.text == "v4") {
      head.vector = token.text == "v2" ? 2 : 4;
    } else if (token.text == "ptr") {
      head.is_pointer = true;
    } else if (token.text == "attribute") {
      parse_group(')', OperandKind::kList);
    } else if (head.is_pointer && (token.text == "global" || token.text == "shared" || token.text == "const" ||
                                   token.text == "local" || token.text == "generic")) {
      continue;  // .ptr .global .align 16 describes the memory a parameter points to
    } else if (Type type = type_named(token.text); type != Type::none && head.type == Type::none) {
      head.type = type;
    } else {
      refuse(token.at, "unexpected ." + std::string(token.text) + " in a declaration");
    }
    if (head.is_pointer && token.text == "align") head.align = 0;  // the pointee's
  }
  if (head.type == Type::none) refuse(peek().at, "the declaration names no type");
  if (!can_be_declared(head.type))
    refuse(peek().at, "nothing can be declared ." + std::string(name_of(head.type)) + "; use an untyped .b type");
  return head;
}

std::unique_ptr<Variable> Parser::parse_variable(const Declaration& head, Space space) {
  auto variable = std::make_unique<Variable>();
  variable->at = peek().at;
  variable->name = expect_name("the variable's name");
  variable->space = space;
  variable->type = head.type;
  if (head.type == Type::pred) refuse(variable->at, "a predicate cannot lie in memory");
  const uint64_t element = uint64_t{size_of(head.type)} * head.vector;
  variable->align = head.align ? head.align : static_cast<uint32_t>(element);
  parse_extents(*variable, element);
  if (space == Space::global || space == Space::constant) {
    if (accept('=')) parse_initialiser(*variable);
  }
  return variable;
}

void Parser::parse_extents(Variable& variable, uint64_t element) {
  uint64_t count = 1;
  while (accept('[')) {
    variable.is_array = true;
    if (accept(']')) {
      variable.is_unsized = true;
      count = 0;
      continue;
    }
    const Position where = peek().at;
    const int64_t extent = parse_constant();
    expect(']', "after the array's size");
    if (extent < 0 || (count && static_cast<uint64_t>(extent) > (1ull << 40) / (count * element))) {
      refuse(where, "array " + variable.name + " has an impossible size");
    }
    count *= static_cast<uint64_t>(extent);
  }
  variable.size = count * element;
}

void Parser::parse_initialiser(Variable& variable) {
  uint64_t offset = 0;
  parse_initialiser_values(variable, offset);
  if (variable.is_unsized) variable.size = offset;
  if (offset > variable.size)
    refuse(variable.at, "variable " + variable.name + " has more initial values than elements");
}

void Parser::parse_initialiser_values(Variable& variable, uint64_t& offset) {
  if (accept('{')) {
    if (accept('}')) return;
    do parse_initialiser_values(variable, offset);
    while (accept(','));
    expect('}', "after the initial values");
    return;
  }
  Initialiser value = parse_initial_value(variable.type);
  value.offset = offset;
  if (value.mask == ~0ull)
    value.size = size_of(variable.type);
  else
    value.size = 1;
  offset += size_of(variable.type);
  if (!value.symbol.empty() || value.bits != 0) variable.initialisers.push_back(std::move(value));
}

Initialiser Parser::parse_initial_value(Type type) {
  Initialiser value;
  value.at = peek().at;
  if (peek().kind == TokenKind::kName) {
    value.symbol = std::string(next_token().text);
    if (value.symbol == "generic" && accept('(')) {
      value.is_generic = true;
      value.symbol = expect_name("a symbol");
      if (at('+') || at('-')) value.bits = static_cast<uint64_t>(parse_constant());
      expect(')', "after generic(symbol");
    }
    if (at('+') || at('-')) value.bits += static_cast<uint64_t>(parse_constant());
    if (!scopes_.find(value.symbol)) refuse(value.at, "undeclared name " + value.symbol);
    return value;
  }
  if (peek().kind == TokenKind::kInteger && peek(1).kind == TokenKind::kPunctuation && peek(1).text == "(") {
    value.mask = next_token().bits;  // 0xFF00(symbol): one byte of an address
    next_token();
    Initialiser inner = parse_initial_value(type);
    expect(')', "after the masked symbol");
    inner.mask = value.mask;
    return inner;
  }
  const bool negative =
      peek().kind == TokenKind::kPunctuation && peek().text == "-" && peek(1).kind == TokenKind::kFloat;
  if (negative) next_token();
  if (peek().kind == TokenKind::kFloat) {
    const double number = std::bit_cast<double>(peek().bits) * (negative ? -1 : 1);
    const uint32_t single = next_token().single ^ (negative ? 0x80000000u : 0);
    const bool was_single = tokens_[next_ - 1].is_single;
    if (size_of(type) == 4)
      value.bits = was_single ? single : std::bit_cast<uint32_t>(static_cast<float>(number));
    else if (size_of(type) == 8)
      value.bits = std::bit_cast<uint64_t>(number);
    else
      refuse(value.at, "a floating-point value does not fit this type");
    return value;
  }
  value.bits = static_cast<uint64_t>(parse_constant());
  return value;
}

}  // namespace ptx::emulator
