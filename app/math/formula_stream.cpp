#include "app/math/formula_stream.h"

#include <algorithm>
#include <utility>

#include "app/math/math_unicode.h"
#include "app/platform/text/graphemes.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr size_t kLongestInline = 300, kLongestDisplay = 2000;  // bytes that are held back

constexpr size_t kLongestBegin = 30;  // bytes of "\\begin{name}"

// Whether the text's end is an environment's end mark, such as "\end{align}".
bool ends_display(std::string_view text) {
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kLongestBegin));
  const size_t mark = end.rfind('\\');
  return mark != std::string_view::npos && next_display_end(end, mark).bytes == end.size() - mark;
}

// Whether this may become "\begin{name}".
bool is_begin(std::string_view text) {
  constexpr std::string_view kBegin = "\\begin{";
  if (text.size() <= kBegin.size()) return kBegin.starts_with(text);
  return text.starts_with(kBegin) && text.find_first_of("}\n") == std::string_view::npos;
}

// Whether it stands in a line of text: "$x$", "\\(x\\)".
bool is_inline(std::string_view source) {
  return source.starts_with("\\(") || (source.starts_with('$') && !source.starts_with("$$"));
}

// A line that begins with a bar would be a table's row: then all bars are U+2223, which looks the same.
void keep_from_being_a_table(std::string& lines) {
  bool begins_line = true, begins_row = false;
  for (const char c : lines) {
    begins_row |= begins_line && c == '|';
    begins_line = c == '\n' || (begins_line && c == ' ');
  }
  for (size_t at = lines.find('|'); begins_row && at != std::string::npos; at = lines.find('|', at))
    lines.replace(at, 1, "\u2223");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string FormulaStream::add(std::string_view text) {
  text_ += text;
  read(/*is_all=*/false);
  return std::exchange(out_, {});
}

std::string FormulaStream::finish() {
  read(/*is_all=*/true);
  end_line();
  fence_.clear();
  return std::exchange(out_, {});
}

void FormulaStream::read(bool is_all) {
  size_t at = 0;
  while (at < text_.size()) {
    if (run_ > 0 && text_[at] != '`') {
      code_ = code_ == 0 ? run_ : code_ == run_ ? 0 : code_;
      run_ = 0;
    }
    const Found found = may_open(text_[at]) ? formula_at(at, is_all) : Found();
    if (found.waits) break;
    if (found.formula > 0) write_formula(text_.substr(at, found.formula));
    for (size_t i = 0; i < found.n_ordinary && found.formula == 0; ++i) pass(text_[at + i]);
    at += found.formula > 0 ? found.formula : found.n_ordinary;
  }
  text_.erase(0, at);
  n_passed_ += at;
}

bool FormulaStream::may_open(char c) const {
  return (c == '$' || c == '\\') && fence_.empty() && code_ == 0 && !is_fence_line();
}

FormulaStream::Found FormulaStream::formula_at(size_t at, bool is_all) {
  if (at + 1 == text_.size()) return {.waits = !is_all};
  const char next = text_[at + 1];
  if (text_[at] == '$')
    return is_blank(next) ? Found() : closed_formula(next == '$' ? Kind::kDollars : Kind::kDollar, at, is_all);
  const std::string_view rest = std::string_view(text_).substr(at, kLongestBegin);
  if (display_begin(rest) > 0) return closed_formula(Kind::kEnvironment, at, is_all);
  if (!is_all && rest.size() < kLongestBegin && is_begin(rest)) return {.waits = true};
  if (next == '(' || next == '[') return closed_formula(next == '(' ? Kind::kRound : Kind::kSquare, at, is_all);
  return {.n_ordinary = next == '\n' ? 1u : 2u};  // an escaped mark opens nothing
}

// The closing mark of each kind is searched once in every stretch of text: the search for a later opening mark
// continues where the previous one ended.
FormulaStream::Found FormulaStream::closed_formula(Kind kind, size_t at, bool is_all) {
  const bool one = kind == Kind::kDollar, is_environment = kind == Kind::kEnvironment;
  const bool display = kind == Kind::kDollars || kind == Kind::kSquare || is_environment;
  const Found none{.n_ordinary = one ? 1u : 2u};
  const char last = kind == Kind::kRound ? ')' : kind == Kind::kSquare ? ']' : '$';
  const char before_last = kind == Kind::kDollars ? '$' : '\\';
  const size_t longest = at + (display ? kLongestDisplay : kLongestInline) + 1, limit = std::min(longest, text_.size());
  size_t& searched = searched_[static_cast<size_t>(kind)];
  size_t i = std::max(at + 2, std::max(searched, n_passed_) - n_passed_);
  const size_t begin = i;
  const auto closes = [&] {
    if (is_environment) return text_[i] == '}' && ends_display(std::string_view(text_).substr(at, i + 1 - at));
    if (text_[i] != last) return false;
    return one ? text_[i - 1] != '\\' : i >= at + 4 && text_[i - 1] == before_last;
  };
  const auto ends = [&] { return text_[i] == '\n' && (!display || text_[i - 1] == '\n'); };
  while (i < limit && !closes() && !ends()) ++i;
  searched = n_passed_ + i;
  n_searched_ += i - begin;
  if (i == limit && i < longest && !is_all) return {.waits = true};
  if (i == limit || ends()) return none;
  if (!one) return {.formula = i + 1 - at};
  if (is_blank(text_[i - 1])) return none;
  if (i + 1 == text_.size() && !is_all) return {.waits = true};
  return i + 1 < text_.size() && is_digit(text_[i + 1]) ? none : Found{.formula = i + 1 - at};
}

void FormulaStream::pass(char c) {
  out_ += c;
  if (c == '\n') return end_line();
  if (line_indent_ == line_.size() && (c == ' ' || c == '\t' || c == '>')) ++line_indent_;
  line_ += c;
  if (c == '`' && fence_.empty()) ++run_;
}

bool FormulaStream::is_fence_line() const {
  const std::string_view line = line_text();
  return line.starts_with("```") || line.starts_with("~~~");
}

void FormulaStream::end_line() {
  if (is_fence_line()) {
    const std::string_view line = line_text();
    const std::string_view marks = line.substr(0, std::min(line.find_first_not_of(line[0]), line.size()));
    if (fence_.empty())
      fence_ = marks;
    else if (marks.starts_with(fence_) && marks.size() == line.size())
      fence_.clear();
  }
  line_.clear();
  line_indent_ = 0;
  run_ = code_ = 0;
}

void FormulaStream::write_formula(const std::string& source) {
  const auto tree = parse_tex(formula_inside(source));
  if (!tree) return pass_all(source);
  const bool in_cell = line_text().starts_with('|'), is_display = !is_inline(source);
  const bool may_break = !in_cell && (is_display || line_text().empty());
  auto unicode = may_break ? math_in_unicode(*tree, MathLines::kMany) : std::nullopt;
  if (!unicode || !fits(*unicode))
    unicode = math_in_unicode(*tree, may_break ? MathLines::kEquations : MathLines::kOne);
  const auto has = [&](char c) { return unicode && unicode->find(c) != std::string::npos; };
  if (!unicode || (in_cell && has('|'))) return pass_all(source);
  if (line_text().empty() || has('\n')) keep_from_being_a_table(*unicode);
  const std::string indent = line_.substr(0, line_indent_);
  if (has('\n') && !line_text().empty()) {
    pass('\n');
    pass_all(indent);
  }
  for (char c : *unicode) {
    pass(c);
    if (c == '\n') pass_all(indent);
  }
}

// Lines that a terminal breaks are no matrix any more.
bool FormulaStream::fits(std::string_view lines) const {
  if (columns_ == 0 || lines.find('\n') == std::string_view::npos) return true;
  const int room = columns_ - static_cast<int>(line_indent_);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (text_width(line) > room) return false;
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return true;
}

}  // namespace warpchat
