// Every change ends with the cursor on a cluster boundary: an inserted combining mark joins the cluster before it.
#include "app/terminal/text_buffer.h"

#include <algorithm>
#include <utility>

#include "app/terminal/graphemes.h"

namespace warpchat {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

// The first cluster boundary at or after `at`.
size_t boundary_from(std::string_view text, size_t at) {
  if (at == 0 || at >= text.size()) return std::min(at, text.size());
  const size_t before = previous_grapheme(text, at);
  const size_t end = next_grapheme(text, before);
  return end < at ? at : end;
}

}  // namespace

void TextBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void TextBuffer::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ = boundary_from(text_, cursor_ + text.size());
}

void TextBuffer::erase_left() {
  const size_t from = previous_grapheme(text_, cursor_);
  text_.erase(from, cursor_ - from);
  cursor_ = boundary_from(text_, from);
}

void TextBuffer::erase_right() {
  text_.erase(cursor_, next_grapheme(text_, cursor_) - cursor_);
  cursor_ = boundary_from(text_, cursor_);
}

void TextBuffer::left() { cursor_ = previous_grapheme(text_, cursor_); }
void TextBuffer::right() { cursor_ = next_grapheme(text_, cursor_); }
void TextBuffer::word_left() { cursor_ = word_left_of(cursor_); }
void TextBuffer::word_right() { cursor_ = word_right_of(cursor_); }
void TextBuffer::line_start() { cursor_ = line_start_of(cursor_); }
void TextBuffer::line_end() { cursor_ = line_end_of(cursor_); }

bool TextBuffer::line_up() {
  const size_t start = line_start_of(cursor_);
  if (start == 0) return false;
  move_to_line(line_start_of(start - 1));
  return true;
}

bool TextBuffer::line_down() {
  const size_t end = line_end_of(cursor_);
  if (end == text_.size()) return false;
  move_to_line(end + 1);
  return true;
}

void TextBuffer::kill_to_line_end() {
  const size_t end = line_end_of(cursor_);
  kill(cursor_, end == cursor_ && end < text_.size() ? end + 1 : end);
}

void TextBuffer::kill_to_line_start() { kill(line_start_of(cursor_), cursor_); }
void TextBuffer::kill_word_left() { kill(word_left_of(cursor_), cursor_); }
void TextBuffer::kill_word_right() { kill(cursor_, word_right_of(cursor_)); }

size_t TextBuffer::line_start_of(size_t at) const {
  const size_t line_break = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return line_break == std::string::npos ? 0 : line_break + 1;
}

size_t TextBuffer::line_end_of(size_t at) const {
  const size_t line_break = text_.find('\n', at);
  return line_break == std::string::npos ? text_.size() : line_break;
}

size_t TextBuffer::word_left_of(size_t at) const {
  while (at > 0 && is_space(text_[at - 1])) --at;
  while (at > 0 && !is_space(text_[at - 1])) --at;
  return at;
}

size_t TextBuffer::word_right_of(size_t at) const {
  while (at < text_.size() && is_space(text_[at])) ++at;
  while (at < text_.size() && !is_space(text_[at])) ++at;
  return at;
}

void TextBuffer::move_to_line(size_t start) {
  const size_t from = line_start_of(cursor_);
  int column = 0;
  for (size_t at = from; at < cursor_; at = next_grapheme(text_, at)) column += drawn_at(at).width;
  const size_t end = line_end_of(start);
  cursor_ = start;
  for (int width = 0; cursor_ < end; cursor_ = next_grapheme(text_, cursor_)) {
    width += drawn_at(cursor_).width;
    if (width > column) break;
  }
}

Drawn TextBuffer::drawn_at(size_t at) const {
  return drawn_cluster(std::string_view(text_).substr(at, next_grapheme(text_, at) - at));
}

void TextBuffer::kill(size_t from, size_t to) {
  if (from == to) return;
  killed_ = text_.substr(from, to - from);
  text_.erase(from, to - from);
  cursor_ = boundary_from(text_, from);
}

}  // namespace warpchat
