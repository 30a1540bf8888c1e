// Module scope of a PTX text: version, target, variables, functions, and directives that are skipped.
#include <algorithm>
#include <sstream>

#include "ptx/emulator/parser.h"

namespace ptx::emulator {
namespace {

// Instructions are those of PTX ISA 9.0 (CUDA 13.0); later versions add some, which are refused by name.
constexpr uint32_t kNewestVersion = 99;
constexpr uint32_t kTargets[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                                 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
constexpr size_t kMaxProblems = 20;

std::string source_line(std::string_view text, uint32_t line) {
  size_t start = 0;
  for (uint32_t i = 1; i < line && start < text.size(); ++i) {
    const size_t end = text.find('\n', start);
    if (end == std::string_view::npos) return {};
    start = end + 1;
  }
  std::string_view found = text.substr(start, text.find('\n', start) - start);
  const size_t first = found.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  found = found.substr(first, found.find_last_not_of(" \t\r") + 1 - first);
  return std::string(found.substr(0, 120));
}

}  // namespace

std::string LoadError::describe(const std::vector<Problem>& found) {
  std::ostringstream out;
  for (const Problem& p : found) {
    if (&p != found.data()) out << "\n";
    if (p.at.line > 0) out << "line " << p.at.line << ", column " << p.at.column << ": ";
    out << p.message;
    if (!p.text.empty()) out << ": " << p.text;
  }
  return out.str();
}

LoadError load_error(std::string_view text, const std::vector<ParseProblem>& problems) {
  std::vector<Problem> found;
  for (const ParseProblem& p : problems) found.push_back({p.at, p.message, source_line(text, p.at.line), p.is_too_new});
  return LoadError(std::move(found));
}

SyntaxModule parse(std::string_view text) {
  std::vector<ParseProblem> problems;
  try {
    Parser parser(text);
    SyntaxModule module = parser.run(problems);
    if (problems.empty()) return module;
  } catch (const ParseProblem& problem) {
    problems.push_back(problem);
  }
  throw load_error(text, problems);
}

Parser::Parser(std::string_view text) : tokens_(tokenise(text)) {}

SyntaxModule Parser::run(std::vector<ParseProblem>& problems) {
  problems_ = &problems;
  parse_header();
  while (peek().kind != TokenKind::kEnd && problems.size() < kMaxProblems) {
    const size_t before = next_;
    try {
      parse_directive();
    } catch (const ParseProblem& problem) {
      problems.push_back(problem);
      return std::move(module_);  // module scope has no safe point to resume parsing
    }
    if (next_ == before) refuse(peek().at, "unexpected text at module scope");
  }
  return std::move(module_);
}

bool Parser::accept(char mark) {
  if (!at(mark)) return false;
  next_token();
  return true;
}

bool Parser::accept_dot(std::string_view word) {
  if (!at_dot(word)) return false;
  next_token();
  return true;
}

void Parser::expect(char mark, const char* where) {
  if (accept(mark)) return;
  const Token& token = peek();
  const std::string found = token.kind == TokenKind::kEnd ? "the end of the text" : "'" + std::string(token.text) + "'";
  refuse(token.at, std::string("expected '") + mark + "' " + where + ", found " + found);
}

std::string Parser::expect_name(const char* what) {
  if (peek().kind != TokenKind::kName) refuse(peek().at, std::string("expected ") + what);
  return std::string(next_token().text);
}

uint64_t Parser::expect_integer(const char* what) {
  if (peek().kind != TokenKind::kInteger) refuse(peek().at, std::string("expected ") + what);
  return next_token().bits;
}

// Skips past the next ';', or up to a '}' that closes more than the statement opened.
void Parser::skip_to_end_of_statement() {
  for (int open = 0; peek().kind != TokenKind::kEnd && !at(';') && (open > 0 || !at('}')); next_token())
    open += at('{') ? 1 : at('}') ? -1 : 0;
  accept(';');
}

// .section NAME { ... }: debug information, without nested braces.
void Parser::skip_section() {
  while (peek().kind != TokenKind::kEnd && !at('{')) next_token();
  while (peek().kind != TokenKind::kEnd && !at('}')) next_token();
  expect('}', "at the end of a section");
}

void Parser::skip_line(uint32_t line) {
  while (peek().kind != TokenKind::kEnd && peek().at.line == line) next_token();
}

void Parser::parse_header() {
  if (!at_dot("version")) refuse(peek().at, "expected .version as the first directive");
  parse_version();
  if (!at_dot("target")) refuse(peek().at, "expected .target after .version");
  parse_target();
}

void Parser::parse_version() {
  const Position where = next_token().at;
  if (peek().kind != TokenKind::kFloat) refuse(peek().at, "expected a version such as 8.0");
  const std::string number(next_token().text);
  const size_t dot = number.find('.');
  if (dot == std::string::npos || dot + 2 != number.size() || number.size() > 4)
    refuse(where, "malformed version " + number);
  module_.version = static_cast<uint32_t>(std::stoul(number.substr(0, dot)) * 10 + (number[dot + 1] - '0'));
  if (module_.version > kNewestVersion)
    throw ParseProblem{where, "PTX version " + number + " is newer than 9.9, the newest this emulator knows", true};
}

void Parser::parse_target() {
  const Position where = module_.target_at = next_token().at;
  do {
    const std::string word = expect_name("a target such as sm_90");
    if (word.starts_with("sm_")) {
      size_t digits = 3;
      while (digits < word.size() && isdigit(static_cast<unsigned char>(word[digits]))) ++digits;
      if (digits == 3 || digits > 6) refuse(where, "unknown target " + word);
      module_.target = static_cast<uint32_t>(std::stoul(word.substr(3, digits - 3)));
      const bool has_suffix = digits + 1 == word.size() && (word[digits] == 'a' || word[digits] == 'f');
      module_.target_suffix = has_suffix ? word[digits] : '\0';
      if (!std::ranges::count(kTargets, module_.target) || (digits != word.size() && !has_suffix)) {
        refuse(where, "unknown target " + word);
      }
    } else if (word == "debug") {
      module_.is_debug = true;
    } else if (word != "texmode_unified" && word != "texmode_independent") {
      refuse(where, "unknown target option " + word);
    }
  } while (accept(','));
  if (module_.target == 0) refuse(where, "no target such as sm_90 is named");
}

void Parser::parse_directive() {
  Linkage linkage;
  while (true) {
    if (accept_dot("extern"))
      linkage.is_extern = true;
    else if (accept_dot("weak") || accept_dot("common"))
      linkage.is_visible = linkage.is_weak = true;
    else if (accept_dot("visible"))
      linkage.is_visible = true;
    else
      break;
  }
  const Token directive = peek();
  if (directive.kind != TokenKind::kDot) {
    if (accept(';')) return;
    refuse(directive.at, "expected a directive, found '" + std::string(directive.text) + "'");
  }
  const std::string_view word = directive.text;
  if (word == "entry" || word == "func") return parse_function(linkage);
  next_token();
  if (word == "global") return parse_module_variable(Space::global, linkage);
  if (word == "const") return parse_module_variable(Space::constant, linkage);
  if (word == "shared" || word == "shared::cta") return parse_module_variable(Space::shared, linkage);
  if (word == "address_size") {
    if (expect_integer("an address size") != 64) refuse(directive.at, "only .address_size 64 is supported");
  } else if (word == "file" || word == "loc") {
    skip_line(directive.at.line);
  } else if (word == "section") {
    skip_section();
  } else if (word == "pragma") {
    skip_to_end_of_statement();
  } else if (word == "version" || word == "target") {
    refuse(directive.at, "." + std::string(word) + " is repeated");
  } else {
    refuse(directive.at, "unknown directive ." + std::string(word));
  }
}

void Parser::parse_module_variable(Space space, Linkage linkage) {
  const Declaration head = parse_declaration_head();
  do {
    auto variable = parse_variable(head, space);
    variable->is_extern = linkage.is_extern;
    variable->is_visible = linkage.is_visible;
    variable->is_weak = linkage.is_weak;
    if (variable->is_unsized && variable->size == 0 && !linkage.is_extern) {
      refuse(variable->at, "array " + variable->name + " has no size");
    }
    if (completes_extern(*variable)) continue;
    declare(variable->name, {Symbol::Kind::kVariable, 0, variable.get()}, variable->at);
    module_.variables.push_back(std::move(variable));
  } while (accept(','));
  expect(';', "after the variable");
}

// Whether the name is already declared and either declaration is .extern: then both are one variable.
bool Parser::completes_extern(Variable& variable) {
  if (!scopes_.holds(variable.name)) return false;
  const auto known = std::ranges::find_if(module_.variables, [&](const auto& v) { return v->name == variable.name; });
  if (known == module_.variables.end() || !((*known)->is_extern || variable.is_extern)) return false;
  Variable& earlier = **known;
  const bool same_size = earlier.size == variable.size || (earlier.is_extern && earlier.is_unsized) ||
                         (variable.is_extern && variable.is_unsized);
  if (earlier.space != variable.space || earlier.type != variable.type || !same_size)
    refuse(variable.at, "variable " + variable.name + " does not match its earlier declaration");
  if (earlier.is_extern) earlier = std::move(variable);  // in place, since operands point to it
  return true;
}

void Parser::parse_function(Linkage linkage) {
  auto owned = std::make_unique<SyntaxFunction>();
  owned->is_entry = next_token().text == "entry";
  owned->is_extern = linkage.is_extern;
  owned->is_visible = linkage.is_visible;
  owned->is_weak = linkage.is_weak;
  while (accept_dot("attribute")) parse_group(')', OperandKind::kList);
  scopes_.open();
  labels_.emplace_back();
  SyntaxFunction& f = *owned;
  if (!f.is_entry && at('(')) f.signature.returns = parse_parameters(f, "", true);
  for (RegisterParameter& p : f.register_parameters) p.is_result = true;
  f.at = peek().at;
  f.name = expect_name("the function's name");
  if (at('(')) f.signature.parameters = parse_parameters(f, f.name, true);
  parse_limits(f);
  f.is_defined = at('{');
  SyntaxFunction* function = declare_function(std::move(owned));
  if (function->is_defined && at('{'))
    parse_body(*function);
  else
    expect(';', "after the function's declaration");
  labels_.pop_back();
  scopes_.close();
}

// A definition completes an earlier declaration of the same name; any other repetition is an error.
SyntaxFunction* Parser::declare_function(std::unique_ptr<SyntaxFunction> function) {
  SyntaxFunction* result = function.get();
  for (auto& earlier : module_.functions) {
    if (earlier->name != function->name) continue;
    if (earlier->is_defined && function->is_defined)
      refuse(function->at, "function " + function->name + " is defined twice");
    const bool same = earlier->is_entry == function->is_entry &&
                      earlier->signature.parameters.size() == function->signature.parameters.size() &&
                      earlier->signature.returns.size() == function->signature.returns.size();
    if (!same) refuse(function->at, "function " + function->name + " does not match its earlier declaration");
    if (!function->is_defined) return earlier.get();
    std::swap(*earlier, *function);
    return earlier.get();
  }
  Symbol symbol{Symbol::Kind::kFunction};
  symbol.function = result;
  if (scopes_.find(function->name)) refuse(function->at, "name " + function->name + " is declared twice");
  scopes_.declare_outermost(function->name, symbol);
  module_.functions.push_back(std::move(function));
  return result;
}

std::vector<const Variable*> Parser::parse_parameters(SyntaxFunction& owner, std::string_view function_name,
                                                      bool named) {
  std::vector<const Variable*> result;
  expect('(', "before the parameters");
  if (accept(')')) return result;
  do {
    const bool in_register = !owner.is_entry && accept_dot("reg");
    if (!in_register && !accept_dot("param"))
      refuse(peek().at, "expected .param in the parameter list of " + std::string(function_name));
    const Declaration head = parse_declaration_head();
    auto variable = parse_variable(head, Space::param);
    if (in_register && (variable->size == 0 || variable->size > 8 || head.vector > 1))
      refuse(variable->at, "parameter " + variable->name + " does not fit a register");
    if (in_register && named) {
      const uint32_t reg = static_cast<uint32_t>(owner.registers.size());
      declare(variable->name, {Symbol::Kind::kRegister, reg}, variable->at);
      owner.registers.push_back({variable->name, head.type, 1});
      owner.register_parameters.push_back({variable.get(), reg});
    } else if (named && variable->name != "_") {
      declare(variable->name, {Symbol::Kind::kVariable, 0, variable.get()}, variable->at);
    }
    result.push_back(variable.get());
    owner.variables.push_back(std::move(variable));
  } while (accept(','));
  expect(')', "after the parameters");
  return result;
}

void Parser::parse_limits(SyntaxFunction& function) {
  while (peek().kind == TokenKind::kDot) {
    const Token token = next_token();
    parse_limit(function, token.text);
  }
}

void Parser::parse_limit(SyntaxFunction& function, std::string_view word) {
  if (word == "pragma") return skip_to_end_of_statement();
  if (word == "noreturn" || word == "explicitcluster" || word == "abi_preserve" || word == "blocksareclusters") return;
  std::vector<uint32_t> values;
  do values.push_back(static_cast<uint32_t>(expect_integer("a number after the directive")));
  while (accept(','));
  if (values.size() > 3) refuse(peek().at, "too many numbers after ." + std::string(word));
  if (word == "maxntid") {
    function.max_threads = 1;
    for (uint32_t v : values) function.max_threads *= v;
  } else if (word == "reqntid") {
    for (size_t i = 0; i < 3; ++i) function.required_threads[i] = i < values.size() ? values[i] : 1;
  } else if (word == "minnctapersm") {
    function.min_blocks = values[0];
  } else if (word == "maxnreg") {
    function.max_registers = values[0];
  } else if (word != "maxnctapersm" && word != "reqnctapercluster" && word != "maxclusterrank") {
    refuse(peek().at, "unknown directive ." + std::string(word));
  }
}

}  // namespace ptx::emulator
