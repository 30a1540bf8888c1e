// A small state machine; marks may arrive in several pieces.
#include "engine/reasoning_splitter.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

constexpr std::string_view kBlank = " \t\r\n", kSpaces = " \t\r", kLineBreaks = "\r\n";

void drop_leading(std::string& text, std::string_view characters) {
  text.erase(0, std::min(text.find_first_not_of(characters), text.size()));
}

// Bytes at the end that may be the start of the mark.
size_t begun_bytes(std::string_view text, std::string_view mark) {
  size_t begun = std::min(text.size(), mark.empty() ? 0 : mark.size() - 1);
  while (!mark.starts_with(text.substr(text.size() - begun))) --begun;
  return begun;
}

// The same, with blanks before it.
size_t held_bytes(std::string_view text, std::string_view mark) {
  const size_t before = text.size() - begun_bytes(text, mark);
  const size_t last = text.substr(0, before).find_last_not_of(kBlank);
  return text.size() - (last == text.npos ? 0 : last + 1);
}

}  // namespace

ReasoningSplitter::ReasoningSplitter(std::span<const ThoughtMarks> marks, const Begin& begin, bool finds_unopened)
    : marks_(marks),
      opened_(marks.empty() ? nullptr : &marks.front()),
      state_(begin.state),
      has_thought_(begin.has_thought),
      finds_unopened_(finds_unopened && !marks.empty()),
      may_repeat_open_(begin.state == State::kThinking && !begin.has_text),
      begun_(begin.has_text),
      code_(begin.code) {}

bool ReasoningSplitter::decides_open(const ThoughtMarks& marks, std::string_view head) {
  if (!head.starts_with(marks.open)) return false;
  opened_ = &marks;
  held_.erase(0, held_.find(marks.open) + marks.open.size());
  state_ = State::kThinking;
  return true;
}

void ReasoningSplitter::decide() {
  const std::string_view head = std::string_view(held_).substr(std::min(held_.find_first_not_of(kBlank), held_.size()));
  for (const ThoughtMarks& marks : marks_)
    if (decides_open(marks, head)) return;
  const bool may_open =
      head.empty() || std::ranges::any_of(marks_, [&](const auto& marks) { return marks.open.starts_with(head); });
  if (!may_open) state_ = State::kAnswer;
}

void ReasoningSplitter::end_thought() {
  state_ = State::kAnswer;
  has_thought_ = has_ended_ = true;
  begun_ = false;
}

void ReasoningSplitter::think(std::vector<Piece>& pieces) {
  if (!begun_) drop_leading(held_, kBlank);
  if (may_repeat_open_ && !begun_ && opened_ != nullptr) {
    const std::string_view open = opened_->open;
    if (held_.size() < open.size() && open.starts_with(held_)) return;
    may_repeat_open_ = false;
    if (held_.starts_with(open)) held_.erase(0, open.size());
    if (!begun_) drop_leading(held_, kBlank);
  }
  const std::string_view mark = opened_ == nullptr ? std::string_view() : opened_->close;
  const size_t close = mark.empty() ? std::string::npos : held_.find(mark);
  const bool ends = close != std::string::npos;
  const size_t last = std::string_view(held_).substr(0, close).find_last_not_of(kBlank);
  const size_t n = !ends ? held_.size() - held_bytes(held_, mark) : last == std::string::npos ? 0 : last + 1;
  emit(n, pieces);
  if (!ends) return;
  held_.erase(0, close - n + mark.size());
  end_thought();
}

void ReasoningSplitter::emit(size_t n_bytes, std::vector<Piece>& pieces) {
  if (n_bytes == 0) return;
  if (finds_unopened_ && !thinking()) code_.add(std::string_view(held_).substr(0, n_bytes));
  pieces.push_back({held_.substr(0, n_bytes), thinking()});
  held_.erase(0, n_bytes);
  begun_ = true;
}

void ReasoningSplitter::answer(std::vector<Piece>& pieces) {
  if (finds_unopened_ && !has_thought_) answer_until_close(pieces, /*is_whole=*/false);
  if (finds_unopened_ && !has_thought_) return;
  if (has_thought_ && !begun_) drop_leading(held_, kLineBreaks);
  emit(held_.size(), pieces);
}

void ReasoningSplitter::answer_until_close(std::vector<Piece>& pieces, bool is_whole) {
  const std::string_view mark = marks_.front().close;
  for (;;) {
    const size_t close = held_.find(mark);
    if (close == std::string::npos) return emit(held_.size() - (is_whole ? 0 : begun_bytes(held_, mark)), pieces);
    emit(close, pieces);
    const size_t next = held_.find_first_not_of(kSpaces, mark.size());
    if (next == std::string::npos && !is_whole) return;  // the line's end may follow
    const bool ends_line = next == std::string::npos || held_[next] == '\n';
    if (ends_line && !code_.is_inside()) {
      held_.erase(0, std::min(next, held_.size()));
      if (begun_) pieces.push_back({"", true, /*was_thought=*/true});
      return end_thought();
    }
    emit(mark.size(), pieces);
  }
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::add(std::string_view text) {
  std::vector<Piece> pieces;
  held_ += text;
  if (state_ == State::kUndecided) decide();
  if (state_ == State::kThinking) think(pieces);
  if (state_ == State::kAnswer) answer(pieces);
  return pieces;
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::open(std::string_view as_text) {
  if (state_ == State::kUndecided) {
    held_.clear();
    state_ = State::kThinking;
    return {};
  }
  if (thinking() && std::exchange(may_repeat_open_, false) && !begun_) return {};
  return add(as_text);
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::close(std::string_view as_text) {
  std::vector<Piece> pieces;
  const bool is_unopened = state_ == State::kAnswer && begun_;
  if (is_unopened && has_thought_) return add(as_text);
  if (is_unopened) pieces.push_back({"", true, /*was_thought=*/true});
  held_.clear();  // blanks
  end_thought();
  return pieces;
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::finish() {
  std::vector<Piece> pieces;
  if (state_ == State::kAnswer && finds_unopened_ && !has_thought_) answer_until_close(pieces, /*is_whole=*/true);
  if (state_ == State::kAnswer && has_thought_ && !begun_) drop_leading(held_, kLineBreaks);
  if (!held_.empty()) pieces.push_back({std::exchange(held_, {}), thinking()});
  return pieces;
}

}  // namespace warpchat
