// Every change is a replacement and ends with the cursor on a cluster boundary: an inserted combining mark joins the
// cluster before it.
#include "app/terminal/editor/text_buffer.h"

#include <algorithm>
#include <utility>

#include "models/ascii.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMaxOpenLines = 10, kMaxOpenBytes = 2000;  // of a paste that is shown as it is
constexpr size_t kMaxChanges = 1000;                        // that can be undone

size_t n_lines(std::string_view text) {
  const auto breaks = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  return breaks + (text.ends_with('\n') ? 0 : 1);
}

size_t n_characters(std::string_view text) {
  size_t n = 0;
  for (size_t at = 0; at < text.size(); ++n) at += first_code_point(text.substr(at)).bytes;
  return n;
}

}  // namespace

void TextBuffer::set(std::string text) {
  text_ = std::move(text);
  folds_.clear();
  changes_.clear();
  cursor_ = text_.size();
}

const TextBuffer::Fold* TextBuffer::fold_from(size_t at) const {
  for (const Fold& fold : folds_)
    if (fold.from == at) return &fold;
  return nullptr;
}

const TextBuffer::Fold* TextBuffer::fold_around(size_t at) const {
  for (const Fold& fold : folds_)
    if (fold.from <= at && at < fold.to) return &fold;
  return nullptr;
}

// Clusters do not reach into a fold, nor out of one.
size_t TextBuffer::next(size_t at) const {
  if (const Fold* fold = fold_from(at)) return fold->to;
  size_t end = text_.size();
  for (const Fold& fold : folds_)
    if (fold.from > at) end = std::min(end, fold.from);
  return next_grapheme(std::string_view(text_).substr(0, end), at);
}

size_t TextBuffer::previous(size_t at) const {
  size_t begin = 0;
  for (const Fold& fold : folds_) {
    if (fold.to == at) return fold.from;
    if (fold.to < at) begin = fold.to;
  }
  return begin + previous_grapheme(std::string_view(text_).substr(begin), at - begin);
}

Drawn TextBuffer::drawn(size_t at) const {
  const std::string_view cluster = std::string_view(text_).substr(at, next(at) - at);
  if (!is_folded(at)) return drawn_cluster(cluster);
  const size_t lines = n_lines(cluster);
  const std::string label =
      "[pasted " + (lines > 1 ? counted(lines, "line") : counted(n_characters(cluster), "character")) + "]";
  return {label, text_width(label)};
}

void TextBuffer::paste(std::string_view text) {
  const bool folded = n_lines(text) > kMaxOpenLines || text.size() > kMaxOpenBytes;
  const size_t from = cursor_;
  replace(from, from, text, Joins::kNothing);
  if (!folded) return;
  const auto after = std::ranges::find_if(folds_, [&](const Fold& fold) { return fold.from >= from; });
  folds_.insert(after, {from, from + text.size()});
  cursor_ = from + text.size();
}

void TextBuffer::undo() {
  if (changes_.empty()) return;
  Change change = std::move(changes_.back());
  changes_.pop_back();
  text_.replace(change.at, change.n_inserted, change.removed);
  folds_ = std::move(change.folds);
  cursor_ = change.cursor;
  last_joins_ = Joins::kNothing;
}

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

size_t TextBuffer::boundary_from(size_t at) const {
  if (at == 0 || at >= text_.size()) return std::min(at, text_.size());
  const size_t end = next(previous(at));
  return end < at ? at : end;
}

size_t TextBuffer::step_left(size_t at) const {
  const Fold* fold = fold_around(at - 1);
  return fold != nullptr ? fold->from : at - 1;
}

size_t TextBuffer::step_right(size_t at) const {
  const Fold* fold = fold_from(at);
  return fold != nullptr ? fold->to : at + 1;
}

size_t TextBuffer::line_start_of(size_t at) const {
  while (at > 0 && !is_line_break(at - 1)) at = step_left(at);
  return at;
}

size_t TextBuffer::line_start_before(size_t at, size_t n_lines) const {
  size_t begin = line_start_of(at);
  for (; begin > 0 && n_lines > 0; --n_lines) begin = line_start_of(begin - 1);
  return begin;
}

size_t TextBuffer::line_end_of(size_t at) const {
  while (at < text_.size() && !is_line_break(at)) at = step_right(at);
  return at;
}

bool TextBuffer::is_word(size_t at) const {
  return static_cast<unsigned char>(text_[at]) >= 0x80 || is_word_character(text_[at]) || fold_around(at) != nullptr;
}

