// Follows brackets and strings alone. A bracket closes all that were opened after its counterpart, and a string ends
// with its line at the latest, so that after a fault the next element is found again.
#include "engine/json_elements.h"

#include <algorithm>

#include "engine/untrusted_json.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

struct End {
  size_t at;  // behind the value
  bool is_whole;
};

// from: the quote that opens it.
End end_of_string(std::string_view text, size_t from) {
  for (size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"' || text[i] == '\n')
      return {i + 1, true};
  }
  return {text.size(), false};
}

// The brackets that are open at a place, as those that close them.
class OpenBrackets {
 public:
  void open(char bracket) { closing_ += bracket == '{' ? '}' : ']'; }
  bool close(char bracket) {  // false: there is no counterpart
    const size_t counterpart = closing_.rfind(bracket);
    if (counterpart == std::string::npos) return false;
    closing_.resize(counterpart);
    return true;
  }
  const std::string& closing() const { return closing_; }  // outermost first

 private:
  std::string closing_;
};

End end_of_value(std::string_view text, size_t from) {
  if (text[from] == '"') return end_of_string(text, from);
  if (text[from] != '{' && text[from] != '[') {
    const size_t end = text.find_first_of(",]}{[\" \t\r\n", from + 1);
    return {std::min(end, text.size()), true};
  }
  OpenBrackets brackets;
  for (size_t i = from; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i).at;
      continue;
    }
    if (c == '{' || c == '[') brackets.open(c);
    if (c == '}' || c == ']') {
      if (!brackets.close(c)) return {i, true};  // it closes what is around the value
      if (brackets.closing().empty()) return {i + 1, true};
    }
    ++i;
  }
  return {text.size(), false};
}

bool is_separator(char c) { return is_blank(c) || c == ','; }

}  // namespace

JsonElements::JsonElements(std::string_view text) : text_(text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return;
  is_array_ = text[first] == '[';
  if (text[first] != '{') return;
  const size_t line_end = std::min(text.find('\n', first), text.size());
  const std::string_view line = trimmed(text.substr(first, line_end - first));
  const End end = end_of_value(line, 0);
  n_read_ = line.size();
  is_lines_ = end.is_whole && end.at == line.size() && !trimmed(text.substr(line_end)).empty();
}

JsonElements::Element JsonElements::cut(size_t end, bool is_whole) {
  const Element element{trimmed(text_.substr(at_, end - at_)), at_, is_whole};
  n_read_ += end - at_;
  at_ = end;
  return element;
}

std::optional<JsonElements::Element> JsonElements::next() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (is_separator(c)) continue;
    if (is_lines_) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      return cut(end, end < text_.size() || end_of_value(text_.substr(at_, end - at_), 0).is_whole);
    }
    if (c == '[' && !in_array_) {
      in_array_ = true;
      continue;
    }
    if (c == ']' || c == '}') {
      in_array_ = false;
      continue;
    }
    const End end = end_of_value(text_, at_);
    return cut(end.at, end.is_whole);
  }
  return std::nullopt;
}

std::string close_cut_json(std::string_view text) {
  OpenBrackets brackets;
  size_t last_end = 0;
  std::string missing;  // at last_end, innermost first
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i).at;
      continue;
    }
    ++i;
    if (c == '{' || c == '[') brackets.open(c);
    if (brackets.closing().size() > JsonLimits().depth) return "";
    if ((c == '}' || c == ']') && brackets.close(c)) {
      last_end = i;
      missing.assign(brackets.closing().rbegin(), brackets.closing().rend());
    }
  }
  return std::string(text.substr(0, last_end)) + missing;
}

}  // namespace warpchat
