// Runs the controller's turns and publishes their updates.
#include "app/gui/chat_worker.h"

#include <iterator>
#include <utility>

#include "models/threads.h"

namespace warpchat::gui {

namespace {
constexpr std::chrono::milliseconds kBetweenLooks{1000};  // between checks for changes of the store by other programs
}

ChatWorker::ChatWorker(const ChatOptions& options, std::function<void()> wake)
    : wake_(std::move(wake)), controller_(options) {
  controller_.stop_prompt_when([this] { return ending_.load(); });
  controller_.publish_with([this] { publish(); });
  thread_ = start_thread(
      "for the conversation", [this] { run(); }, [this](const char*) { fail(); });
}

ChatWorker::~ChatWorker() { end(); }

void ChatWorker::end() {
  if (!thread_.joinable()) return;
  ending_ = true;
  controller_.interrupt();
  thread_.join();
  controller_.close();
}

void ChatWorker::run() {
  while (!ending_) {
    controller_.turn(kBetweenLooks);
    publish();
  }
}

void ChatWorker::publish() {
  std::vector<Update> updates = controller_.take_updates();
  if (updates.empty()) return;
  bool sleeps = false;
  {
    const std::lock_guard lock(mutex_);
    sleeps = published_.empty();
    published_.insert(published_.end(), std::make_move_iterator(updates.begin()),
                      std::make_move_iterator(updates.end()));
  }
  if (sleeps) wake_();
}

void ChatWorker::fail() {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  wake_();
}

std::vector<Update> ChatWorker::take_updates() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  return std::exchange(published_, {});
}

}  // namespace warpchat::gui