size_t TextBuffer::word_left_of(size_t at) const {
  while (at > 0 && !is_word(at - 1)) --at;
  while (at > 0 && is_word(at - 1)) at = step_left(at);
  return at;
}

size_t TextBuffer::word_right_of(size_t at) const {
  while (at < text_.size() && !is_word(at)) ++at;
  while (at < text_.size() && is_word(at)) at = step_right(at);
  return at;
}

void TextBuffer::swap_characters() {
  size_t middle = cursor_;
  if (middle == line_end_of(middle)) middle = previous(middle);
  const size_t begin = line_start_of(cursor_);
  if (middle <= begin) return;
  const size_t from = previous(middle), to = next(middle);
  if (is_folded(from) || is_folded(middle)) return;
  replace(from, to, text_.substr(middle, to - middle) + text_.substr(from, middle - from), Joins::kNothing);
}

void TextBuffer::swap_words() {
  const size_t right_end = word_right_of(cursor_), right = word_left_of(right_end);
  const size_t left = word_left_of(right), left_end = word_right_of(left);
  if (left_end > right || left == right) return;
  for (const Fold& fold : folds_)
    if (fold.from < right_end && left < fold.to) return;
  const std::string swapped = text_.substr(right, right_end - right) + text_.substr(left_end, right - left_end) +
                              text_.substr(left, left_end - left);
  replace(left, right_end, swapped, Joins::kNothing);
}

void TextBuffer::change_word(LetterCase wanted) {
  const size_t end = word_right_of(cursor_);
  for (const Fold& fold : folds_)
    if (fold.from < end && cursor_ < fold.to) return void(cursor_ = end);
  std::string changed;
  bool is_upper = wanted != LetterCase::kLower;
  for (size_t at = cursor_; at < end;) {
    const CodePoint c = first_code_point(std::string_view(text_).substr(at));
    append_utf8(is_upper ? upper_case(c.value) : lower_case(c.value), changed);
    if (wanted == LetterCase::kCapital && is_word(at)) is_upper = false;
    at += c.bytes;
  }
  replace(cursor_, end, changed, Joins::kNothing);
}

void TextBuffer::move_to_line(size_t start) {
  int column = 0;
  for (size_t at = line_start_of(cursor_); at < cursor_; at = next(at)) column += drawn(at).width;
  const size_t end = line_end_of(start);
  cursor_ = start;
  for (int width = 0; cursor_ < end; cursor_ = next(cursor_)) {
    width += drawn(cursor_).width;
    if (width > column) break;
  }
}

void TextBuffer::replace(size_t from, size_t to, std::string_view text, Joins joins) {
  if (from == to && text.empty()) return;
  Change change{from, text_.substr(from, to - from), text.size(), cursor_, folds_};
  text_.replace(from, to - from, text);
  std::erase_if(folds_, [&](const Fold& fold) { return fold.from < to && from < fold.to; });
  for (Fold& fold : folds_)
    if (fold.from >= to) fold = {fold.from - (to - from) + text.size(), fold.to - (to - from) + text.size()};
  cursor_ = boundary_from(from + text.size());
  remember(std::move(change), joins);
}

void TextBuffer::remember(Change change, Joins joins) {
  Change* last = joins == std::exchange(last_joins_, joins) && !changes_.empty() ? &changes_.back() : nullptr;
  if (last != nullptr && joins == Joins::kTyping && last->at + last->n_inserted == change.at) {
    last->n_inserted += change.n_inserted;
    return;
  }
  if (last != nullptr && joins == Joins::kErasing && change.at + change.removed.size() == last->at) {
    last->at = change.at;
    last->removed.insert(0, change.removed);
    return;
  }
  if (changes_.size() == kMaxChanges) changes_.erase(changes_.begin());
  changes_.push_back(std::move(change));
}

void TextBuffer::kill(size_t from, size_t to) {
  if (from == to) return;
  const std::string part = text_.substr(from, to - from);
  if (last_joins_ != Joins::kKilling) killed_.clear();
  killed_ = from < cursor_ ? part + killed_ : killed_ + part;
  replace(from, to, "", Joins::kKilling);
}

void TextBuffer::kill_to_blank_left() {
  size_t from = cursor_;
  while (from > 0 && is_space(from - 1)) --from;
  while (from > 0 && !is_space(from - 1)) from = step_left(from);
  kill(from, cursor_);
}

void TextBuffer::keep_for_yank() {
  if (!text_.empty()) killed_ = text_;
  last_joins_ = Joins::kNothing;
}

}  // namespace warpchat
