// The place of a conversation's data: the controller's state while it is shown, else an own copy, so that its answer
// can continue.
#pragma once
#include <utility>

#include "app/chat/state/state_store.h"

namespace warpchat {

class ConversationSlot {
 public:
  explicit ConversationSlot(StateStore& state) : state_(state) {}

  const OpenConversation& now() const { return shown_ ? state_.now().open : hidden_; }
  bool shown() const { return shown_; }

  void change(ConversationUpdate update) { shown_ ? state_.change(std::move(update)) : apply_update(hidden_, update); }
  void show() {
    if (!std::exchange(shown_, true)) state_.change(updates::ShowConversation{std::exchange(hidden_, {})});
  }
  void hide() {
    if (std::exchange(shown_, false)) hidden_ = state_.now().open;
  }

 private:
  StateStore& state_;
  OpenConversation hidden_;
  bool shown_ = false;
};

}  // namespace warpchat
