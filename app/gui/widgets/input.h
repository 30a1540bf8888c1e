// What the user does, in the order in which it happened, handed out frame by frame.
#pragma once
#include <deque>
#include <string>
#include <variant>
#include <vector>

namespace warpchat::gui {

struct KeyPress {
  int key;   // GLFW_KEY_...; of a letter, the one that the keyboard's layout gives
  int mods;  // GLFW_MOD_SHIFT, _CONTROL, _ALT, _SUPER; no locks
};
struct KeyRelease {
  int key;
};
struct TypedText {
  std::string utf8;
};
struct MouseMove {
  float x, y;
};
struct MouseButton {
  int button;
  bool down;
};
struct MouseWheel {
  float x, y;
};
struct MouseLeft {};  // the pointer left the window
struct FocusChange {
  bool focused;
};
using InputEvent =
    std::variant<KeyPress, KeyRelease, TypedText, MouseMove, MouseButton, MouseWheel, MouseLeft, FocusChange>;

// A frame with a press and its release would see neither, and text typed after a key that moves the focus belongs to
// the next field: so a frame's events end where the next one needs a new frame.
class InputQueue {
 public:
  void push(InputEvent event);
  bool empty() const { return events_.empty(); }
  std::vector<InputEvent> take_frame();

 private:
  std::deque<InputEvent> events_;
};

// Whether a key may change the focus or the content: all but typing and moving within a text.
bool may_move_focus(const KeyPress& key);

}  // namespace warpchat::gui
