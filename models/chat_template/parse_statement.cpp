#include "models/chat_template/parser.h"

namespace warpchat::jinja {
namespace {

constexpr int kMaxBlocks = 100;  // nesting; jinja2 gives up at 100 levels of indentation, 20 loops

bool is_unsupported(std::string_view tag) {
  for (std::string_view other :
       {"include", "import", "from", "extends", "block", "autoescape", "do", "trans", "debug"}) {
    if (tag == other) return true;
  }
  return false;
}

class StatementParser : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Template parse() {
    Template parsed;
    parsed.body = parse_body({});
    parsed.hidden = std::move(hidden_);
    if (!unsupported_.empty()) fail_at(unsupported_[0].first, unsupported_[0].second);
    return parsed;
  }

 private:
  using EndTags = std::initializer_list<std::string_view>;

  // Statements up to one of the end tags, whose name is then current. Without end tags: up to the template's end.
  Body parse_body(EndTags ends) {
    Body body;
    while (current().type != TokenType::kEnd) {
      const int line = current().line;
      if (current().type == TokenType::kData) {
        body.push_back({line, Data{literal_text(next_token().text)}});
      } else if (current().type == TokenType::kVariableBegin) {
        next_token();
        body.push_back({line, Print{parse_tuple({})}});
        expect(TokenType::kVariableEnd);
      } else {
        expect(TokenType::kBlockBegin);
        if (is_end(ends)) return body;
        parse_statement(body);
        expect(TokenType::kBlockEnd);
      }
    }
    if (ends.size() > 0) fail_open();
    return body;
  }

  bool is_end(EndTags ends) const {
    return current().type == TokenType::kName && std::find(ends.begin(), ends.end(), current().text) != ends.end();
  }

  [[noreturn]] void fail_open() const {
    const auto& [tag, line] = open_.back();
    fail_at(line, "the tag '" + tag + "' is not closed with 'end" + tag + "'");
  }

  // Body of a block statement, from the end of its opening tag to after its end tag's name.
  Body parse_block(std::string_view end) {
    Body body = parse_branch({end});
    next_token();
    return body;
  }

  Body parse_branch(EndTags ends) {
    skip_operator(":");
    expect(TokenType::kBlockEnd);
    return parse_body(ends);
  }

  void parse_statement(Body& body) {
    const Token tag = current();
    if (tag.type != TokenType::kName) fail_unexpected("the name of a tag");
    if (open_.size() >= kMaxBlocks) fail_at(tag.line, "blocks are nested too deeply");
    open_.emplace_back(tag.text, tag.line);
    next_token();
    parse_tag(tag, body);
    open_.pop_back();
  }

  void parse_tag(const Token& tag, Body& body) {
    const auto add = [&body, &tag](auto node) { body.push_back({tag.line, std::move(node)}); };
    if (tag.text == "if") return add(parse_if());
    if (tag.text == "for") return add(parse_for());
    if (tag.text == "set") return parse_set(tag.line, body);
    if (tag.text == "macro") return add(parse_macro());
    if (tag.text == "call") return add(parse_call_block());
    if (tag.text == "filter") return add(parse_filter_block());
    if (tag.text == "with") return add(parse_with());
    if (tag.text == "print") return parse_print(tag.line, body);
    if (tag.text == "generation") {
      return add(Scoped{in_scope([this] { return outside_loop([this] { return parse_block("endgeneration"); }); })});
    }
    if (tag.text == "break" || tag.text == "continue") {
      if (loops_ == 0) fail_at(tag.line, "the tag '" + tag.text + "' stands outside a loop");
      return tag.text == "break" ? add(Break{}) : add(Continue{});
    }
    fail_tag(tag);
  }

  [[noreturn]] void fail_tag(const Token& tag) const {
    if (is_unsupported(tag.text)) fail_at(tag.line, "the tag '" + tag.text + "' is not supported");
    const bool belongs = tag.text.starts_with("end") || tag.text == "else" || tag.text == "elif";
    std::string what = (belongs ? "unexpected tag '" : "unknown tag '") + tag.text + "'";
    if (open_.size() > 1) {
      const auto& [outer, line] = open_[open_.size() - 2];
      what += "; the tag '" + outer + "' of line " + std::to_string(line) + " is still open";
    }
    fail_at(tag.line, what);
  }

  If parse_if() {
    If node;
    const size_t unsupported_before = unsupported_.size();
    ++branches_;
    do {
      ExprPtr test = parse_tuple({.allows_conditional = false});
      node.branches.push_back({std::move(test), parse_branch({"elif", "else", "endif"})});
    } while (skip_name("elif"));
    if (skip_name("else")) node.otherwise = parse_branch({"endif"});
    --branches_;
    unsupported_.resize(unsupported_before);
    next_token();
    return node;
  }

  For parse_for() {
    For node;
    node.target = parse_target("in", false);
    if (!skip_name("in")) fail_unexpected("'in'");
    node.items = parse_tuple({.allows_conditional = false, .end_name = "recursive"});
    ++scopes_;
    if (skip_name("if")) node.condition = parse_expression();
    if (is_name("recursive")) fail_at(current().line, "a recursive 'for' is not supported");
    ++loops_;
    node.body = parse_branch({"endfor", "else"});
    --loops_;
    if (skip_name("else")) node.otherwise = parse_branch({"endfor"});
    --scopes_;
    next_token();
    return node;
  }

