#include "app/gui/transcript/markdown_tail.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "app/gui/transcript/markdown_guard.h"
#include "app/gui/transcript/markdown_lines.h"
#include "models/ascii.h"

namespace warpchat::gui {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80); }
size_t last_line(std::string_view text) { return text.rfind('\n') + 1; }  // 0 if it is the only one

bool is_fence(std::string_view line) {
  const std::string_view inner = inner_text(line);
  return inner.starts_with("```") || inner.starts_with("~~~");
}

bool ends_in_fence(std::string_view text) {
  bool open = false;
  char mark = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (is_fence(line) && (!open || inner_text(line)[0] == mark)) {
      open = !open;
      mark = inner_text(line)[0];
    }
    begin = end + 1;
  }
  return open;
}

// Nothing but marks: a list item, a rule, a heading's underline or emphasis may begin so.
bool is_undecided(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t>");
  if (begin == kNotFound) return true;
  line.remove_prefix(begin);
  if (line.find_first_not_of("-=*+_#~`| \t[") == kNotFound) return true;
  const size_t digits = line.find_first_not_of("0123456789");
  return digits == kNotFound || (digits > 0 && line.substr(digits).find_first_not_of(".) \t") == kNotFound);
}

// Where the inline text that is being written begins: behind the last line that opens or ends a block.
size_t paragraph_begin(std::string_view text) {
  size_t begin = last_line(text);
  while (begin > 0) {
    const std::string_view line = text.substr(begin);
    if (inner_text(line).size() != line.substr(std::min(line.find_first_not_of(" \t"), line.size())).size()) break;
    const size_t above = last_line(text.substr(0, begin - 1));
    const std::string_view line_above = text.substr(above, begin - 1 - above);
    if (line_above.find_first_not_of(" \t\r") == kNotFound || line_above.starts_with('#')) break;
    begin = above;
  }
  return begin;
}

size_t columns_of(std::string_view head) {
  size_t n = 0;
  bool in_cell = false;
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '|') {
      in_cell = false;
    } else if (!is_blank(head[i])) {
      n += !in_cell;
      in_cell = true;
      if (head[i] == '\\') ++i;
    }
  }
  return n;
}

// A table's head alone, or with the begin of the line that makes it one: as the table it becomes.
bool settle_table(std::string& text) {
  const size_t begin = paragraph_begin(text);
  const std::string_view lines = std::string_view(text).substr(begin);
  if (!lines.starts_with('|')) return false;
  const size_t head_end = lines.find('\n');
  const std::string_view head = lines.substr(0, head_end);
  if (head_end != kNotFound && lines.find_first_not_of("|:- \t", head_end + 1) != kNotFound) return false;
  const size_t columns = columns_of(head);
  if (columns == 0) return false;
  if (head_end != kNotFound) text.resize(begin + head_end);
  text += "\n|";
  for (size_t i = 0; i < columns; ++i) text += "---|";
  return true;
}

// Emphasis, code spans and links in one paragraph, and which of them are open at its end.
class OpenMarks {
 public:
  explicit OpenMarks(std::string_view text) : text_(text), formulas_(text, /*unfinished=*/true) {
    for (size_t i = 0; i < text_.size();) i = read(i);
  }
  size_t kept() const { return kept_; }  // the text without marks at its end that open nothing yet
  std::string closing() const {
    std::string out = code_;
    if (in_address_) out += ')';
    for (auto mark = open_.rbegin(); mark != open_.rend(); ++mark) out += *mark;
    return out;
  }

