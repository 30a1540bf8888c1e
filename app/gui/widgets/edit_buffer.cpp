// Every change is a replacement that can be undone; consecutive letters form one change.
#include "app/gui/widgets/edit_buffer.h"

#include <algorithm>

#include "app/platform/text/graphemes.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr size_t kMaxChanges = 1000;
constexpr size_t kClusterSearch = 256;  // bytes: how far back a cluster's begin is looked for in a long text

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

size_t cluster_before(std::string_view text, size_t offset) {
  if (offset == 0) return 0;
  size_t from = offset > kClusterSearch ? offset - kClusterSearch : 0;
  while (from > 0 && from < offset && continues_character(text[from])) ++from;
  return from + previous_grapheme(text.substr(from), offset - from);
}

std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') continue;
    if (text[i] != '\r')
      out += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      out += '\n';
  }
  return out;
}

}  // namespace

std::pair<size_t, size_t> EditBuffer::selection() const {
  return {std::min(caret_, anchor_), std::max(caret_, anchor_)};
}

std::string_view EditBuffer::selected() const {
  const auto [begin, end] = selection();
  return std::string_view(text_).substr(begin, end - begin);
}

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  caret_ = anchor_ = text_.size();
  done_.clear(), undone_.clear();
  typing_ = false;
  ++revision_;
}

void EditBuffer::insert(std::string_view text) {
  const std::string clean = with_line_feeds(text);
  const auto [begin, end] = selection();
  const bool letter = clean.size() <= 4 && begin == end && clean != "\n";
  const bool joins = letter && typing_ && !done_.empty() && done_.back().at + done_.back().inserted.size() == begin;
  replace(begin, end, clean);
  if (joins) {
    const Change last = std::move(done_.back());
    done_.pop_back();
    done_.back().inserted += last.inserted;
  }
  typing_ = letter;
}

void EditBuffer::erase_selection() {
  const auto [begin, end] = selection();
  if (begin != end) replace(begin, end, "");
}

void EditBuffer::erase_left(bool word) {
  if (has_selection()) return erase_selection();
  const size_t from = word ? word_left(caret_) : cluster_before(text_, caret_);
  if (from < caret_) replace(from, caret_, "");
}

void EditBuffer::erase_right(bool word) {
  if (has_selection()) return erase_selection();
  const size_t to = word ? word_right(caret_) : next_grapheme(text_, caret_);
  if (to > caret_) replace(caret_, to, "");
}

void EditBuffer::move_to(size_t offset, bool select) {
  offset = std::min(offset, text_.size());
  if (offset > 0 && offset < text_.size()) {
    const size_t before = cluster_before(text_, offset);
    const size_t end = next_grapheme(text_, before);
    if (end > offset) offset = before;
  }
  caret_ = offset;
  if (!select) anchor_ = offset;
  typing_ = false;
}

void EditBuffer::move_left(bool word, bool select) {
  if (has_selection() && !select && !word) return move_to(selection().first, false);
  move_to(word ? word_left(caret_) : cluster_before(text_, caret_), select);
}

void EditBuffer::move_right(bool word, bool select) {
  if (has_selection() && !select && !word) return move_to(selection().second, false);
  move_to(word ? word_right(caret_) : next_grapheme(text_, caret_), select);
}

void EditBuffer::select(size_t begin, size_t end) {
  move_to(begin, false);
  move_to(end, true);
}

size_t EditBuffer::line_begin(size_t offset) const {
  const size_t feed = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
  return feed == std::string::npos ? 0 : feed + 1;
}

size_t EditBuffer::line_end(size_t offset) const {
  const size_t feed = text_.find('\n', offset);
  return feed == std::string::npos ? text_.size() : feed;
}

void EditBuffer::undo() {
  if (done_.empty()) return;
  undone_.push_back(std::move(done_.back()));
  done_.pop_back();
  apply(undone_.back(), /*forward=*/false);
}

void EditBuffer::redo() {
  if (undone_.empty()) return;
  done_.push_back(std::move(undone_.back()));
  undone_.pop_back();
  apply(done_.back(), /*forward=*/true);
}

size_t EditBuffer::word_left(size_t offset) const {
  while (offset > 0 && is_space(text_[offset - 1])) --offset;
  while (offset > 0 && !is_space(text_[offset - 1])) --offset;
  return offset;
}

size_t EditBuffer::word_right(size_t offset) const {
  while (offset < text_.size() && !is_space(text_[offset])) ++offset;
  while (offset < text_.size() && is_space(text_[offset])) ++offset;
  return offset;
}

void EditBuffer::replace(size_t begin, size_t end, std::string_view with) {
  done_.push_back({begin, text_.substr(begin, end - begin), std::string(with)});
  if (done_.size() > kMaxChanges) done_.erase(done_.begin());
  undone_.clear();
  typing_ = false;
  apply(done_.back(), /*forward=*/true);
}

void EditBuffer::apply(const Change& change, bool forward) {
  const std::string& from = forward ? change.removed : change.inserted;
  const std::string& to = forward ? change.inserted : change.removed;
  text_.replace(change.at, from.size(), to);
  caret_ = anchor_ = change.at + to.size();
  typing_ = false;
  ++revision_;
}

}  // namespace warpchat::gui
