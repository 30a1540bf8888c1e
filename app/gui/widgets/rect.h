// A rectangle of the window that panels cut their parts from.
#pragma once
#include <imgui/imgui.h>

#include <algorithm>

namespace warpchat::gui {

struct Rect {
  float x = 0, y = 0, width = 0, height = 0;  // pixels of the window

  float right() const { return x + width; }
  float bottom() const { return y + height; }
  ImVec2 corner() const { return {x, y}; }
  ImVec2 end() const { return {right(), bottom()}; }
  ImVec2 centre() const { return {x + width / 2, y + height / 2}; }
  bool contains(ImVec2 p) const { return p.x >= x && p.y >= y && p.x < right() && p.y < bottom(); }

  Rect inset(float by) const { return inset(by, by); }
  Rect inset(float horizontally, float vertically) const {
    return {x + horizontally, y + vertically, std::max(width - 2 * horizontally, 0.0f),
            std::max(height - 2 * vertically, 0.0f)};
  }
  // These remove the returned part from this rectangle.
  Rect cut_top(float h) {
    h = std::clamp(h, 0.0f, height);
    const Rect part{x, y, width, h};
    y += h, height -= h;
    return part;
  }
  Rect cut_bottom(float h) {
    h = std::clamp(h, 0.0f, height);
    height -= h;
    return {x, bottom(), width, h};
  }
  Rect cut_left(float w) {
    w = std::clamp(w, 0.0f, width);
    const Rect part{x, y, w, height};
    x += w, width -= w;
    return part;
  }
  Rect cut_right(float w) {
    w = std::clamp(w, 0.0f, width);
    width -= w;
    return {right(), y, w, height};
  }
  Rect in_middle(float h) const { return {x, y + (height - h) / 2, width, h}; }  // of this height, centred
};

}  // namespace warpchat::gui
