#include "app/gui/desktop/imgui_keys.h"

#include <GLFW/glfw3.h>
#include <imgui/imgui.h>

#include <algorithm>
#include <iterator>

namespace warpchat::gui {

namespace {

#if IMGUI_VERSION_NUM < 18700
constexpr int kKeypadEnter = ImGuiKey_KeyPadEnter;
#else
constexpr ImGuiKey kKeypadEnter = ImGuiKey_KeypadEnter;
#endif

struct KeyPair {
  ImGuiKey imgui;
  int glfw;
};
// Those that ImGui's own text field knows.
constexpr KeyPair kImGuiKeys[] = {{ImGuiKey_Tab, GLFW_KEY_TAB},
                                  {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
                                  {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
                                  {ImGuiKey_UpArrow, GLFW_KEY_UP},
                                  {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
                                  {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
                                  {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
                                  {ImGuiKey_Home, GLFW_KEY_HOME},
                                  {ImGuiKey_End, GLFW_KEY_END},
                                  {ImGuiKey_Insert, GLFW_KEY_INSERT},
                                  {ImGuiKey_Delete, GLFW_KEY_DELETE},
                                  {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
                                  {ImGuiKey_Space, GLFW_KEY_SPACE},
                                  {ImGuiKey_Enter, GLFW_KEY_ENTER},
                                  {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
                                  {kKeypadEnter, GLFW_KEY_KP_ENTER},
                                  {ImGuiKey_A, GLFW_KEY_A},
                                  {ImGuiKey_C, GLFW_KEY_C},
                                  {ImGuiKey_V, GLFW_KEY_V},
                                  {ImGuiKey_X, GLFW_KEY_X},
                                  {ImGuiKey_Y, GLFW_KEY_Y},
                                  {ImGuiKey_Z, GLFW_KEY_Z}};

}  // namespace

#if IMGUI_VERSION_NUM < 18700

void set_up_imgui_keys(ImGuiIO& io) {
  for (const KeyPair& pair : kImGuiKeys) io.KeyMap[pair.imgui] = pair.glfw;
}

void tell_imgui_key(ImGuiIO& io, int key, bool is_down) {
  if (key >= 0 && key < static_cast<int>(std::size(io.KeysDown))) io.KeysDown[key] = is_down;
}

void tell_imgui_modifier(ImGuiIO& io, int modifier, bool is_down) {
  (modifier == GLFW_MOD_CONTROL ? io.KeyCtrl : modifier == GLFW_MOD_SHIFT ? io.KeyShift : io.KeyAlt) = is_down;
}

void release_imgui_keys(ImGuiIO& io) {
  std::ranges::fill(io.KeysDown, false);
  io.KeyCtrl = io.KeyShift = io.KeyAlt = false;
}

#else

// All of a frame's events count in that frame, as those of the mouse do.
void set_up_imgui_keys(ImGuiIO& io) { io.ConfigInputTrickleEventQueue = false; }

void tell_imgui_key(ImGuiIO& io, int key, bool is_down) {
  const auto* pair = std::ranges::find(kImGuiKeys, key, &KeyPair::glfw);
  if (pair != std::end(kImGuiKeys)) io.AddKeyEvent(pair->imgui, is_down);
}

void tell_imgui_modifier(ImGuiIO& io, int modifier, bool is_down) {
  io.AddKeyEvent(modifier == GLFW_MOD_CONTROL ? ImGuiMod_Ctrl
                 : modifier == GLFW_MOD_SHIFT ? ImGuiMod_Shift
                                              : ImGuiMod_Alt,
                 is_down);
}

void release_imgui_keys(ImGuiIO& io) {
  for (const KeyPair& pair : kImGuiKeys) io.AddKeyEvent(pair.imgui, false);
  for (const int modifier : {GLFW_MOD_CONTROL, GLFW_MOD_SHIFT, GLFW_MOD_ALT}) tell_imgui_modifier(io, modifier, false);
}

#endif

}  // namespace warpchat::gui
