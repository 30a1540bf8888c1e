// What the user must be told, at the bottom right: errors stay until they are dismissed, the rest goes by itself.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "app/gui/window/shortcuts.h"
#include "app/gui/window/ui.h"

namespace warpchat::gui {

class Notices {
 public:
  void draw(Frame& f, Rect rect);             // stacked from the lower right corner of rect
  void add(std::string text, bool is_error);  // the window's own

 private:
  void draw_notice(Frame& f, Rect place, const NoticeItem& notice, float alpha);
  float alpha_of(Frame& f, const NoticeItem& notice, bool hovered);
  void dismiss(Frame& f, uint64_t id);

  std::unordered_map<uint64_t, double> leaves_at_;  // of notices that go, seconds
  std::vector<NoticeItem> own_;
  uint64_t next_own_ = uint64_t{1} << 63;
};

}  // namespace warpchat::gui
