// Parser for PTX text: turns tokens into a SyntaxModule. Split over three files: module-scope directives
// (parse_module.cpp), variable declarations (parse_variable.cpp), bodies and operands (parse_body.cpp).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/emulator/lexer.h"
#include "ptx/emulator/scope.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

class Parser {
 public:
  explicit Parser(std::string_view text);
  SyntaxModule run(std::vector<ParseProblem>& problems);

 private:
  // tokens
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  const Token& next_token() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
  bool at(char mark) const { return peek().kind == TokenKind::kPunctuation && peek().text[0] == mark; }
  bool at_dot(std::string_view word) const { return peek().kind == TokenKind::kDot && peek().text == word; }
  bool accept(char mark);
  bool accept_dot(std::string_view word);
  void expect(char mark, const char* where);
  std::string expect_name(const char* what);
  uint64_t expect_integer(const char* what);
  void skip_to_end_of_statement();
  void skip_section();
  void skip_line(uint32_t line);

  // module scope
  void parse_header();
  void parse_version();
  void parse_target();
  void parse_directive();
  struct Linkage {
    bool is_extern = false, is_visible = false, is_weak = false;
  };
  void parse_module_variable(Space space, Linkage linkage);
  void parse_function(Linkage linkage);
  void parse_limits(SyntaxFunction& function);
  void parse_limit(SyntaxFunction& function, std::string_view word);
  bool completes_extern(Variable& variable);
  SyntaxFunction* declare_function(std::unique_ptr<SyntaxFunction> function);
  std::vector<const Variable*> parse_parameters(SyntaxFunction& owner, std::string_view function_name, bool named);
  Signature parse_prototype();

  // variables
  struct Declaration {
    Type type = Type::none;
    uint32_t align = 0, vector = 1;
    bool is_pointer = false;
  };
  Declaration parse_declaration_head();
  std::unique_ptr<Variable> parse_variable(const Declaration& head, Space space);
  void parse_extents(Variable& variable, uint64_t element);
  void parse_initialiser(Variable& variable);
  void parse_initialiser_values(Variable& variable, uint64_t& offset);
  Initialiser parse_initial_value(Type type);

  // bodies
  void parse_body(SyntaxFunction& function);
  void parse_body_items();
  void parse_body_directive();
  void parse_body_pragma();
  void parse_registers();
  void parse_body_variables(Space space);
  void parse_label();
  void parse_statement();
  void parse_guard(Statement& statement);
  Operand parse_operand(bool is_branch);
  Operand parse_simple_operand(bool is_branch);
  Operand parse_name_operand(bool is_branch);
  void parse_subscript(Operand& array);
  Operand parse_group(char close, OperandKind kind);
  Operand parse_address();
  Operand parse_number(bool negative);
  int64_t parse_constant();
  int64_t parse_constant_term();
  Operand resolve(const Token& name, bool is_branch);
  void declare(const std::string& name, Symbol symbol, Position where);
  void close_scope();

  struct PendingLabel {
    std::string name;
    Position at;
    bool in_table;
    uint32_t outer, inner;  // statement and operand, or table and element
    size_t depth;
  };

  std::vector<Token> tokens_;
  size_t next_ = 0;
  SyntaxModule module_;
  Scopes scopes_;
  SyntaxFunction* function_ = nullptr;
  uint32_t used_bytes_ = ~0u;  // bytes that the next load uses, as a mask
  std::vector<PendingLabel> pending_;
  std::vector<std::unordered_map<std::string, uint32_t>> labels_;
  std::vector<ParseProblem>* problems_ = nullptr;
};

}  // namespace ptx::emulator
