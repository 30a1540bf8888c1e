// What the desk has to do, from any thread: what the user wants, and what other threads have finished.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "app/desk/actions.h"

namespace warpchat {

using Task = std::function<void()>;  // for the desk's thread
using Letter = std::variant<Action, Task>;

class Inbox {
 public:
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // A search or a count that nobody has begun yet is forgotten when a newer one comes.
  void post(Letter letter);

  // The oldest within the timeout; nullopt if none came.
  std::optional<Letter> take(std::chrono::milliseconds timeout);
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Letter> letters_;
  std::function<void()> wake_;  // called from the thread that posts; may be empty
};

}  // namespace warpchat
