// A panel over the conversation: a title, a close button, content. The background stays readable; a click there closes
// the panel.
#pragma once
#include <string_view>

#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

struct CardLook {
  std::string_view name, title;
  float width, height;  // at scale 1; less where the window is smaller
  bool appearing;       // in this frame
};

class Card {
 public:
  Card(Ui& ui, const CardLook& look);
  Rect content;  // below the title
  bool wants_close() const { return wants_close_; }

 private:
  static Rect place(const Ui& ui, const CardLook& look);
  struct Backdrop {
    explicit Backdrop(bool appearing);
  };
  Backdrop backdrop_;
  Surface surface_;
  bool wants_close_ = false;
};

}  // namespace warpchat::gui
