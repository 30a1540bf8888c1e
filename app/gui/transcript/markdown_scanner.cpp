#include "app/gui/transcript/markdown_scanner.h"

#include <algorithm>
#include <cctype>

#include "app/gui/transcript/markdown_lines.h"

namespace warpchat::gui {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_rule(std::string_view rest) {
  if (rest.empty() || std::string_view("-*_").find(rest[0]) == kNotFound) return false;
  size_t n = 0;
  for (char c : rest) {
    if (c == rest[0]) {
      ++n;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return false;
    }
  }
  return n >= 3;
}

// The length of a list's marker, "-" or "12."; 0: there is none.
size_t marker_length(std::string_view rest) {
  if (rest.empty() || is_rule(rest)) return 0;
  size_t length = 1;
  if (is_digit(rest[0])) {
    while (length < rest.size() && is_digit(rest[length])) ++length;
    if (length > 9 || length >= rest.size() || (rest[length] != '.' && rest[length] != ')')) return 0;
    ++length;
  } else if (rest[0] != '-' && rest[0] != '+' && rest[0] != '*') {
    return 0;
  }
  const bool ends = length == rest.size() || rest[length] == ' ' || rest[length] == '\t' || rest[length] == '\r';
  return ends ? length : 0;
}

// "[name]: address" and nothing more.
bool is_definition(std::string_view rest) {
  if (!rest.starts_with('[') || rest.starts_with("[^")) return false;
  const size_t close = rest.find(']');
  if (close == kNotFound || close < 2 || rest.find('[', 1) < close || rest.find('\\') != kNotFound) return false;
  const std::string_view name = rest.substr(1, close - 1);
  if (name.find_first_not_of(" \t") == kNotFound || close + 1 >= rest.size() || rest[close + 1] != ':') return false;
  std::string_view address = rest.substr(close + 2);
  address.remove_prefix(std::min(address.find_first_not_of(" \t"), address.size()));
  while (!address.empty() && std::isspace(static_cast<unsigned char>(address.back()))) address.remove_suffix(1);
  return !address.empty() && address[0] != '<' && address.find_first_of(" \t()\"") == kNotFound;
}

}  // namespace

struct MarkdownScanner::Line {
  size_t indent = 0;      // columns
  std::string_view rest;  // without indentation and line's end
  size_t fence = 0;       // length of the fence it opens where one may be
  size_t marker = 0;      // length of its list marker
};

bool MarkdownScanner::begins_block(std::string_view text) {
  Line line;
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  size_t at = 0;
  for (; at < text.size() && (text[at] == ' ' || text[at] == '\t'); ++at) {
    line.indent += text[at] == '\t' ? 4 - line.indent % 4 : 1;
  }
  line.rest = text.substr(at);
  if (fence_mark_ != 0) {
    if (line.indent < 4 && closes_fence(line.rest, fence_mark_, fence_length_)) {
      fence_mark_ = 0;
      after_fence_ = true;
    }
    return false;
  }
  if (line.rest.empty()) {
    after_empty_ = may_define_ = true;
    if (in_list_ == false) inner_mark_ = 0;  // a quote's end
    return false;
  }
  if (in_inner_fence(line)) return false;
  line.fence = line.indent < 4 ? opening_fence(line.rest) : 0;
  line.marker = marker_length(line.rest);
  const bool cuts = !lost_ && cuts_before(line);
  if (cuts) in_list_ = list_may_have_ended_ = false;
  const bool is_top = !in_list_ || line.indent < item_indent_;
  note_definition(text, line);
  if (line.fence > 0 && list_may_have_ended_ && line.indent >= 2) {
    lost_ = true;
  } else if (line.fence > 0 && is_top) {
    fence_mark_ = line.rest[0];
    fence_length_ = line.fence;
    in_list_ = false;
  } else if (is_top) {
    note_list(line);
  }
  after_empty_ = after_fence_ = false;
  return cuts;
}

// A fence in an item or a quote ends with it, or with a closing line that may stand outside: md4c is lenient there,
// and models need it.
bool MarkdownScanner::in_inner_fence(const Line& line) {
  const bool is_quote = line.rest[0] == '>';
  const bool in_item = in_list_ && line.indent >= item_indent_;
  if (inner_mark_ != 0) {
    const bool is_inside = in_item || (is_quote && inner_in_quote_);
    const bool closes = closes_fence(is_inside ? inner_text(line.rest) : line.rest, inner_mark_, inner_length_);
    if (closes || !is_inside) inner_mark_ = 0;
    if (closes && !is_inside) list_may_have_ended_ = in_list_;
    if (closes || is_inside) {
      after_empty_ = closes;
      return true;
    }
  }
  const std::string_view inner = inner_text(line.rest);
  const size_t length = opening_fence(inner);
  if (length > 0 && (in_item || inner.size() < line.rest.size())) {
    inner_mark_ = inner[0];
    inner_length_ = length;
    inner_in_quote_ = is_quote;
  }
  return false;
}

bool MarkdownScanner::cuts_before(const Line& line) {
  if (after_fence_) return true;
  const bool is_top = !in_list_ || line.indent < item_indent_;
  if (line.fence > 0 && is_top && (!list_may_have_ended_ || line.indent < 2)) return true;
  return after_empty_ && line.indent == 0 && (!in_list_ || line.marker == 0);
}

void MarkdownScanner::note_list(const Line& line) {
  if (line.marker > 0 && line.indent < 4) {
    const bool is_empty = line.rest.find_first_not_of(" \t", line.marker) == kNotFound;
    const bool may_interrupt = !is_empty && (!is_digit(line.rest[0]) || line.rest.substr(0, line.marker - 1) == "1");
    if (!in_list_ && !after_empty_ && !after_fence_ && !may_interrupt) list_may_have_ended_ = true;
    size_t spaces = std::min(line.rest.find_first_not_of(' ', line.marker), line.rest.size()) - line.marker;
    if (spaces == 0 || spaces > 4 || is_empty) spaces = 1;
    in_list_ = true;
    item_indent_ = line.indent + line.marker + spaces;
    if (line.rest.find('\t') != kNotFound) list_may_have_ended_ = true;
  } else if (in_list_) {
    list_may_have_ended_ = true;  // or its paragraph goes on without indentation
  }
}

void MarkdownScanner::note_definition(std::string_view text, const Line& line) {
  const std::string_view name = footnote_name(line.rest);
  const bool is_footnote = !name.empty() && line.rest.substr(name.size() + 3).starts_with(':');
  n_footnotes_ += is_footnote;
  if (is_footnote && name.find_first_not_of("0123456789") != kNotFound)
    footnotes_.try_emplace(std::string(name), n_footnotes_);
  const bool defines = may_define_ && !in_list_ && line.indent < 4 && is_definition(line.rest);
  if (defines) {
    definitions_ += text;
    definitions_ += '\n';
  }
  may_define_ = defines;
}

}  // namespace warpchat::gui
