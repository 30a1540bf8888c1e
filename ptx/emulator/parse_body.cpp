// Function bodies: declarations, labels, statements and operands, with names resolved as they are read.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "ptx/emulator/parser.h"
#include "ptx/emulator/special_registers.h"

namespace ptx::emulator {
namespace {

// b0, h1, h10, b7654: register parts in video instructions.
bool is_selector(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'b' && text[0] != 'h')) return false;
  return text.find_first_not_of("01234567", 1) == std::string_view::npos;
}

// For these opcodes an array element is an address; elsewhere it is a value, like the array's name.
bool takes_elements(std::string_view opcode) { return opcode == "ld" || opcode == "ldu" || opcode == "st"; }

Operand address_of_element(Operand element) {
  Operand address;
  address.kind = OperandKind::kAddress;
  address.at = element.at;
  if (!element.subscript) address.offset = std::exchange(element.offset, 0);
  address.elements.push_back(std::move(element));
  return address;
}

bool is_branch_opcode(std::string_view opcode) { return opcode == "bra" || opcode == "brx"; }

struct Absent {
  const char *opcode, *modifier, *what;  // the modifier may be ""
};
constexpr Absent kAbsent[] = {
    {"cp", "tensor", "copies through tensor maps"},
    {"tensormap", "", "tensor maps"},
    {"wgmma", "", "matrix products of warp groups"},
    {"tcgen05", "", "tensor memory"},
    {"mma", "kind::f8f6f4", "matrix products of 8-, 6- and 4-bit reals of two kinds"},
    {"mma", "kind::mxf8f6f4", "block-scaled matrix products"},
    {"mma", "kind::mxf4", "block-scaled matrix products"},
    {"mma", "kind::mxf4nvf4", "block-scaled matrix products"},
    {"multimem", "", "multicast memory"},
    {"clusterlaunchcontrol", "", "clusters of more than one block"},
    {"tex", "", "textures"},
    {"tld4", "", "textures"},
    {"txq", "", "textures"},
    {"istypep", "", "textures"},
    {"suld", "", "surfaces"},
    {"sust", "", "surfaces"},
    {"sured", "", "surfaces"},
    {"suq", "", "surfaces"},
};

// Refuses instructions that are not emulated, by name, before parsing their unusual operands.
void refuse_absent(const Statement& s) {
  for (const Absent& row : kAbsent) {
    if (s.opcode != row.opcode) continue;
    if (*row.modifier && !std::ranges::count(s.modifiers, row.modifier)) continue;
    std::string spelling = s.opcode;
    for (const std::string& m : s.modifiers) spelling += "." + m;
    refuse(s.at, "the emulator has no " + std::string(row.what) + ": " + spelling);
  }
}

}  // namespace

void Parser::declare(const std::string& name, Symbol symbol, Position where) {
  if (scopes_.holds(name) || !scopes_.declare(name, symbol)) refuse(where, "name " + name + " is declared twice");
}

void Parser::parse_body(SyntaxFunction& function) {
  function_ = &function;
  pending_.clear();
  expect('{', "before the body");
  parse_body_items();
  const Position end = peek().at;
  expect('}', "after the body");
  close_scope();
  for (const PendingLabel& label : pending_) problems_->push_back({label.at, "undefined label " + label.name});
  Statement last;  // implicit return at the end
  last.opcode = "ret";
  last.at = end;
  function.body.push_back(std::move(last));
  function_ = nullptr;
}

void Parser::parse_body_items() {
  while (!at('}') && peek().kind != TokenKind::kEnd && problems_->size() < 20) {
    try {
      if (accept('{')) {
        scopes_.open();
        labels_.emplace_back();
        parse_body_items();
        expect('}', "after the block");
        close_scope();
        labels_.pop_back();
        scopes_.close();
      } else if (peek().kind == TokenKind::kDot) {
        parse_body_directive();
      } else if (peek().kind == TokenKind::kName && peek(1).text == ":" && peek(1).kind == TokenKind::kPunctuation) {
        parse_label();
      } else if (!accept(';')) {
        parse_statement();
      }
    } catch (const ParseProblem& problem) {
      problems_->push_back(problem);
      skip_to_end_of_statement();
    }
  }
}

