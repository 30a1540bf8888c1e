// Holds the controller's state. Every change goes through it as an update.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "app/desk/updates.h"

namespace warpchat {

class Board {
 public:
  const DeskState& now() const { return state_; }
  void change(Update update);
  std::vector<Update> take_updates() { return std::exchange(updates_, {}); }

  // Notices. The newest few are kept.
  void tell(std::string text, ConversationId restores = 0);  // restores: "Undo" takes it from the trash
  void tell_error(std::string text, WayOut way_out = {}, std::string model = {});  // model: that way_out is of

  uint64_t new_key() { return ++last_key_; }

 private:
  void add_notice(NoticeItem notice);

  DeskState state_;
  std::vector<Update> updates_;
  uint64_t last_key_ = 0, last_notice_ = 0;
};

}  // namespace warpchat
