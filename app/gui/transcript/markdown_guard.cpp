#include "app/gui/transcript/markdown_guard.h"

#include <algorithm>
#include <cctype>

#include "app/gui/transcript/markdown_lines.h"

namespace warpchat::gui {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kLongestFormula = 8000;  // bytes
constexpr size_t kLongestOpen = 200;      // bytes of a formula after one dollar that does not close yet

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The end of the paragraph that this place is in: an empty line or the text's end.
size_t paragraph_end(std::string_view text, size_t from) {
  for (size_t line = text.find('\n', from); line != kNone; line = text.find('\n', line + 1)) {
    const size_t next = text.find_first_not_of(" \t\r", line + 1);
    if (next == kNone || text[next] == '\n') return line;
  }
  return text.size();
}

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

// How far a formula may reach: a text full of dollars must not be searched to its end for each of them.
size_t formula_limit(std::string_view text, size_t at) {
  return paragraph_end(text.substr(0, std::min(text.size(), at + kLongestFormula)), at);
}

// One dollar opens before something and closes behind something that no digit follows: prices are no formulas.
size_t dollar_end(std::string_view text, size_t at, size_t limit) {
  if (at + 1 >= limit || is_space(text[at + 1])) return kNone;
  for (size_t i = at + 1; i < limit; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '$') {
      const bool digit_follows = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
      return is_space(text[i - 1]) || digit_follows ? kNone : i + 1;
    }
  }
  return kNone;
}

// Whether "$x" at a growing text's end may become a formula: a price will not, nor what is long.
bool may_close(std::string_view open) {
  if (open.size() < 2 || open.size() > kLongestOpen || open.find('$', 1) != kNone) return false;
  return !is_space(open[1]) && !std::isdigit(static_cast<unsigned char>(open[1]));
}

bool is_line_below_head(std::string_view text, size_t begin, size_t end) {
  const std::string_view line = text.substr(begin, end - begin);
  if (begin == 0 || line.find('-') == kNone || line.find_first_of("|:") == kNone) return false;
  if (line.find_first_not_of("|:- \t\r") != kNone) return false;
  const size_t above = begin > 1 ? text.rfind('\n', begin - 2) + 1 : 0;
  return text.substr(above, begin - above).find('|') != kNone;
}

// Whether these bytes are a whole formula and not one that is still open.
bool is_closed(std::string_view formula) {
  if (formula.starts_with("$$")) return formula.size() > 4 && formula.ends_with("$$");
  if (formula.starts_with("$")) return formula.size() > 2 && formula.ends_with("$") && !formula.ends_with("\\$");
  return formula.size() > 4 && formula.ends_with(formula[1] == '(' ? "\\)" : "\\]");
}

class Guard {
 public:
  Guard(std::string_view text, bool unfinished) : text_(text), unfinished_(unfinished) {}

  GuardedText run() {
    for (size_t at = 0; at < text_.size();) {
      const size_t line_end = std::min(text_.find('\n', at), text_.size());
      const bool line_begins = at == 0 || text_[at - 1] == '\n';
      if (line_begins && is_line_below_head(text_, at, line_end)) {
        at = copy_short_dashes(at, line_end);
      } else if (line_begins && opening_fence(inner_text(text_.substr(at, line_end - at))) > 0) {
        at = copy_until(at, line_end);
      } else {
        at = copy(at);
      }
    }
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
    const size_t formula = formula_end(text_, at, unfinished_);
    if (formula != kNone) {
      const std::string_view whole = text_.substr(at, formula - at);
      if (is_closed(whole)) out_.formulas.push_back({at, formula, whole[1] == '$' || whole[1] == '['});
      const bool quoted = whole.find('\n') != kNone && is_quoted(at);
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
    if (text_[at] == '`') return copy_until(at, after_code(text_, at, paragraph_end(text_, at)));
    if (text_[at] == '\\') return copy_until(at, std::min(at + 2, text_.size()));
    return copy_until(at, std::clamp(text_.find_first_of("$`\\\n", at), at + 1, text_.size()));
  }

  std::string_view text_;
  bool unfinished_;
  GuardedText out_;
};

}  // namespace

size_t formula_end(std::string_view text, size_t at, bool unfinished) {
  const std::string_view rest = text.substr(at);
  std::string_view close;
  if (rest.starts_with("$$")) {
    close = "$$";
  } else if (rest.starts_with("\\(")) {
    close = "\\)";
  } else if (rest.starts_with("\\[")) {
    close = "\\]";
  } else if (rest.starts_with("$")) {
    const size_t limit = formula_limit(text, at), end = dollar_end(text, at, limit);
    return end == kNone && unfinished && limit == text.size() && may_close(text.substr(at)) ? limit : end;
  } else {
    return kNone;
  }
  const size_t limit = formula_limit(text, at);
  const size_t end = text.substr(0, limit).find(close, at + 2);
  if (end != kNone) return end + close.size();
  return unfinished && limit == text.size() ? limit : kNone;
}

size_t GuardedText::original(size_t offset) const {
  const auto before = std::lower_bound(inserted.begin(), inserted.end(), offset);
  return offset - static_cast<size_t>(before - inserted.begin());
}

bool GuardedText::was_inserted(size_t offset) const {
  return std::binary_search(inserted.begin(), inserted.end(), offset);
}

GuardedText guarded_markdown(std::string_view text, bool unfinished) {
  if (text.find_first_of("$|\\") == kNone) return {std::string(text)};
  return Guard(text, unfinished).run();
}

}  // namespace warpchat::gui