// Resolves labels, which may be used before their definition; unresolved ones may be defined in an outer scope.
void Parser::close_scope() {
  std::erase_if(pending_, [this](PendingLabel& label) {
    if (label.depth < scopes_.depth()) return false;
    const auto found = labels_.back().find(label.name);
    if (found == labels_.back().end()) {
      label.depth = scopes_.depth() - 1;
      return false;
    }
    Operand& operand = label.in_table ? function_->label_tables[label.outer][label.inner]
                                      : function_->body[label.outer].operands[label.inner];
    operand.target = found->second;
    return true;
  });
}

void Parser::parse_body_directive() {
  const Token directive = next_token();
  const std::string_view word = directive.text;
  if (word == "reg") return parse_registers();
  if (word == "local") return parse_body_variables(Space::local);
  if (word == "shared" || word == "shared::cta") return parse_body_variables(Space::shared);
  if (word == "param") return parse_body_variables(Space::param);
  if (word == "global") return parse_body_variables(Space::global);
  if (word == "const") return parse_body_variables(Space::constant);
  if (word == "loc" || word == "file") return skip_line(directive.at.line);
  if (word == "pragma") return parse_body_pragma();
  refuse(directive.at, "unknown directive ." + std::string(word));
}

// The only relevant pragma: a load need not be able to read bytes that are not used.
void Parser::parse_body_pragma() {
  constexpr std::string_view kUsedBytes = "used_bytes_mask";
  const Token pragma = peek();
  skip_to_end_of_statement();
  if (pragma.kind != TokenKind::kString || !pragma.text.starts_with(kUsedBytes)) return;
  const std::string number(pragma.text.substr(kUsedBytes.size()));
  char* end = nullptr;
  const unsigned long long mask = std::strtoull(number.c_str(), &end, 0);
  if (end == number.c_str() || *end != '\0' || mask > ~0u)
    refuse(pragma.at, "pragma " + std::string(pragma.text) + " needs a mask of 32 bits");
  used_bytes_ = static_cast<uint32_t>(mask);
}

void Parser::parse_registers() {
  const Declaration head = parse_declaration_head();
  do {
    const Position where = peek().at;
    const std::string name = expect_name("a register's name");
    const uint32_t first = static_cast<uint32_t>(function_->registers.size());
    if (accept('<')) {
      const uint64_t count = expect_integer("the number of registers");
      expect('>', "after the number of registers");
      if (count > (1u << 20)) refuse(where, "too many registers");
      if (head.vector != 1) refuse(where, "a range of vector registers");
      if (!scopes_.declare_range(name, static_cast<uint32_t>(count), first))
        refuse(where, "name " + name + " is declared twice");
      for (uint64_t i = 0; i < count; ++i) function_->registers.push_back({name + std::to_string(i), head.type, 1});
    } else {
      if (find_special(name) != nullptr) refuse(where, "name " + name + " is a special register");
      declare(name, {Symbol::Kind::kRegister, first}, where);
      for (uint32_t i = 0; i < head.vector; ++i) {
        function_->registers.push_back({name, head.type, i == 0 ? head.vector : 1});
      }
    }
  } while (accept(','));
  expect(';', "after the registers");
}

void Parser::parse_body_variables(Space space) {
  const Declaration head = parse_declaration_head();
  do {
    auto variable = parse_variable(head, space);
    if (variable->is_unsized && variable->size == 0) refuse(variable->at, "array " + variable->name + " has no size");
    declare(variable->name, {Symbol::Kind::kVariable, 0, variable.get()}, variable->at);
    function_->variables.push_back(std::move(variable));
  } while (accept(','));
  expect(';', "after the variable");
}

