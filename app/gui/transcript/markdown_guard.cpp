#include "app/gui/transcript/markdown_guard.h"

#include <algorithm>
#include <cctype>

#include "app/gui/transcript/markdown_lines.h"
#include "models/ascii.h"

namespace warpchat::gui {
namespace {

constexpr size_t kLongestFormula = 8000;  // bytes
constexpr size_t kLongestOpen = 200;      // bytes of a formula after one dollar that does not close yet

// After a code span that opens here; after its backticks if it does not close in this paragraph.
size_t after_code(std::string_view text, size_t at, size_t limit) {
  const size_t length = run_length(text, at);
  for (size_t i = at + length; i < limit;) {
    if (text[i] != '`') {
      ++i;
      continue;
    }
    const size_t closing = run_length(text, i);
    if (closing == length) return i + closing;
    i += closing;
  }
  return at + length;
}

// Whether "$x" at the end of a growing text may become a formula: prices and long texts do not.
bool may_close(std::string_view open) {
  if (open.size() < 2 || open.size() > kLongestOpen || open.find('$', 1) != kNotFound) return false;
  return !is_blank(open[1]) && !std::isdigit(static_cast<unsigned char>(open[1]));
}

bool is_line_below_head(std::string_view text, size_t begin, size_t end) {
  const std::string_view line = text.substr(begin, end - begin);
  if (begin == 0 || line.find('-') == kNotFound || line.find_first_of("|:") == kNotFound) return false;
  if (line.find_first_not_of("|:- \t\r") != kNotFound) return false;
  const size_t above = begin > 1 ? text.rfind('\n', begin - 2) + 1 : 0;
  return text.substr(above, begin - above).find('|') != kNotFound;
}

// Whether these bytes are a whole formula and not one that is still open.
bool is_closed(std::string_view formula) {
  if (display_begin(formula) > 0) return formula.ends_with('}') && next_display_end(formula, 0).begin != kNotFound;
  if (formula.starts_with("$$")) return formula.size() > 4 && formula.ends_with("$$");
  if (formula.starts_with("$")) return formula.size() > 2 && formula.ends_with("$") && !formula.ends_with("\\$");
  return formula.size() > 4 && formula.ends_with(formula[1] == '(' ? "\\)" : "\\]");
}

class Guard {
 public:
  Guard(std::string_view text, bool unfinished, const FootnoteNumbers& footnotes)
      : text_(text), finder_(text, unfinished), footnotes_(footnotes) {}

  GuardedText run() {
    for (size_t at = 0; at < text_.size();) {
      const bool line_begins = at == 0 || text_[at - 1] == '\n';
      at = line_begins ? begin_line(at) : copy(at);
    }
    out_.n_searched = finder_.n_searched();
    return std::move(out_);
  }

 private:
  void insert(char c) {
    out_.inserted.push_back(out_.text.size());
    out_.text += c;
  }
  size_t copy_until(size_t at, size_t end) {
    out_.text += text_.substr(at, end - at);
    return end;
  }

  size_t begin_line(size_t at) {
    line_ = at;
    const size_t end = std::min(text_.find('\n', at), text_.size());
    if (is_line_below_head(text_, at, end)) return copy_short_dashes(at, end);
    const bool opens_fence = opening_fence(inner_text(text_.substr(at, end - at))) > 0;
    return opens_fence ? copy_until(at, end) : copy(at);
  }

  // Every column gets the three characters that md4c asks for.
  size_t copy_short_dashes(size_t at, size_t end) {
    while (at < end) {
      if (text_[at] != '-') {
        at = copy_until(at, at + 1);
        continue;
      }
      const size_t run = std::min(run_length(text_, at), end - at);
      for (size_t n = run; n < 3; ++n) insert('-');
      at = copy_until(at, at + run);
    }
    return end;
  }

  // Whether the line of this place begins with a quote's mark.
  bool is_quoted(size_t at) const {
    const size_t line = at > 0 ? text_.rfind('\n', at - 1) + 1 : 0, mark = text_.find_first_not_of(" \t", line);
    return mark < at && text_[mark] == '>';
  }

  size_t copy(size_t at) {
    const size_t formula = finder_.formula_end(at);
    if (formula != kNotFound) {
      const std::string_view whole = text_.substr(at, formula - at);
      if (is_closed(whole))
        out_.formulas.push_back(
            {at, formula, whole.starts_with("$$") || whole.starts_with("\\[") || whole.starts_with("\\b")});
      const bool quoted = whole.find('\n') != kNotFound && is_quoted(at);
      for (; at < formula; ++at) {
        if (quoted && text_[at - 1] == '\n') {  // the quote's own marks
          at = copy_until(at, std::min(text_.find_first_not_of(" \t>", at), formula));
          if (at == formula) break;
        }
        if (std::ispunct(static_cast<unsigned char>(text_[at])) && text_[at] != '`') insert('\\');
        out_.text += text_[at];
      }
      return formula;
    }
    if (text_[at] == '[' && copy_footnote(at)) return at + 1;
    if (text_[at] == '`') return copy_until(at, after_code(text_, at, finder_.paragraph_end(at)));
    if (text_[at] == '\\') return copy_until(at, std::min(at + 2, text_.size()));
    return copy_until(at, std::clamp(text_.find_first_of("$`[\\\n", at), at + 1, text_.size()));
  }

