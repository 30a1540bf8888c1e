// Keys and text of a window on X11, as the user's input method (XIM) leaves them. GLFW reports each key that was
// pressed, also those that the input method consumes: Enter would send a message without the syllable that it finishes.
// So the window's keys come over a connection of their own, in a thread of its own: an input method that does not
// answer stops no frame. Source: Xlib - C Language X Interface, chapter 13.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace warpchat::gui {

struct XKey {
  int keycode;  // GLFW's scancode
  int mods;     // GLFW_MOD_SHIFT, _CONTROL, _ALT, _SUPER
  bool pressed;
};
using XInput = std::variant<XKey, std::string>;  // a key, or text that was typed or committed

class InputMethod {
 public:
  // window: of GLFW's connection. wake: called from another thread when there is something to read. Null if there is no
  // X server. Without an input method, keys and dead keys work as in other programs.
  static std::unique_ptr<InputMethod> open(unsigned long window, std::function<void()> wake);
  ~InputMethod();
  InputMethod(const InputMethod&) = delete;
  InputMethod& operator=(const InputMethod&) = delete;

  bool works() const;               // false: its thread has ended, GLFW's keys are better than none
  std::vector<XInput> pop_all();    // in their order
  std::string composition() const;  // the text being composed, to be shown at the caret
  void set_caret(int x, int y);     // pixels of the window: where lists of candidates open

 private:
  class Connection;
  explicit InputMethod(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

// GLFW opens an input method, too, unless this lives while it starts: then two would answer to each key.
class NoInputMethodOfGlfw {
 public:
  NoInputMethodOfGlfw();
  ~NoInputMethodOfGlfw();
  NoInputMethodOfGlfw(const NoInputMethodOfGlfw&) = delete;
  NoInputMethodOfGlfw& operator=(const NoInputMethodOfGlfw&) = delete;

 private:
  bool was_set_ = false;
  std::string before_;
};

}  // namespace warpchat::gui
