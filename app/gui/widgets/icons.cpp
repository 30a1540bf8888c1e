// Each icon is a few strokes: points in a square of 24, lines between them; circles where lines will not do.
#include "app/gui/widgets/icons.h"

#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

namespace warpchat::gui {

namespace {

struct Pen {
  ImDrawList& list;
  ImVec2 at;
  float unit;  // pixels
  Colour colour;

  ImVec2 point(float x, float y) const { return {at.x + x * unit, at.y + y * unit}; }
  float thickness() const { return std::max(1.7f * unit, 1.0f); }
  void line(std::initializer_list<ImVec2> points, bool closed = false) const {
    std::vector<ImVec2> placed;
    for (const ImVec2& p : points) placed.push_back(point(p.x, p.y));
    list.AddPolyline(placed.data(), static_cast<int>(placed.size()), colour,
                     closed ? ImDrawFlags_Closed : ImDrawFlags_None, thickness());
  }
  void circle(float x, float y, float radius) const {
    list.AddCircle(point(x, y), radius * unit, colour, 0, thickness());
  }
  void dot(float x, float y, float radius) const { list.AddCircleFilled(point(x, y), radius * unit, colour); }
  // Angles in quarters of a turn from the right, clockwise.
  void arc(float x, float y, float radius, float from, float to) const {
    constexpr float kQuarter = 1.5707963f;
    list.PathArcTo(point(x, y), radius * unit, from * kQuarter, to * kQuarter, 24);
    list.PathStroke(colour, ImDrawFlags_None, thickness());
  }
  void box(float x, float y, float right, float bottom, float rounding) const {
    list.AddRect(point(x, y), point(right, bottom), colour, rounding * unit, 0, thickness());
  }
};

void settings(const Pen& pen) {  // three sliders
  for (const auto& [y, x] : {std::pair{6.0f, 15.0f}, {12.0f, 8.0f}, {18.0f, 13.0f}}) {
    pen.line({{4, y}, {x - 2.5f, y}});
    pen.line({{x + 2.5f, y}, {20, y}});
    pen.circle(x, y, 2.3f);
  }
}

void sun(const Pen& pen) {
  pen.circle(12, 12, 4);
  for (int i = 0; i < 8; ++i) {
    const float c = std::cos(0.7853982f * static_cast<float>(i)), s = std::sin(0.7853982f * static_cast<float>(i));
    pen.line({{12 + 6.7f * c, 12 + 6.7f * s}, {12 + 9 * c, 12 + 9 * s}});
  }
}

void moon(const Pen& pen) {
  pen.arc(12, 12, 8, 0.05f, 2.95f);
  pen.arc(16.2f, 7.8f, 6.4f, 0.55f, 2.45f);
}

void trash(const Pen& pen) {
  pen.line({{4, 6.5f}, {20, 6.5f}});
  pen.line({{9, 6.5f}, {9, 4}, {15, 4}, {15, 6.5f}});
  pen.line({{6, 6.5f}, {7, 20}, {17, 20}, {18, 6.5f}});
  pen.line({{10, 10.5f}, {10, 16}});
  pen.line({{14, 10.5f}, {14, 16}});
}

void keyboard(const Pen& pen) {
  pen.box(2.5f, 6, 21.5f, 18.5f, 2);
  for (const float x : {6.5f, 10.0f, 14.0f, 17.5f}) pen.dot(x, 10, 1);
  pen.line({{7.5f, 14.5f}, {16.5f, 14.5f}});
}

void tray(const Pen& pen, bool out) {
  pen.line({{4, 14}, {4, 20}, {20, 20}, {20, 14}});
  pen.line({{12, 4}, {12, 15.5f}});
  if (out)
    pen.line({{7.5f, 8.5f}, {12, 4}, {16.5f, 8.5f}});
  else
    pen.line({{7.5f, 11}, {12, 15.5f}, {16.5f, 11}});
}

void turn(const Pen& pen, bool back) {  // an arrow round a circle
  if (back) {
    pen.arc(12, 12.5f, 7.5f, -1.7f, 1.9f);
    pen.line({{4.5f, 5}, {7, 8.5f}, {11.5f, 7}});
  } else {
    pen.arc(12, 12.5f, 7.5f, 0.2f, 3.5f);
    pen.line({{19.5f, 4.5f}, {18.5f, 9}, {14, 8.4f}});
  }
}

void attach(const Pen& pen) {
  pen.line({{8, 7.5f}, {8, 16}});
  pen.arc(12, 16, 4, 0, 2);
  pen.line({{16, 16}, {16, 6.5f}});
  pen.arc(13.4f, 6.5f, 2.6f, -2, 0);
  pen.line({{10.8f, 6.5f}, {10.8f, 15}});
  pen.arc(12, 15, 1.2f, 0, 2);
  pen.line({{13.2f, 15}, {13.2f, 8}});
}

void pen_sign(const Pen& pen) {
  pen.line({{5, 19}, {6, 14.5f}, {15.5f, 5}, {19, 8.5f}, {9.5f, 18}}, true);
  pen.line({{13, 7.5f}, {16.5f, 11}});
}

void file(const Pen& pen) {
  pen.line({{6, 3.5f}, {14, 3.5f}, {18, 7.5f}, {18, 20.5f}, {6, 20.5f}}, true);
  pen.line({{9, 12}, {15, 12}});
  pen.line({{9, 16}, {15, 16}});
}

}  // namespace

void draw_icon(ImDrawList& list, Icon icon, ImVec2 at, float size, Colour colour) {
  const Pen pen{list, at, size / 24, colour};
  switch (icon) {
    case Icon::kNone:
      return;
    case Icon::kPlus:
      pen.line({{12, 5}, {12, 19}}), pen.line({{5, 12}, {19, 12}});
      return;
    case Icon::kSearch:
      pen.circle(10.5f, 10.5f, 6), pen.line({{15, 15}, {20, 20}});
      return;
    case Icon::kSettings:
      return settings(pen);
    case Icon::kSend:
      pen.line({{12, 19.5f}, {12, 5}}), pen.line({{6, 11}, {12, 5}, {18, 11}});
      return;
    case Icon::kStop:
      list.AddRectFilled(pen.point(6.5f, 6.5f), pen.point(17.5f, 17.5f), colour, 2 * pen.unit);
      return;
    case Icon::kTrash:
      return trash(pen);
    case Icon::kPen:
      return pen_sign(pen);
    case Icon::kClose:
      pen.line({{6, 6}, {18, 18}}), pen.line({{18, 6}, {6, 18}});
      return;
    case Icon::kSidebar:
      pen.box(3, 4.5f, 21, 19.5f, 2.5f), pen.line({{9.5f, 4.5f}, {9.5f, 19.5f}});
      return;
    case Icon::kMoon:
      return moon(pen);
    case Icon::kSun:
      return sun(pen);
    case Icon::kDown:
      pen.line({{6.5f, 9.5f}, {12, 15}, {17.5f, 9.5f}});
      return;
    case Icon::kUp:
      pen.line({{6.5f, 14.5f}, {12, 9}, {17.5f, 14.5f}});
      return;
    case Icon::kAttach:
      return attach(pen);
    case Icon::kKeyboard:
      return keyboard(pen);
    case Icon::kExport:
      return tray(pen, true);
    case Icon::kImport:
      return tray(pen, false);
    case Icon::kProfiler:
      pen.line({{3, 13}, {7.5f, 13}, {10.5f, 5}, {14, 20}, {16.5f, 13}, {21, 13}});
      return;
    case Icon::kRestore:
      return turn(pen, true);
    case Icon::kReset:
      return turn(pen, true);
    case Icon::kRegenerate:
      return turn(pen, false);
    case Icon::kContinue:
      pen.line({{8, 5.5f}, {18, 12}, {8, 18.5f}}, true);
      return;
    case Icon::kCheck:
      pen.line({{5, 12.5f}, {10, 17.5f}, {19, 7}});
      return;
    case Icon::kBack:
      pen.line({{14.5f, 5.5f}, {8, 12}, {14.5f, 18.5f}});
      return;
    case Icon::kForward:
      pen.line({{9.5f, 5.5f}, {16, 12}, {9.5f, 18.5f}});
      return;
    case Icon::kCopy:
      pen.box(8.5f, 8.5f, 20, 20, 2.5f), pen.line({{15.5f, 5}, {15.5f, 4}, {4, 4}, {4, 15.5f}, {5, 15.5f}});
      return;
    case Icon::kFile:
      return file(pen);
    case Icon::kFolder:
      pen.line({{3.5f, 6}, {9.5f, 6}, {11.5f, 8.5f}, {20.5f, 8.5f}, {20.5f, 19}, {3.5f, 19}}, true);
      return;
    case Icon::kServer:
      pen.box(3.5f, 4.5f, 20.5f, 11, 2), pen.box(3.5f, 13, 20.5f, 19.5f, 2);
      return pen.dot(7.5f, 7.75f, 1.1f), pen.dot(7.5f, 16.25f, 1.1f);
    case Icon::kText:
      pen.line({{2.5f, 18.5f}, {8, 5}, {13.5f, 18.5f}}), pen.line({{4.6f, 13.5f}, {11.4f, 13.5f}});
      return pen.circle(18, 15, 3.4f), pen.line({{21.4f, 11}, {21.4f, 18.5f}});
    case Icon::kTools:  // a plug
      pen.line({{8.5f, 3}, {8.5f, 8}}), pen.line({{15.5f, 3}, {15.5f, 8}}), pen.line({{12, 16}, {12, 21}});
      pen.box(5, 8, 19, 16, 3);
      return;
    case Icon::kPrompts:  // braces around a dot
      pen.line({{9, 4.5f}, {7, 5}, {6.3f, 7}, {6.3f, 9.8f}, {4, 12}, {6.3f, 14.2f}, {6.3f, 17}, {7, 19}, {9, 19.5f}});
      pen.line({{15, 4.5f},
                {17, 5},
                {17.7f, 7},
                {17.7f, 9.8f},
                {20, 12},
                {17.7f, 14.2f},
                {17.7f, 17},
                {17, 19},
                {15, 19.5f}});
      return pen.dot(12, 12, 1.3f);
    case Icon::kPin:
      pen.line({{9, 4}, {15, 4}, {15, 10}, {18, 14}, {6, 14}, {9, 10}}, true), pen.line({{12, 14}, {12, 20.5f}});
      return;
    case Icon::kArchive:
      pen.box(3.5f, 4.5f, 20.5f, 9, 1), pen.line({{5, 9}, {5, 19.5f}, {19, 19.5f}, {19, 9}});
      pen.line({{9.5f, 13}, {14.5f, 13}});
      return;
    case Icon::kTag:
      pen.line({{4, 4.5f}, {12, 4.5f}, {20, 12.5f}, {12.5f, 20}, {4, 11.5f}}, true), pen.dot(8.2f, 8.6f, 1.3f);
      return;
    case Icon::kOrder:
      pen.line({{4, 6.5f}, {20, 6.5f}}), pen.line({{7, 12}, {17, 12}}), pen.line({{10, 17.5f}, {14, 17.5f}});
      return;
    case Icon::kWarning:
      pen.line({{12, 4}, {21, 19.5f}, {3, 19.5f}}, true), pen.line({{12, 10}, {12, 14.5f}}), pen.dot(12, 17, 1.1f);
      return;
  }
}

}  // namespace warpchat::gui
