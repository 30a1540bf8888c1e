// A small state machine over the text; tags may arrive in several pieces.
#include "engine/session/thinking.h"

#include <utility>

namespace warpchat {

namespace {
constexpr std::string_view kOpen = "<think>", kClose = "</think>";
}

ThinkingTracker::Piece ThinkingTracker::add(std::string_view text) {
  if (state_ == State::kAnswer) return {std::string(text), false};
  held_ += text;
  if (state_ == State::kUndecided) {
    const size_t start = held_.find_first_not_of(" \t\r\n");
    const std::string_view head = start == std::string::npos ? "" : std::string_view(held_).substr(start);
    if (head.size() < kOpen.size() && kOpen.starts_with(head)) return {"", false};
    state_ = head.starts_with(kOpen) ? State::kThinking : State::kAnswer;
    std::string all = std::exchange(held_, "");
    if (state_ == State::kAnswer) return {std::move(all), false};
    return add(all);
  }
  if (held_.find(kClose) != std::string::npos) {
    state_ = State::kAnswer;
  } else if (held_.size() > kClose.size()) {
    held_.erase(0, held_.size() - kClose.size());
  }
  return {std::string(text), true};
}

ThinkingTracker::Piece ThinkingTracker::finish() {
  if (state_ != State::kUndecided) return {"", state_ == State::kThinking};
  return {std::exchange(held_, ""), false};
}

}  // namespace warpchat
