// One frame takes any number of typed characters and pointer moves, but only one change of buttons.
#include "app/gui/widgets/input.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <iterator>

namespace warpchat::gui {

namespace {

bool within_text(int key) {
  static constexpr int kKeys[] = {GLFW_KEY_LEFT, GLFW_KEY_RIGHT,     GLFW_KEY_HOME,
                                  GLFW_KEY_END,  GLFW_KEY_BACKSPACE, GLFW_KEY_DELETE};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

template <class T>
bool is(const InputEvent& event) {
  return std::holds_alternative<T>(event);
}

bool is_release(const InputEvent& event) {
  const MouseButton* button = std::get_if<MouseButton>(&event);
  return button && !button->down;
}

}  // namespace

bool may_move_focus(const KeyPress& key) {
  if (is_modifier(key.key)) return false;
  const bool commands = (key.mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) != 0;
  if (within_text(key.key)) return (key.mods & GLFW_MOD_ALT) != 0;
  const bool prints = key.key >= GLFW_KEY_SPACE && key.key <= GLFW_KEY_WORLD_2;
  return commands || !prints;
}

void InputQueue::push(InputEvent event) {
  const bool moves_again = is<MouseMove>(event) && !events_.empty() && is<MouseMove>(events_.back());
  if (moves_again)
    events_.back() = std::move(event);
  else
    events_.push_back(std::move(event));
}

std::vector<InputEvent> InputQueue::take_frame() {
  std::vector<InputEvent> frame;
  bool clicked = false, pressed = false, moved = false;
  while (!events_.empty()) {
    const InputEvent& next = events_.front();
    const KeyPress* key = std::get_if<KeyPress>(&next);
    const bool last = key && may_move_focus(*key);
    if (clicked && !is<KeyRelease>(next)) break;
    if (pressed && (last || is<MouseButton>(next))) break;  // what was typed is in its field first
    if (moved && is_release(next)) break;                   // what is dragged goes all the way
    clicked = clicked || is<MouseButton>(next);
    pressed = pressed || is<KeyPress>(next) || is<TypedText>(next);
    moved = moved || is<MouseMove>(next);
    frame.push_back(std::move(events_.front()));
    events_.pop_front();
    if (last) break;
  }
  return frame;
}

}  // namespace warpchat::gui
