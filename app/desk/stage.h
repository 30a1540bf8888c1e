// The place of a conversation's data: the controller's state while it is shown, else an own copy, so that its answer
// can continue.
#pragma once
#include <utility>

#include "app/desk/board.h"

namespace warpchat {

class Stage {
 public:
  explicit Stage(Board& board) : board_(board) {}

  const OpenConversation& now() const { return shown_ ? board_.now().open : hidden_; }
  bool shown() const { return shown_; }

  void change(ConversationUpdate update) { shown_ ? board_.change(std::move(update)) : apply_update(hidden_, update); }
  void show() {
    if (!std::exchange(shown_, true)) board_.change(updates::ShowConversation{std::exchange(hidden_, {})});
  }
  void hide() {
    if (std::exchange(shown_, false)) hidden_ = board_.now().open;
  }

 private:
  Board& board_;
  OpenConversation hidden_;
  bool shown_ = false;
};

}  // namespace warpchat
