// A queue that drops stale entries.
#include "app/chat/state/inbox.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

template <class Kind>
bool is(const OutgoingMessage& message) {
  const auto* action = std::get_if<Action>(&message);
  return action != nullptr && std::holds_alternative<Kind>(*action);
}

template <class Kind>
void forget_older(std::deque<OutgoingMessage>& messages, const OutgoingMessage& message) {
  if (is<Kind>(message)) std::erase_if(messages, is<Kind>);
}

}  // namespace

void Inbox::post(OutgoingMessage message) {
  {
    const std::lock_guard lock(mutex_);
    forget_older<Search>(messages_, message);
    forget_older<CountTokens>(messages_, message);
    forget_older<SearchHub>(messages_, message);
    messages_.push_back(std::move(message));
  }
  arrived_.notify_one();
  if (wake_) wake_();
}

std::optional<OutgoingMessage> Inbox::pop(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, timeout, [&] { return !messages_.empty(); })) return std::nullopt;
  OutgoingMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

bool Inbox::has_stop() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(messages_.begin(), messages_.end(), is<Stop>);
}

bool Inbox::has_import_stop() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(messages_.begin(), messages_.end(), is<StopImport>);
}

bool Inbox::empty() const {
  const std::lock_guard lock(mutex_);
  return messages_.empty();
}

}  // namespace warpchat
