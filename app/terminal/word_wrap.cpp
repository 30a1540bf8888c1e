// Words end at blanks and line breaks, and between wide characters (Chinese, Japanese, emoji), where no closing mark
// follows and no opening one precedes.
#include "app/terminal/word_wrap.h"

#include <utility>

namespace warpchat {

namespace {

constexpr std::u32string_view kNeverFirst = U"、。，．・：；？！）］｝〉》」』】〕’”…ー々%)]},.!?:;";
constexpr std::u32string_view kNeverLast = U"（［｛〈《「『【〔‘“([{";
constexpr int kTabWidth = 8;

bool contains(std::u32string_view set, char32_t c) { return set.find(c) != std::u32string_view::npos; }

}  // namespace

std::string WordWrap::add(const StyledText& piece) {
  std::string_view rest = piece.text;
  while (!rest.empty()) {
    const CodePoint c = first_code_point(rest);
    const bool control = is_control(c.value) && c.value != '\n' && c.value != '\t';
    if (control)
      add_code_point("\xEF\xBF\xBD", 0xFFFD, piece);
    else
      add_code_point(rest.substr(0, c.bytes), c.value, piece);
    rest.remove_prefix(c.bytes);
  }
  return std::exchange(out_, {});
}

std::string WordWrap::finish() {
  place_word();
  blanks_.clear();
  if (column_ > 0) new_line(0);
  if (styled_ && style_ != Style{}) out_ += escape_sequence({});
  style_ = {};
  breaker_.reset();
  return std::exchange(out_, {});
}

void WordWrap::add_code_point(std::string_view bytes, char32_t c, const StyledText& piece) {
  const bool new_cluster = breaker_.breaks_before(c);
  if (c == '\n') {
    place_word();
    blanks_.clear();
    new_line(0);
  } else if (c == ' ' || c == '\t') {
    place_word();
    blanks_ += bytes;
    blanks_style_ = piece.style;
  } else {
    if (new_cluster && (piece.verbatim || breaks_between(last_, c))) place_word();
    append(word_, {std::string(bytes), piece.style, piece.verbatim, piece.indent});
  }
  last_ = c;
}

bool WordWrap::breaks_between(char32_t before, char32_t after) const {
  if (before == 0 || word_.empty()) return false;
  const bool wide = code_point_width(before) == 2 || code_point_width(after) == 2;
  return wide && !contains(kNeverFirst, after) && !contains(kNeverLast, before);
}

// Blanks before a word that goes to the next line are dropped, all others are kept as they are.
void WordWrap::place_word() {
  if (word_.empty()) return;
  const std::vector<StyledText> word = std::exchange(word_, {});
  const bool wraps = width_ > 0 && !word.front().verbatim;
  const int indent = word.front().indent, blank_width = columns_of_blanks();
  int width = 0;
  for (const StyledText& part : word) width += text_width(part.text);
  if (wraps && column_ > 0 && column_ + blank_width + width > width_ && width <= width_ - indent)
    new_line(indent);
  else
    emit(blanks_, blank_width, blanks_style_);
  blanks_.clear();
  if (wraps && column_ + width > width_) return emit_in_pieces(word);
  for (const StyledText& part : word) emit(part.text, text_width(part.text), part.style);
}

int WordWrap::columns_of_blanks() const {
  int column = column_;
  for (char c : blanks_) column += c == '\t' ? kTabWidth - column % kTabWidth : 1;
  return column - column_;
}

void WordWrap::emit_in_pieces(const std::vector<StyledText>& word) {
  for (const StyledText& part : word) {
    for (size_t at = 0; at < part.text.size();) {
      const size_t end = next_grapheme(part.text, at);
      const std::string_view cluster = std::string_view(part.text).substr(at, end - at);
      const int width = grapheme_width(cluster);
      if (column_ + width > width_ && column_ > 0) new_line(0);
      emit(cluster, width, part.style);
      at = end;
    }
  }
}

void WordWrap::emit(std::string_view text, int width, Style style) {
  if (text.empty()) return;
  if (styled_ && style != style_) out_ += escape_sequence(style);
  style_ = style;
  out_ += text;
  column_ += width;
}

void WordWrap::new_line(int indent) {
  out_ += '\n';
  out_.append(static_cast<size_t>(indent), ' ');
  column_ = indent;
  last_ = 0;
}

}  // namespace warpchat
