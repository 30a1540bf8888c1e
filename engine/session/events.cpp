// The queue between a generation and its front end.
#include "engine/session/events.h"

#include <utility>

namespace warpchat {

void EventQueue::push(Event event) {
  {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  arrived_.notify_one();
}

std::optional<Event> EventQueue::try_pop() { return pop(std::chrono::milliseconds(0)); }

std::optional<Event> EventQueue::pop(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, timeout, [&] { return !events_.empty(); })) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace warpchat