void Parser::parse_label() {
  const Token name = next_token();
  next_token();  // ':'
  const std::string text(name.text);
  if (accept_dot("branchtargets")) {
    const uint32_t table = static_cast<uint32_t>(function_->label_tables.size());
    declare(text, {Symbol::Kind::kLabelTable, table}, name.at);
    function_->label_tables.emplace_back();
    do {
      Operand label = resolve(next_token(), true);
      const uint32_t element = static_cast<uint32_t>(function_->label_tables[table].size());
      pending_.push_back({label.name, label.at, true, table, element, scopes_.depth()});
      function_->label_tables[table].push_back(std::move(label));
    } while (accept(','));
    return expect(';', "after the branch targets");
  }
  if (accept_dot("callprototype")) {
    declare(text, {Symbol::Kind::kPrototype, static_cast<uint32_t>(function_->prototypes.size())}, name.at);
    function_->prototypes.push_back(parse_prototype());
    return expect(';', "after the prototype");
  }
  if (accept_dot("calltargets")) {
    declare(text, {Symbol::Kind::kPrototype, static_cast<uint32_t>(function_->prototypes.size())}, name.at);
    const Operand first = resolve(next_token(), false);
    if (first.kind != OperandKind::kFunction) refuse(first.at, "expected a function");
    function_->prototypes.push_back(first.function->signature);
    return skip_to_end_of_statement();
  }
  Symbol symbol{Symbol::Kind::kLabel, static_cast<uint32_t>(function_->body.size())};
  declare(text, symbol, name.at);
  labels_.back()[text] = symbol.index;
}

Signature Parser::parse_prototype() {
  Signature signature;
  if (at('(')) signature.returns = parse_parameters(*function_, "the prototype", false);
  expect_name("_ or a name in the prototype");
  if (at('(')) signature.parameters = parse_parameters(*function_, "the prototype", false);
  parse_limits(*function_);
  return signature;
}

void Parser::parse_guard(Statement& statement) {
  if (!accept('@')) return;
  statement.has_guard = true;
  statement.guard_negated = accept('!');
  const Operand guard = resolve(next_token(), false);
  if (guard.kind != OperandKind::kRegister || function_->registers[guard.index].type != Type::pred) {
    refuse(guard.at, "a guard must be a predicate register");
  }
  statement.guard = guard.index;
}

void Parser::parse_statement() {
  Statement statement;
  statement.tag = peek().tag;
  statement.used_bytes = std::exchange(used_bytes_, ~0u);
  parse_guard(statement);
  statement.at = peek().at;
  statement.opcode = expect_name("an instruction");
  while (peek().kind == TokenKind::kDot && !peek().spaced) statement.modifiers.emplace_back(next_token().text);
  refuse_absent(statement);
  const bool is_branch = is_branch_opcode(statement.opcode);
  while (!at(';')) {
    statement.operands.push_back(parse_operand(is_branch));
    if (!accept(',')) break;
  }
  expect(';', "after the instruction");
  const uint32_t index = static_cast<uint32_t>(function_->body.size());
  for (uint32_t i = 0; i < statement.operands.size(); ++i) {
    Operand& operand = statement.operands[i];
    if (operand.is_element && takes_elements(statement.opcode)) operand = address_of_element(std::move(operand));
    if (operand.kind == OperandKind::kLabel) {
      pending_.push_back({operand.name, operand.at, false, index, i, scopes_.depth()});
    }
  }
  function_->body.push_back(std::move(statement));
}

Operand Parser::parse_operand(bool is_branch) {
  Operand operand = parse_simple_operand(is_branch);
  if (accept('|')) operand.second = std::make_shared<Operand>(parse_simple_operand(is_branch));
  return operand;
}

