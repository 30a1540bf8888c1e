// "Connect to a server": an address and a key, in place of the models' list. The server is stored once it has answered.
#pragma once
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class ConnectForm {
 public:
  void open(Frame& f, const std::string& address);  // connects at once if there is one
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  bool draw(Frame& f, Rect rect);  // whether the server has answered; then the form is closed

 private:
  void connect(Frame& f);
  bool waits(const ChatState& state) const { return request_ != 0 && state.served.request < request_; }
  bool draw_field(Frame& f, Rect& rect, TextField& field, const char* name, const char* label, const FieldLook& look);
  void draw_fault(Frame& f, Rect& rect, const ServedModels& served);
  void draw_buttons(Frame& f, Rect rect, bool runs);

  bool is_open_ = false;
  TextField address_, key_, model_;
  uint64_t request_ = 0;         // the last one; 0: none yet
  bool asks_for_model_ = false;  // the server lists none
};

// The number of the next ConnectServer.
uint64_t next_request(const ChatState& state);

}  // namespace warpchat::gui
