// The line's clusters are kept until it ends. Where to break is decided when something does not fit, with all that is
// known by then; so it makes no difference in which pieces the text came.
#include "app/platform/text/word_wrap.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/platform/text/line_breaks.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr int kTabStop = 8;
// Columns of an unfinished word that are held back: more if it could not be erased later.
constexpr int kMaxHeld = 16, kMaxHeldForEver = 32;
constexpr int kLongWord = 24;             // columns; one that is as long, and half a line, begins where it comes
constexpr int kDictionaryLookahead = 12;  // columns after a break that a dictionary needs to be sure of it
constexpr size_t kMaxNarrow = 64;         // clusters of a row beyond one a column: more of them take no columns

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
      breaker_.reset(), filter_ = {};
    else if (!filter_.can_show(c.value) && c.value != '\n' && c.value != '\t')
      add_code_point(kReplacementCharacter, 0xFFFD, piece);
    else
      add_code_point(rest.substr(0, c.bytes), c.value, piece);
    if (is_long()) show_what_is_complete();
    rest.remove_prefix(c.bytes);
  }
  show_what_is_complete();
  return std::exchange(out_, {});
}

std::string WordWrap::finish() {
  show_all();
  if (start_ > 0 || n_shown_ > 0) new_line(0);
  set_style({});
  clear_row();
  breaker_.reset();
  filter_ = {};
  return std::exchange(out_, {});
}

void WordWrap::add_code_point(std::string_view bytes, char32_t c, const StyledText& piece) {
  const bool begins_cluster = breaker_.breaks_before(c) || row_.empty();
  if (begins_cluster && is_flag_tag(c)) {  // of a flag from which a full cluster or an end has parted it
    filter_ = {};
    add_code_point(kReplacementCharacter, 0xFFFD, piece);
  } else if (c == '\n') {
    show_all();
    clear_row();
    new_line(0);
  } else if (begins_cluster) {
    add_cluster(bytes, c, piece);
  } else {
    grow_last_cluster(bytes);
  }
}

void WordWrap::add_cluster(std::string_view bytes, char32_t c, const StyledText& piece) {
  const bool blank = is_blank(bytes);
  // What follows blanks that go beyond the row's end begins the next one, without them.
  if (blank && !piece.verbatim && wraps() && start_ + columns_ > look_.width) return;
  const int width = c == '\t' ? kTabStop - (start_ + columns_) % kTabStop : code_point_width(c);
  row_.push_back({std::string(bytes), width, piece.style, piece.verbatim, piece.indent, piece.bars});
  columns_ += width;
  n_blanks_ = blank ? n_blanks_ + 1 : 0;
  blank_columns_ = blank ? blank_columns_ + width : 0;
  if (!blank && !waits_for_dictionary()) break_rows();
}

void WordWrap::grow_last_cluster(std::string_view bytes) {
  Cluster& last = row_.back();
  last.text += bytes;
  n_read_ += last.text.size();
  const int width = grapheme_width(last.text);
  columns_ += width - std::exchange(last.width, width);
  n_blanks_ = 0;
  blank_columns_ = 0;
  if (n_shown_ == row_.size())
    out_ += bytes;
  else if (!waits_for_dictionary())
    break_rows();
}

void WordWrap::erase_front(size_t n) {
  n_read_ += row_.size();
  columns_ -= columns_to(n) - start_;
  row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(n));
  n_blanks_ = std::min(n_blanks_, row_.size());
  blank_columns_ = std::min(blank_columns_, columns_);
}

void WordWrap::clear_row() {
  row_.clear();
  columns_ = blank_columns_ = 0;
  n_blanks_ = 0;
}

bool WordWrap::is_too_wide() const { return wraps() && start_ + columns_ - blank_columns_ > look_.width; }

bool WordWrap::is_long() const { return row_.size() > static_cast<size_t>(look_.width) + kMaxNarrow; }

