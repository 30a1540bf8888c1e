// What the window shows, as its worker knows it: the worker's own copy of the state, and the way of every change to the
// window. Changes are made by the worker's thread alone.
#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "app/gui/updates.h"

namespace warpchat::gui {

class Board {
 public:
  explicit Board(std::function<void()> wake) : wake_(std::move(wake)) {}

  const ChatState& now() const { return state_; }
  void change(Update update);  // at once here, in the window once it is published
  void publish();              // what has changed; wakes the window unless it has been woken and has taken nothing yet
  std::vector<Update> take();  // by the window's thread

  // Notices. The newest few are kept.
  void tell(std::string text, ConversationId restores = 0);  // restores: "Undo" takes it from the trash
  void tell_error(std::string text);

  uint64_t new_key() { return ++last_key_; }

 private:
  void add_notice(NoticeItem notice);

  std::function<void()> wake_;
  ChatState state_;
  std::vector<Update> unpublished_;
  std::mutex mutex_;
  std::vector<Update> published_;  // behind mutex_
  uint64_t last_key_ = 0, last_notice_ = 0;
};

}  // namespace warpchat::gui