  // A backslash before it: md4c takes it for text.
  bool copy_footnote(size_t at) {
    const std::string_view name = footnote_name(text_.substr(at));
    if (name.empty()) return false;
    const bool is_number = name.find_first_not_of("0123456789") == kNotFound;
    const auto known = footnotes_.find(name);
    if (!is_number && known == footnotes_.end()) return false;
    size_t end = at + name.size() + 3;
    const bool begins_line = text_.find_first_not_of(" \t>", line_) == at;
    const bool is_definition = begins_line && end < text_.size() && text_[end] == ':';
    if (is_definition) end = std::min(text_.find_first_not_of(" \t", end + 1), text_.size());
    out_.footnotes.push_back({at, end, is_number ? std::string(name) : std::to_string(known->second), is_definition});
    insert('\\');
    out_.text += '[';
    return true;
  }

  std::string_view text_;
  FormulaFinder finder_;
  const FootnoteNumbers& footnotes_;
  size_t line_ = 0;  // the begin of the last one
  GuardedText out_;
};

}  // namespace

size_t FormulaFinder::next(size_t& found, std::string_view mark, size_t from) {
  if (found >= from) return found;
  found = text_.find(mark, from);
  n_searched_ += std::min(found, text_.size()) - std::min(from, text_.size());
  return found;
}

size_t FormulaFinder::paragraph_end(size_t at) {
  if (paragraph_end_ > at) return paragraph_end_;
  paragraph_end_ = text_.size();
  for (size_t line = text_.find('\n', at); line != kNotFound; line = text_.find('\n', line + 1)) {
    const size_t below = text_.find_first_not_of(" \t\r", line + 1);
    if (below != kNotFound && text_[below] != '\n') continue;
    paragraph_end_ = line;
    break;
  }
  n_searched_ += paragraph_end_ - at;
  return paragraph_end_;
}

// One dollar opens before something and closes behind something that no digit follows: prices are no formulas.
size_t FormulaFinder::dollar_end(size_t at, size_t limit) {
  if (at + 1 >= limit || is_blank(text_[at + 1])) return kNotFound;
  size_t i = at + 1;
  while (i < limit && text_[i] != '$') i += text_[i] == '\\' ? 2 : 1;
  n_searched_ += i - at;
  if (i >= limit) return kNotFound;
  const bool digit_follows = i + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i + 1]));
  return is_blank(text_[i - 1]) || digit_follows ? kNotFound : i + 1;
}

size_t FormulaFinder::environment_end(size_t at) {
  const bool is_passed = environment_.bytes == 0 || environment_.begin < at;
  if (environment_.begin != kNotFound && is_passed) {
    environment_ = next_display_end(text_, at);
    n_searched_ += std::min(environment_.begin, text_.size()) - at;
  }
  return environment_.begin == kNotFound ? kNotFound : environment_.begin + environment_.bytes;
}

size_t FormulaFinder::formula_end(size_t at) {
  const std::string_view rest = text_.substr(at);
  const bool one_dollar = rest.starts_with('$') && !rest.starts_with("$$");
  const bool is_environment = display_begin(rest) > 0;
  const bool is_marked = rest.starts_with("$$") || rest.starts_with("\\(") || rest.starts_with("\\[");
  if (!one_dollar && !is_environment && !is_marked) return kNotFound;
  const size_t limit = std::min(paragraph_end(at), at + kLongestFormula);
  const bool may_grow = unfinished_ && limit == text_.size();
  if (is_environment) {
    const size_t end = environment_end(at);
    return end <= limit ? end : may_grow ? limit : kNotFound;
  }
  if (one_dollar) {
    const size_t end = dollar_end(at, limit);
    return end == kNotFound && may_grow && may_close(rest) ? limit : end;
  }
  const size_t end = rest[0] == '$'   ? next(dollars_, "$$", at + 2)
                     : rest[1] == '(' ? next(round_, "\\)", at + 2)
                                      : next(square_, "\\]", at + 2);
  if (end < limit - 1) return end + 2;
  return may_grow ? limit : kNotFound;
}

size_t GuardedText::original(size_t offset) const {
  const auto before = std::lower_bound(inserted.begin(), inserted.end(), offset);
  return offset - static_cast<size_t>(before - inserted.begin());
}

bool GuardedText::was_inserted(size_t offset) const {
  return std::binary_search(inserted.begin(), inserted.end(), offset);
}

std::string_view footnote_name(std::string_view text) {
  constexpr size_t kLongest = 40;  // bytes
  if (!text.starts_with("[^")) return {};
  size_t end = 2;
  while (end < std::min(text.size(), kLongest) && (is_word_character(text[end]) || text[end] == '-')) ++end;
  return end < text.size() && text[end] == ']' ? text.substr(2, end - 2) : std::string_view();
}

GuardedText guarded_markdown(std::string_view text, bool unfinished, const FootnoteNumbers& footnotes) {
  if (text.find_first_of("$|\\") == kNotFound && text.find("[^") == kNotFound) return {std::string(text)};
  return Guard(text, unfinished, footnotes).run();
}

}  // namespace warpchat::gui
