// How the window looks: theme, size, and the fonts of text and code. A choice takes effect at once.
#pragma once
#include <string>
#include <vector>

#include "app/gui/desktop/window_memory.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

class ViewPanel {
 public:
  void toggle(Ui& ui);
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  void draw(Frame& f, WindowMemory& memory);

 private:
  static void draw_theme(Ui& ui, Rect rect, WindowMemory& memory);
  static void draw_size(Frame& f, Rect rect, float zoom);
  static void draw_fonts(Ui& ui, Rect rect, const std::string& list, const std::vector<std::string>& families,
                         std::string& chosen);

  bool is_open_ = false, appearing_ = false;
  std::vector<std::string> text_families_, code_families_;  // that are installed
};

}  // namespace warpchat::gui