 private:
  size_t read(size_t at) {
    const char c = text_[at];
    if (c == '$' || c == '\\') {
      const size_t end = formulas_.formula_end(at);
      if (end != kNotFound) return end;
    }
    if (c == '\\') {
      if (at + 1 == text_.size()) kept_ = at;
      return at + 2;
    }
    if (c == '`') return read_code(at);
    if (c == '<' && may_be_tag(at)) return kept_ = at, text_.size();
    if (c == '*' || c == '_' || c == '~') return read_emphasis(at);
    if (c == ']' && at + 1 < text_.size() && text_[at + 1] == '(') in_address_ = true;
    if (c == ')') in_address_ = false;
    if (c == '[' && (at + 1 == text_.size() || may_be_footnote(at))) return kept_ = at, text_.size();
    return at + 1;
  }
  // "[^na" at the text's end.
  bool may_be_footnote(size_t at) const {
    constexpr size_t kLongest = 40;  // bytes
    const std::string_view rest = text_.substr(at);
    return rest.size() < kLongest && !footnote_name(std::string(rest) + "]").empty();
  }
  // The begin of an HTML tag at the text's end.
  bool may_be_tag(size_t at) const {
    constexpr size_t kLongest = 10;  // bytes
    std::string_view rest = text_.substr(at + 1);
    if (rest.size() > kLongest) return false;
    if (rest.starts_with('/')) rest.remove_prefix(1);
    return std::all_of(rest.begin(), rest.end(), [](char c) { return lower_case(c) >= 'a' && lower_case(c) <= 'z'; });
  }
  size_t read_code(size_t at) {
    const size_t end = std::min(text_.find_first_not_of('`', at), text_.size());
    const std::string_view run = text_.substr(at, end - at);
    for (size_t i = text_.find(run, end); i != kNotFound; i = text_.find(run, i)) {
      const size_t run_end = std::min(text_.find_first_not_of('`', i), text_.size());
      if (run_end - i == run.size()) return run_end;
      i = run_end;
    }
    if (end == text_.size()) {
      kept_ = at;
    } else {
      const size_t partial = text_.find_last_not_of('`') + 1;
      kept_ = partial;
      code_ = run;
    }
    return text_.size();
  }
  size_t read_emphasis(size_t at) {
    const size_t end = std::min(text_.find_first_not_of(text_[at], at), text_.size());
    const std::string_view run = text_.substr(at, end - at);
    const bool word_before = at > 0 && is_word(text_[at - 1]), word_after = end < text_.size() && is_word(text_[end]);
    if (run[0] == '_' && word_before && word_after) return end;
    const bool closes = at > 0 && !is_blank(text_[at - 1]) && !open_.empty() && open_.back()[0] == run[0];
    if (end == text_.size() && (!closes || open_.back().size() > run.size())) {
      kept_ = at;  // it may open, or it is half of what closes
    } else if (closes) {
      open_.pop_back();
    } else if (end < text_.size() && !is_blank(text_[end]) && run.size() <= 3) {
      open_.emplace_back(run);
    }
    return end;
  }

  std::string_view text_;
  FormulaFinder formulas_;
  size_t kept_ = text_.size();
  std::string code_;
  bool in_address_ = false;
  std::vector<std::string> open_;
};

void trim_end(std::string& text) {
  while (!text.empty() && is_blank(text.back())) text.pop_back();
}

}  // namespace

std::string settled_tail(std::string_view tail) {
  std::string text(tail);
  if (ends_in_fence(tail.substr(0, last_line(tail)))) {
    const std::string_view line = inner_text(tail.substr(last_line(tail)));
    if (!line.empty() && line.find_first_not_of(line[0]) == kNotFound && (line[0] == '`' || line[0] == '~')) {
      text.resize(last_line(tail));
    }
    return text;
  }
  if (is_fence(tail.substr(last_line(tail)))) return text;
  trim_end(text);
  if (is_undecided(std::string_view(text).substr(last_line(text)))) {
    const size_t begin = paragraph_begin(text);
    const bool in_table = text.size() > begin && text[begin] == '|' && last_line(text) > begin;
    if (!in_table) text.resize(last_line(text));
    trim_end(text);
  }
  if (text.empty() || settle_table(text)) return text;
  const size_t begin = paragraph_begin(text);
  if (text[begin] == '|') return text;
  const OpenMarks marks(std::string_view(text).substr(begin));
  text.resize(begin + marks.kept());
  const std::string closing = marks.closing();
  if (!closing.empty()) trim_end(text);
  return text + closing;
}

}  // namespace warpchat::gui
