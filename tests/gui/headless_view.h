// Draws a transcript without a display: ImGui frames without output, with a mouse that the test moves.
#pragma once
#include <imgui/imgui.h>

#include <string>

#include "app/gui/transcript/transcript_view.h"

namespace warpchat::gui {

inline ChatMessage message_of(uint64_t key, const char* role, std::string text) {
  ChatMessage message;
  message.key = key;
  message.turn = static_cast<TurnId>(key) + 1000;
  message.role = role;
  message.content = std::move(text);
  if (message.role == "assistant") part_reasoning(message);
  return message;
}

class HeadlessView {
 public:
  HeadlessView() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {900, 600};
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    io.ClipboardUserData = &clipboard;
    io.SetClipboardTextFn = [](void* to, const char* words) { *static_cast<std::string*>(to) = words; };
  }
  ~HeadlessView() { ImGui::DestroyContext(); }

  void frame() {
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = 0.05f;
    ImGui::NewFrame();
    text.begin_frame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    view.draw(state, {light_theme(), {16, 1}, show_thoughts}, actions);
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::Render();
    io.MouseWheel = 0;
  }
  void move(float x, float y) {
    ImGui::GetIO().MousePos = {x, y};
    frame();
  }
  void button(bool down) {
    ImGui::GetIO().MouseDown[0] = down;
    frame();
  }
  void drag(ImVec2 from, ImVec2 to) {
    move(from.x, from.y);
    button(true);
    move(to.x, to.y);
    button(false);
  }
  void click(ImVec2 at) { drag(at, at); }
  void wheel(float notches) {
    ImGui::GetIO().MouseWheel = notches;
    frame();
    frame();
  }
  std::string selected() const { return view.selected_text(state); }

  TextEngine text;
  TranscriptView view{text};
  ChatState state;
  Actions actions;
  std::string clipboard;
  bool show_thoughts = false;
};

}  // namespace warpchat::gui
