// A queue that drops stale entries.
#include "app/desk/inbox.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

template <class Kind>
bool is(const Letter& letter) {
  const auto* action = std::get_if<Action>(&letter);
  return action != nullptr && std::holds_alternative<Kind>(*action);
}

template <class Kind>
void forget_older(std::deque<Letter>& letters, const Letter& letter) {
  if (is<Kind>(letter)) std::erase_if(letters, is<Kind>);
}

}  // namespace

void Inbox::post(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    forget_older<Search>(letters_, letter);
    forget_older<CountTokens>(letters_, letter);
    forget_older<SearchHub>(letters_, letter);
    letters_.push_back(std::move(letter));
  }
  arrived_.notify_one();
  if (wake_) wake_();
}

std::optional<Letter> Inbox::take(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, timeout, [&] { return !letters_.empty(); })) return std::nullopt;
  Letter letter = std::move(letters_.front());
  letters_.pop_front();
  return letter;
}

bool Inbox::empty() const {
  const std::lock_guard lock(mutex_);
  return letters_.empty();
}

}  // namespace warpchat