Operand Parser::parse_simple_operand(bool is_branch) {
  const Token& token = peek();
  if (token.kind == TokenKind::kName) return parse_name_operand(is_branch);
  if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat) return parse_number(false);
  if (token.kind == TokenKind::kPunctuation) {
    if (at('-') && peek(1).kind == TokenKind::kName && peek(1).text[0] == '%') {
      next_token();
      Operand operand = parse_name_operand(is_branch);
      operand.is_negated = true;
      return operand;
    }
    if (accept('-')) return parse_number(true);
    if (accept('!')) {
      Operand operand = parse_name_operand(is_branch);
      operand.is_negated = true;
      return operand;
    }
    if (accept('{')) return parse_group('}', OperandKind::kVector);
    if (at('[')) return parse_address();
    if (at('(')) {
      next_token();
      return parse_group(')', OperandKind::kList);
    }
    if (at('~')) return parse_number(false);
  }
  refuse(token.at, "expected an operand, found '" + std::string(token.text) + "'");
}

Operand Parser::parse_name_operand(bool is_branch) {
  const Token name = next_token();
  Operand operand = resolve(name, is_branch);
  if (operand.kind == OperandKind::kVariable && at('[')) {
    parse_subscript(operand);
  } else if (operand.kind == OperandKind::kVariable && (at('+') || at('-'))) {
    operand.offset = parse_constant();
  } else if (operand.kind == OperandKind::kRegister && peek().kind == TokenKind::kDot && !peek().spaced) {
    const Token part = next_token();
    if (is_selector(part.text)) {
      operand.selector = std::string(part.text);
      return operand;
    }
    const size_t which = std::string_view("xyzwrgba").find(part.text[0]) % 4;
    const uint32_t n_components = function_->registers[operand.index].vector;
    if (part.text.size() != 1 || std::string_view("xyzwrgba").find(part.text[0]) == std::string_view::npos ||
        n_components < 2 || which >= n_components) {
      refuse(part.at, "register " + operand.name + " has no component ." + std::string(part.text));
    }
    operand.index += static_cast<uint32_t>(which);
    operand.elements.clear();
  }
  return operand;
}

// a[2], a[%r1], a[%r1+2]: elements have the array's scalar type, whatever its dimensions (PTX ISA 6.4.2).
void Parser::parse_subscript(Operand& array) {
  if (!array.variable->is_array) refuse(peek().at, "variable " + array.name + " is no array");
  expect('[', "before the element's number");
  array.is_element = true;
  int64_t elements = 0;
  if (peek().kind == TokenKind::kName && peek().text != "WARP_SZ") {
    array.subscript = std::make_shared<Operand>(parse_name_operand(false));
    if (array.subscript->kind != OperandKind::kRegister)
      refuse(array.subscript->at, "an element's number is a register");
    if (accept('+')) elements = parse_constant();
  } else {
    elements = parse_constant();
  }
  expect(']', "after the element's number");
  array.offset = elements * static_cast<int64_t>(size_of(array.variable->type));
}

// { a, b } and ( a, b ), after the opening mark; also skips .attribute(...).
Operand Parser::parse_group(char close, OperandKind kind) {
  Operand group;
  group.kind = kind;
  group.at = peek().at;
  if (kind == OperandKind::kList && accept('(') && peek().kind == TokenKind::kDot) {
    while (!accept(')')) next_token();  // an attribute: .managed
    return group;
  }
  if (accept(close)) return group;
  do group.elements.push_back(parse_simple_operand(false));
  while (accept(','));
  expect(close, "after the list");
  return group;
}

Operand Parser::parse_address() {
  Operand address;
  address.kind = OperandKind::kAddress;
  address.at = peek().at;
  expect('[', "before the address");
  Operand base = parse_simple_operand(false);
  if (base.kind == OperandKind::kInteger) {
    address.offset = static_cast<int64_t>(base.bits);
  } else if (base.kind == OperandKind::kVariable) {
    address.offset = base.offset;
    base.offset = 0;
  } else if (base.kind != OperandKind::kRegister) {
    refuse(base.at, "an address needs a register, a variable or a number");
  }
  address.elements.push_back(std::move(base));
  if (at('+') || (at('-') && address.elements[0].kind == OperandKind::kVariable)) address.offset += parse_constant();
  expect(']', "after the address");
  return address;
}

