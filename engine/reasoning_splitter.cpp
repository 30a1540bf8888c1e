// A small state machine; tags may arrive in several pieces.
#include "engine/reasoning_splitter.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>", kBlank = " \t\r\n", kLineBreaks = "\r\n";

void drop_leading(std::string& text, std::string_view characters) {
  text.erase(0, std::min(text.find_first_not_of(characters), text.size()));
}

// Bytes at the end that may be the start of the closing tag, or blanks before it.
size_t held_bytes(std::string_view text) {
  size_t tag = std::min(text.size(), kClose.size() - 1);
  while (!kClose.starts_with(text.substr(text.size() - tag))) --tag;
  const size_t before = text.size() - tag;
  const size_t last = text.substr(0, before).find_last_not_of(kBlank);
  return text.size() - (last == text.npos ? 0 : last + 1);
}

}  // namespace

void ReasoningSplitter::decide() {
  const std::string_view head = std::string_view(held_).substr(std::min(held_.find_first_not_of(kBlank), held_.size()));
  if (head.size() < kOpen.size() && kOpen.starts_with(head)) return;
  state_ = head.starts_with(kOpen) ? State::kThinking : State::kAnswer;
  if (state_ == State::kThinking) held_.erase(0, held_.find(kOpen) + kOpen.size());
}

void ReasoningSplitter::think(std::vector<Piece>& pieces) {
  if (!begun_) drop_leading(held_, kBlank);
  const size_t close = held_.find(kClose);
  const bool ends = close != std::string::npos;
  const size_t last = std::string_view(held_).substr(0, close).find_last_not_of(kBlank);
  const size_t n = !ends ? held_.size() - held_bytes(held_) : last == std::string::npos ? 0 : last + 1;
  if (n > 0) pieces.push_back({held_.substr(0, n), true});
  begun_ |= n > 0;
  held_.erase(0, ends ? close + kClose.size() : n);
  if (!ends) return;
  state_ = State::kAnswer;
  thought_ = true;
  begun_ = false;
}

void ReasoningSplitter::answer(std::vector<Piece>& pieces) {
  if (thought_ && !begun_) drop_leading(held_, kLineBreaks);
  if (held_.empty()) return;
  pieces.push_back({std::exchange(held_, {}), false});
  begun_ = true;
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::add(std::string_view text) {
  std::vector<Piece> pieces;
  held_ += text;
  if (state_ == State::kUndecided) decide();
  if (state_ == State::kThinking) think(pieces);
  if (state_ == State::kAnswer) answer(pieces);
  return pieces;
}

std::vector<ReasoningSplitter::Piece> ReasoningSplitter::finish() {
  if (held_.empty()) return {};
  return {{std::exchange(held_, {}), thinking()}};
}

}  // namespace warpchat
