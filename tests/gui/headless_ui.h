// Draws parts of the window without a display. The test controls time and pointer.
#pragma once
#include <imgui/imgui.h>

#include <functional>
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

// The actions of this kind among those that were pushed; all are taken.
template <class T>
std::vector<T> wishes(Actions& actions) {
  std::vector<T> found;
  for (const Action& action : actions.drain())
    if (const T* wish = std::get_if<T>(&action)) found.push_back(*wish);
  return found;
}

class HeadlessUi {
 public:
  explicit HeadlessUi(float width = 900, float height = 600) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {width, height};
    io.MousePos = {-1e9f, -1e9f};
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &w, &h);
    ui.names_wanted = true;
    ui.paste = [this] { return clipboard; };
    ui.copy = [this](const std::string& words) { clipboard = words; };
    ui.paste_selection = [this] { return selection; };
    ui.select = [this](const std::string& words) { selection = words; };
  }
  ~HeadlessUi() { ImGui::DestroyContext(); }

  // A frame with the contents of `draw`, and then the menu.
  void frame(const std::function<void()>& draw, std::vector<InputEvent> events = {}) {
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = 0.02f;
    ImGui::NewFrame();
    text.begin_frame();
    ui.begin_frame(std::move(events), seconds);
    {
      const Surface base("base", whole(), Surface::Kind::kBase);
      draw();
    }
    ui.draw_menu();
    ui.end_frame();
    ImGui::Render();
  }
  void click(const std::function<void()>& draw, const std::string& widget, int button = 0) {
    const Rect at = rect_of(widget);
    click_at(draw, at.centre(), button);
  }
  void click_at(const std::function<void()>& draw, ImVec2 at, int button = 0) {
    ImGui::GetIO().MousePos = at;
    frame(draw);
    for (const bool down : {true, false}) {
      ImGui::GetIO().MouseDown[button] = down;
      frame(draw);
    }
    frame(draw);
  }
  Rect whole() const { return {0, 0, ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y}; }
  bool has(const std::string& widget) const { return rect_of(widget).width > 0; }
  Rect rect_of(const std::string& widget) const {
    for (const Ui::Mark& mark : ui.marks())
      if (mark.name == widget) return mark.rect;
    return {};
  }

  TextEngine text;
  Ui ui{text};
  double seconds = 100;
  std::string clipboard, selection;
  ChatState state;
  Actions actions;
  std::vector<Command> commands;
  Frame f{ui, state, actions, commands};
};

}  // namespace warpchat::gui
