// The controller's work queue, filled from any thread: actions of the user, and tasks from other threads.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "app/chat/state/actions.h"

namespace warpchat {

using Task = std::function<void()>;  // runs on the controller's thread
using OutgoingMessage = std::variant<Action, Task>;

class Inbox {
 public:
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // A newer search or count replaces one that has not started yet.
  void post(OutgoingMessage message);

  // Pops the oldest; nullopt if none arrives within the timeout.
  std::optional<OutgoingMessage> pop(std::chrono::milliseconds timeout);
  bool empty() const;
  bool has_stop() const;         // a Stop waits
  bool has_import_stop() const;  // a StopImport

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<OutgoingMessage> messages_;
  std::function<void()> wake_;  // called from the thread that posts; may be empty
};

}  // namespace warpchat
