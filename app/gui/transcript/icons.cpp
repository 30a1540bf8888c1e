#include "app/gui/transcript/icons.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace warpchat::gui {
namespace {

class Pen {
 public:
  Pen(ImDrawList& list, ImVec2 centre, float size, Colour colour)
      : list_(list), centre_(centre), half_(size / 2), width_(std::max(1.2f, size / 11)), colour_(colour) {}

  // Points from -1 to 1 on both axes, y down.
  ImVec2 at(float x, float y) const { return {centre_.x + x * half_, centre_.y + y * half_}; }
  void line(std::initializer_list<ImVec2> points, bool closed = false) {
    std::vector<ImVec2> on_screen;
    for (const ImVec2& point : points) on_screen.push_back(at(point.x, point.y));
    list_.AddPolyline(on_screen.data(), static_cast<int>(on_screen.size()), colour_,
                      closed ? ImDrawFlags_Closed : ImDrawFlags_None, width_);
  }
  void box(float left, float top, float right, float bottom) {
    list_.AddRect(at(left, top), at(right, bottom), colour_, half_ * 0.25f, 0, width_);
  }
  void arc(float radius, float from, float to) {
    list_.PathArcTo(centre_, radius * half_, from, to, 20);
    list_.PathStroke(colour_, 0, width_);
  }
  void triangle(ImVec2 a, ImVec2 b, ImVec2 c) {
    list_.AddTriangleFilled(at(a.x, a.y), at(b.x, b.y), at(c.x, c.y), colour_);
  }

 private:
  ImDrawList& list_;
  ImVec2 centre_;
  float half_, width_;
  Colour colour_;
};

}  // namespace

void draw_icon(ImDrawList& list, Icon icon, ImVec2 centre, float size, Colour colour) {
  Pen pen(list, centre, size, colour);
  switch (icon) {
    case Icon::kCopy:
      pen.box(-0.35f, -0.35f, 0.85f, 0.9f);
      pen.line({{-0.5f, 0.4f}, {-0.85f, 0.4f}, {-0.85f, -0.85f}, {0.4f, -0.85f}, {0.4f, -0.5f}});
      break;
    case Icon::kDone:
      pen.line({{-0.75f, 0.05f}, {-0.2f, 0.6f}, {0.8f, -0.6f}});
      break;
    case Icon::kAgain:
      pen.arc(0.75f, -0.35f, 4.9f);
      pen.triangle({0.35f, -0.45f}, {1.05f, -0.45f}, {0.85f, 0.15f});
      break;
    case Icon::kEdit:
      pen.line({{-0.85f, 0.85f}, {-0.7f, 0.25f}, {0.45f, -0.9f}, {0.9f, -0.45f}, {-0.25f, 0.7f}}, true);
      pen.line({{0.15f, -0.6f}, {0.6f, -0.15f}});
      break;
    case Icon::kLeft:
      pen.line({{0.35f, -0.7f}, {-0.35f, 0}, {0.35f, 0.7f}});
      break;
    case Icon::kRight:
      pen.line({{-0.35f, -0.7f}, {0.35f, 0}, {-0.35f, 0.7f}});
      break;
    case Icon::kDown:
      pen.line({{0, -0.75f}, {0, 0.75f}});
      pen.line({{-0.6f, 0.15f}, {0, 0.75f}, {0.6f, 0.15f}});
      break;
  }
}

}  // namespace warpchat::gui
