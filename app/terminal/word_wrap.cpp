// The line's clusters are kept until it ends. Where to break is decided when something does not fit, with all that is
// known by then; so it makes no difference in which pieces the text came.
#include "app/terminal/word_wrap.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/terminal/line_breaks.h"

namespace warpchat {

namespace {

constexpr int kTabWidth = 8;
// Columns of an unfinished word that are held back: more if it could not be erased later.
constexpr int kMaxHeld = 16, kMaxHeldForEver = 32;
constexpr int kLongWord = 24;             // columns; one that is as long, and half a line, begins where it comes
constexpr int kDictionaryLookahead = 12;  // columns after a break that a dictionary needs to be sure of it

bool is_blank(std::string_view cluster) { return cluster == " " || cluster == "\t"; }
bool is_word(std::string_view cluster) {
  const auto c = static_cast<unsigned char>(cluster[0]);
  return c >= 0x80 || std::isalnum(c) != 0;
}
bool is_ascii_punctuation(std::string_view cluster) {
  return std::ispunct(static_cast<unsigned char>(cluster[0])) != 0;
}

}  // namespace

void WordWrap::set_width(int width) {
  if (std::exchange(look_.width, width) != width) may_take_back_ = false;
}

std::string WordWrap::add(const StyledText& piece) {
  std::string_view rest = piece.text;
  while (!rest.empty()) {
    const CodePoint c = first_code_point(rest);
    if (c.value == '\r')
      breaker_.reset();
    else if (!filter_.can_show(c.value) && c.value != '\n' && c.value != '\t')
      add_code_point("\xEF\xBF\xBD", 0xFFFD, piece);
    else
      add_code_point(rest.substr(0, c.bytes), c.value, piece);
    rest.remove_prefix(c.bytes);
  }
  show_what_is_complete();
  return std::exchange(out_, {});
}

std::string WordWrap::finish() {
  show_all();
  if (start_ > 0 || n_shown_ > 0) new_line(0);
  set_style({});
  row_.clear();
  breaker_.reset();
  return std::exchange(out_, {});
}

void WordWrap::add_code_point(std::string_view bytes, char32_t c, const StyledText& piece) {
  const bool begins_cluster = breaker_.breaks_before(c);
  if (c == '\n') {
    show_all();
    row_.clear();
    new_line(0);
  } else if (begins_cluster || row_.empty()) {
    add_cluster(bytes, c, piece);
  } else {
    grow_last_cluster(bytes);
  }
}

void WordWrap::add_cluster(std::string_view bytes, char32_t c, const StyledText& piece) {
  const int width = c == '\t' ? kTabWidth - columns_to(row_.size()) % kTabWidth : code_point_width(c);
  row_.push_back({std::string(bytes), width, piece.style, piece.verbatim, piece.indent});
  if (!is_blank(bytes) && !waits_for_dictionary()) break_rows();
}

void WordWrap::grow_last_cluster(std::string_view bytes) {
  Cluster& last = row_.back();
  last.text += bytes;
  last.width = grapheme_width(last.text);
  if (n_shown_ == row_.size())
    out_ += bytes;
  else if (!waits_for_dictionary())
    break_rows();
}

bool WordWrap::is_too_wide() const { return wraps() && columns_to(without_blanks(row_.size())) > look_.width; }

bool WordWrap::waits_for_dictionary() const {
  const std::string& last = row_.back().text;
  return last.size() > 1 && needs_dictionary(first_code_point(last).value) &&
         columns_to(row_.size()) <= look_.width + kDictionaryLookahead;
}

void WordWrap::break_rows() {
  while (row_.size() > 1 && is_too_wide()) break_row();
}

// Drops blanks at the break, keeps all others.
void WordWrap::break_row() {
  const size_t next = next_row(), end = without_blanks(next);
  if (n_shown_ > next) {
    const int column = columns_to(end);
    out_ += "\r" + (column > 0 ? "\x1b[" + std::to_string(column) + "C" : "") + "\x1b[K";
  } else {
    show(std::max(end, n_shown_));
  }
  const int indent = std::min(row_[next].indent, look_.width / 2);
  row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(next));
  new_line(indent);
}

