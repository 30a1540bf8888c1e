// Holds the controller's state. Every change goes through it as an update.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/chat/state/updates.h"

namespace warpchat {

class StateStore {
 public:
  const ChatState& now() const { return state_; }
  void change(Update update);
  std::vector<Update> take_updates() { return std::exchange(updates_, {}); }

  // Notices. The newest few are kept.
  void tell(std::string text, std::vector<ConversationId> restores = {},
            TurnId shows = 0);  // as in NoticeItem: what "Undo" does
  void tell_archived(std::string text, std::vector<ConversationId> unarchives);
  void tell_import(std::string text, std::vector<ConversationId> imported);  // "Undo" takes it back
  void tell_error_about(const std::string& what, std::string text, Remedy remedy = {}, std::string model = {});
  void forget_errors_about(const std::string& what);                              // it has succeeded
  void tell_error(std::string text, Remedy remedy = {}, std::string model = {});  // model: that remedy is of

  uint64_t new_key() { return ++last_key_; }

 private:
  void add_notice(NoticeItem notice);

  ChatState state_;
  std::vector<Update> updates_;
  uint64_t last_key_ = 0, last_notice_ = 0;
};

}  // namespace warpchat