Operand Parser::parse_number(bool negative) {
  Operand operand;
  operand.at = peek().at;
  if (peek().kind == TokenKind::kFloat) {
    const Token token = next_token();
    operand.kind = OperandKind::kFloat;
    operand.bits = token.bits ^ (negative ? 1ull << 63 : 0);
    operand.is_single = token.is_single;
    operand.single = token.single ^ (negative ? 1u << 31 : 0);
    return operand;
  }
  operand.kind = OperandKind::kInteger;
  operand.bits = static_cast<uint64_t>(parse_constant());
  if (negative) operand.bits = 0 - operand.bits;
  return operand;
}

// Sums of products of signed and complemented integers with parentheses, as in addresses and sizes.
int64_t Parser::parse_constant() {
  int64_t sum = 0;
  bool first = true;
  while (first || at('+') || at('-')) {
    const bool minus = accept('-');
    if (!minus && !first) next_token();
    uint64_t term = static_cast<uint64_t>(parse_constant_term());
    while (accept('*')) term *= static_cast<uint64_t>(parse_constant_term());
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + (minus ? 0 - term : term));
    first = false;
  }
  return sum;
}

int64_t Parser::parse_constant_term() {
  if (accept('+')) return parse_constant_term();
  if (accept('-')) return static_cast<int64_t>(0 - static_cast<uint64_t>(parse_constant_term()));
  if (accept('~')) return ~parse_constant_term();
  if (accept('(')) {
    const int64_t value = parse_constant();
    expect(')', "after the expression");
    return value;
  }
  if (peek().kind == TokenKind::kName && peek().text == "WARP_SZ") {
    next_token();
    return 32;
  }
  return static_cast<int64_t>(expect_integer("a number"));
}

Operand Parser::resolve(const Token& name, bool is_branch) {
  Operand operand;
  operand.at = name.at;
  operand.name = std::string(name.text);
  if (name.kind != TokenKind::kName) refuse(name.at, "expected a name, found '" + operand.name + "'");
  if (operand.name == "_") return operand;
  if (operand.name == "WARP_SZ") {
    operand.kind = OperandKind::kInteger;
    operand.bits = 32;
    return operand;
  }
  const auto symbol = scopes_.find(operand.name);
  if (!symbol) {
    if (const SpecialRegister* special = find_special(operand.name)) {
      operand.kind = OperandKind::kSpecial;
      if (special->has_components) {
        if (peek().kind != TokenKind::kDot || peek().spaced) refuse(name.at, operand.name + " needs .x, .y or .z");
        operand.name += "." + std::string(next_token().text);
        if (!find_special_component(operand.name)) refuse(name.at, "unknown special register " + operand.name);
      }
      return operand;
    }
    if (!is_branch) refuse(name.at, "undeclared name " + operand.name);
    operand.kind = OperandKind::kLabel;
    return operand;
  }
  operand.index = symbol->index;
  operand.variable = symbol->variable;
  operand.function = symbol->function;
  switch (symbol->kind) {
    case Symbol::Kind::kRegister:
      operand.kind = OperandKind::kRegister;
      break;
    case Symbol::Kind::kVariable:
      operand.kind = OperandKind::kVariable;
      break;
    case Symbol::Kind::kFunction:
      operand.kind = OperandKind::kFunction;
      break;
    case Symbol::Kind::kLabel:
      operand.kind = OperandKind::kLabel;
      break;
    case Symbol::Kind::kLabelTable:
      operand.kind = OperandKind::kLabelTable;
      break;
    case Symbol::Kind::kPrototype:
      operand.kind = OperandKind::kPrototype;
      break;
  }
  if (operand.kind == OperandKind::kRegister && function_ && operand.index < function_->registers.size() &&
      function_->registers[operand.index].vector > 1) {
    for (uint32_t i = 0; i < function_->registers[operand.index].vector; ++i) {
      Operand part;
      part.kind = OperandKind::kRegister;
      part.at = operand.at;
      part.index = operand.index + i;
      operand.elements.push_back(part);
    }
  }
  return operand;
}

}  // namespace ptx::emulator