bool WordWrap::waits_for_dictionary() const {
  const std::string& last = row_.back().text;
  return last.size() > 1 && needs_dictionary(first_code_point(last).value) &&
         start_ + columns_ <= look_.width + kDictionaryLookahead;
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
  const uint64_t bars = row_[next].bars;
  erase_front(next);
  new_line(indent, bars);
}

size_t WordWrap::next_row() const {
  const bool takes_back = look_.movable && may_take_back_;
  size_t first = std::max<size_t>(1, takes_back ? 0 : n_shown_);
  while (first + 1 < row_.size() && is_blank(row_[first].text)) ++first;
  const std::vector<int> columns = text_columns();
  size_t fitting = row_.size() - 1;  // as many clusters as there is room for
  while (fitting > first && columns[fitting] > look_.width) --fitting;
  size_t between_words = 0, within_word = 0;
  for (const size_t at : breaks()) {
    if (at > row_.size() - 1 || columns[at] > look_.width) break;
    (parts_words(at) ? between_words : within_word) = at;
  }
  const int word = start_ + columns_ - columns_to(between_words);
  if (between_words > 0 && word <= std::max(kLongWord, look_.width / 2)) return std::max(first, between_words);
  return std::max({first, between_words, within_word > between_words ? within_word : fitting});
}

// By a number of clusters: the columns to where they end, without the blanks at their end.
std::vector<int> WordWrap::text_columns() const {
  n_read_ += row_.size();
  std::vector<int> columns = {start_};
  int all = start_;
  for (const Cluster& cluster : row_) {
    all += cluster.width;
    columns.push_back(is_blank(cluster.text) ? columns.back() : all);
  }
  return columns;
}

std::vector<size_t> WordWrap::breaks() const {
  std::string text;
  std::vector<size_t> begins;  // of the clusters
  n_read_ += row_.size();
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
  if (end == row_.size()) return end_of_text();
  for (; end > 0 && is_blank(row_[end - 1].text); --end) ++n_read_;
  return end;
}

int WordWrap::columns_to(size_t end) const {
  n_read_ += end;
  int columns = start_;
  for (size_t i = 0; i < end; ++i) columns += row_[i].width;
  return columns;
}

size_t WordWrap::held_from() const {
  const size_t size = row_.size();
  if (!wraps()) return end_of_text();
  if (is_too_wide()) return size > 1 ? without_blanks(next_row()) : 0;
  if (n_blanks_ > 0) return end_of_text();
  size_t word = size;
  bool is_simple = true;  // Unicode lets no line end within it
  while (word > 0 && !is_blank(row_[word - 1].text)) {
    const std::string& text = row_[--word].text;
    ++n_read_;
    is_simple &= text.size() == 1 && is_word(text);
  }
  if (!is_simple)
    for (const size_t at : breaks())
      if (parts_words(at)) word = std::max(word, at);
  const int max = look_.movable && may_take_back_ ? kMaxHeld : kMaxHeldForEver;
  if (start_ + columns_ - columns_to(word) > max) word = size - 1;
  return without_blanks(word);
}

void WordWrap::show_what_is_complete() {
  if (row_.empty()) return;
  show(wraps() && is_long() ? end_of_text() : held_from());
  if (wraps() && !is_long()) return;
  // A line that is not broken may be long; all that may change of it is its last cluster. So may a row of what takes no
  // columns; its begin stays where it is.
  if (n_shown_ < 2) return;
  const int columns = columns_to(n_shown_ - 1);
  erase_front(n_shown_ - 1);
  start_ = columns;
  n_shown_ = 1;
}

void WordWrap::show_all() {
  break_rows();
  show(end_of_text());
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

void WordWrap::new_line(int indent, uint64_t bars) {
  set_style({});
  out_ += '\n';
  for (int column = 0; column < indent; ++column) {
    const bool has_bar = column < 64 && (bars >> column & 1) != 0;
    set_style({.dim = has_bar});
    out_ += has_bar ? '>' : ' ';
  }
  set_style({});
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
