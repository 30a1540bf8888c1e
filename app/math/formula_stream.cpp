#include "app/math/formula_stream.h"

#include <algorithm>
#include <utility>

#include "app/math/math_unicode.h"

namespace warpchat {

namespace {

constexpr size_t kLongestInline = 300, kLongestDisplay = 2000;  // bytes that are held back

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t>"), line.size()));
}

}  // namespace

std::string FormulaStream::add(std::string_view text) {
  for (char c : text) add_byte(c);
  return std::exchange(out_, {});
}

std::string FormulaStream::finish() {
  while (!held_.empty()) {
    if (closed_)
      write_formula();
    else
      give_up();
  }
  end_line();
  fence_.clear();
  return std::exchange(out_, {});
}

void FormulaStream::add_byte(char c) {
  if (!held_.empty()) return hold(c);
  if (run_ > 0 && c != '`') {
    code_ = code_ == 0 ? run_ : code_ == run_ ? 0 : code_;
    run_ = 0;
  }
  const bool may_open = fence_.empty() && code_ == 0 && !is_fence_line() && (c == '$' || c == '\\');
  if (may_open)
    held_ = c;
  else
    pass(c);
}

void FormulaStream::pass(char c) {
  out_ += c;
  if (c == '\n') return end_line();
  line_ += c;
  if (c == '`' && fence_.empty()) ++run_;
}

bool FormulaStream::is_fence_line() const {
  const std::string_view line = without_indent(line_);
  return line.starts_with("```") || line.starts_with("~~~");
}

void FormulaStream::end_line() {
  if (is_fence_line()) {
    const std::string_view line = without_indent(line_);
    const std::string_view marks = line.substr(0, std::min(line.find_first_not_of(line[0]), line.size()));
    if (fence_.empty())
      fence_ = marks;
    else if (marks.starts_with(fence_) && marks.size() == line.size())
      fence_.clear();
  }
  line_.clear();
  run_ = code_ = 0;
}

void FormulaStream::hold(char c) {
  if (closed_) {
    if (is_digit(c)) {
      give_up();
    } else {
      write_formula();
    }
    return add_byte(c);
  }
  held_ += c;
  const std::string_view held = held_;
  const bool display = held.starts_with("$$") || held.starts_with("\\[");
  if (held[0] == '\\' && held.size() == 2 && c != '(' && c != '[') return give_up();
  if (held == "$$") return;
  const bool dollar = held[0] == '$' && !display;
  if (dollar && held.size() == 2 && is_blank(c)) return give_up();
  const size_t last = held.size() - 2;  // the place of the character before
  const bool escaped = held[last] == '\\';
  const bool closes = dollar             ? c == '$' && !escaped
                      : held[0] == '$'   ? held.size() > 4 && c == '$' && held[last] == '$'
                      : held.size() <= 4 ? false
                                         : escaped && c == (held[1] == '(' ? ')' : ']');
  if (closes && dollar && is_blank(held[last])) return give_up();
  if (closes && dollar) return (void)(closed_ = true);
  if (closes) return write_formula();
  const bool ends = c == '\n' && (!display || held[last] == '\n');
  if (ends || held.size() > (display ? kLongestDisplay : kLongestInline)) give_up();
}

// The first byte was none that opens a formula; what follows it may be.
void FormulaStream::give_up() {
  closed_ = false;
  const std::string held = std::exchange(held_, {});
  size_t passed = held.size() > 1 && held[0] == '\\' ? 2 : 1;  // an escaped mark opens nothing
  if (held.starts_with("$$")) passed = 2;
  if (passed == 2 && held[1] == '\n') passed = 1;
  for (size_t i = 0; i < passed; ++i) pass(held[i]);
  for (size_t i = passed; i < held.size(); ++i) add_byte(held[i]);
}

void FormulaStream::write_formula() {
  closed_ = false;
  const std::string source = std::exchange(held_, {});
  const auto tree = parse_tex(formula_inside(source));
  const auto unicode = tree ? math_in_unicode(*tree) : std::nullopt;
  const bool breaks_cell = without_indent(line_).starts_with('|') && unicode && unicode->find('|') != std::string::npos;
  for (char c : unicode && !breaks_cell ? *unicode : source) pass(c);
}

}  // namespace warpchat