  void parse_set(int line, Body& body) {
    Target target = parse_target({}, true);
    if (skip_operator("=")) {
      ExprPtr value = parse_tuple({});
      note_store(target);
      body.push_back({line, Set{std::move(target), std::move(value)}});
      return;
    }
    note_store(target);
    ExprPtr filter;
    Body inner = in_scope([&] {
      filter = parse_filters(nullptr);
      return parse_block("endset");
    });
    body.push_back({line, SetBlock{std::move(target), std::move(filter), std::move(inner)}});
  }

  // One or more names up to `end`; namespace attributes where allowed.
  Target parse_target(std::string_view end, bool with_attributes) {
    const auto is_end = [&] { return is_operator(")") || is_name(end) || is_block_end(); };
    Target target = parse_one_target(with_attributes);
    if (!is_operator(",")) return target;
    Target several;
    several.is_tuple = true;
    several.several.push_back(std::move(target));
    while (skip_operator(",") && !is_end()) several.several.push_back(parse_one_target(with_attributes));
    return several;
  }

  bool is_block_end() const { return current().type == TokenType::kBlockEnd; }

  Target parse_one_target(bool with_attributes) {
    Target target;
    if (skip_operator("(")) {
      if (++target_depth_ > kMaxBlocks) fail_at(current().line, "a target is nested too deeply");
      target = parse_target({}, with_attributes);
      --target_depth_;
      expect_operator(")");
      return target;
    }
    const int line = current().line;
    target.name = expect_name();
    for (std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (target.name == constant) fail_at(line, "the constant '" + target.name + "' cannot be assigned to");
    }
    if (with_attributes && skip_operator(".")) target.attribute = literal_text(expect_name());
    return target;
  }

  std::vector<std::pair<std::string, ExprPtr>> parse_parameters() {
    std::vector<std::pair<std::string, ExprPtr>> parameters;
    expect_operator("(");
    while (!is_operator(")")) {
      if (!parameters.empty()) expect_operator(",");
      const int line = current().line;
      std::string name = expect_name();
      ExprPtr otherwise = skip_operator("=") ? parse_expression() : nullptr;
      if (!otherwise && !parameters.empty() && parameters.back().second) {
        fail_at(line, "the parameter '" + name + "' without a default follows one with a default");
      }
      parameters.emplace_back(std::move(name), std::move(otherwise));
    }
    expect_operator(")");
    return parameters;
  }

  // An assignment outside all scopes may hide a passed-in variable.
  void note_store(const Target& target) {
    for (const Target& one : target.several) note_store(one);
    if (scopes_ > 0 || target.is_tuple) return;
    const bool is_new = mentioned_.insert(target.name).second;
    if (is_new && branches_ == 0 && !target.attribute.text()) hidden_.push_back(target.name);
  }

  template <class Parse>
  Body in_scope(Parse parse) {
    ++scopes_;
    Body body = parse();
    --scopes_;
    return body;
  }

  // break and continue cannot leave a macro or a call's body.
  template <class Parse>
  Body outside_loop(Parse parse) {
    const int loops = std::exchange(loops_, 0);
    Body body = parse();
    loops_ = loops;
    return body;
  }

  void parse_macro_body(Macro& macro, std::string_view end) {
    macro.body = outside_loop([&] { return parse_block(end); });
    macro.uses_caller = macros_.back().caller;
    macro.uses_varargs = macros_.back().varargs;
    macro.uses_kwargs = macros_.back().kwargs;
    macros_.pop_back();
  }

  Macro parse_macro() {
    Macro macro;
    macro.name = expect_name();
    Target target;
    target.name = macro.name;
    note_store(target);
    ++scopes_;
    macros_.emplace_back();
    macro.parameters = parse_parameters();
    parse_macro_body(macro, "endmacro");
    --scopes_;
    return macro;
  }

  CallBlock parse_call_block() {
    CallBlock node;
    macros_.emplace_back();
    ++scopes_;
    if (is_operator("(")) node.caller.parameters = parse_parameters();
    --scopes_;
    node.caller.name = "caller";
    const MacroUses uses = std::exchange(macros_.back(), MacroUses{});
    const int line = current().line;
    node.call = parse_expression();
    if (!std::holds_alternative<Call>(node.call->node)) fail_at(line, "the tag 'call' needs a call");
    macros_.back() = uses;
    ++scopes_;
    parse_macro_body(node.caller, "endcall");
    --scopes_;
    return node;
  }

  FilterBlock parse_filter_block() {
    ExprPtr filter = parse_filters(nullptr, true);
    return {std::move(filter), in_scope([this] { return parse_block("endfilter"); })};
  }

  With parse_with() {
    With node;
    while (!is_block_end()) {
      if (!node.assignments.empty()) expect_operator(",");
      Target target = parse_target({}, false);
      expect_operator("=");
      node.assignments.emplace_back(std::move(target), parse_expression());
    }
    node.body = in_scope([this] { return parse_block("endwith"); });
    return node;
  }

  void parse_print(int line, Body& body) {
    for (bool is_first = true; !is_block_end(); is_first = false) {
      if (!is_first) expect_operator(",");
      body.push_back({line, Print{parse_expression()}});
    }
  }

  std::vector<std::pair<std::string, int>> open_;  // tags with their lines
  int loops_ = 0;                                  // enclosing loops
  int branches_ = 0;                               // enclosing 'if' branches
  int target_depth_ = 0;
  std::vector<std::string> hidden_;
};

}  // namespace

Template parse_template(std::string_view source) { return StatementParser(tokenize(source)).parse(); }

}  // namespace warpchat::jinja