size_t WordWrap::next_row() const {
  const bool takes_back = look_.movable && may_take_back_;
  size_t first = std::max<size_t>(1, takes_back ? 0 : n_shown_);
  while (first + 1 < row_.size() && is_blank(row_[first].text)) ++first;
  size_t fitting = row_.size() - 1;  // as many clusters as there is room for
  while (fitting > first && columns_to(without_blanks(fitting)) > look_.width) --fitting;
  size_t between_words = 0, within_word = 0;
  for (const size_t at : breaks()) {
    if (at > row_.size() - 1 || columns_to(without_blanks(at)) > look_.width) break;
    (parts_words(at) ? between_words : within_word) = at;
  }
  const int word = columns_to(row_.size()) - columns_to(between_words);
  if (between_words > 0 && word <= std::max(kLongWord, look_.width / 2)) return std::max(first, between_words);
  return std::max({first, between_words, within_word > between_words ? within_word : fitting});
}

std::vector<size_t> WordWrap::breaks() const {
  std::string text;
  std::vector<size_t> begins;  // of the clusters
  for (const Cluster& cluster : row_) {
    begins.push_back(text.size());
    text += cluster.text;
  }
  std::vector<size_t> clusters;
  for (const size_t at : line_breaks(text)) {
    const auto begin = std::lower_bound(begins.begin(), begins.end(), at);
    if (begin != begins.end() && *begin == at) clusters.push_back(static_cast<size_t>(begin - begins.begin()));
  }
  return clusters;
}

// Unicode lets lines end after the marks in an address, too, and after the dashes of a flag.
bool WordWrap::parts_words(size_t at) const {
  const std::string& before = row_[at - 1].text;
  const bool hyphen = before == "-" && at >= 2 && is_word(row_[at - 2].text);
  return hyphen || !is_ascii_punctuation(before);
}

size_t WordWrap::without_blanks(size_t end) const {
  while (end > 0 && is_blank(row_[end - 1].text)) --end;
  return end;
}

int WordWrap::columns_to(size_t end) const {
  int columns = start_;
  for (size_t i = 0; i < end; ++i) columns += row_[i].width;
  return columns;
}

size_t WordWrap::held_from() const {
  const size_t size = row_.size();
  if (!wraps()) return without_blanks(size);
  if (is_too_wide()) return size > 1 ? without_blanks(next_row()) : 0;
  if (is_blank(row_.back().text)) return without_blanks(size);
  size_t word = size;
  bool is_simple = true;  // Unicode lets no line end within it
  while (word > 0 && !is_blank(row_[word - 1].text)) {
    const std::string& text = row_[--word].text;
    is_simple &= text.size() == 1 && is_word(text);
  }
  if (!is_simple)
    for (const size_t at : breaks())
      if (parts_words(at)) word = std::max(word, at);
  const int max = look_.movable && may_take_back_ ? kMaxHeld : kMaxHeldForEver;
  if (columns_to(size) - columns_to(word) > max) word = size - 1;
  return without_blanks(word);
}

void WordWrap::show_what_is_complete() {
  if (row_.empty()) return;
  show(held_from());
  if (look_.width > 0 && !row_.back().verbatim) return;
  // A line that is not broken may be long; all that may change of it is its last cluster.
  if (n_shown_ < 2) return;
  start_ = columns_to(n_shown_ - 1);
  row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(n_shown_) - 1);
  n_shown_ = 1;
}

void WordWrap::show_all() {
  break_rows();
  show(without_blanks(row_.size()));
}

void WordWrap::show(size_t end) {
  for (; n_shown_ < end; ++n_shown_) {
    set_style(row_[n_shown_].style);
    out_ += row_[n_shown_].text;
  }
}

void WordWrap::set_style(Style style) {
  if (look_.styled && style != style_) out_ += escape_sequence(style);
  style_ = style;
}

void WordWrap::new_line(int indent) {
  set_style({});
  out_ += '\n';
  out_.append(static_cast<size_t>(indent), ' ');
  start_ = indent;
  n_shown_ = 0;
  may_take_back_ = true;
}

std::string wrapped(const std::vector<StyledText>& pieces, int width, bool styled) {
  WordWrap wrap({width, styled});
  std::string text;
  for (const StyledText& piece : pieces) text += wrap.add(piece);
  return text + wrap.finish();
}

}  // namespace warpchat
