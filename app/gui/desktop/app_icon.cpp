// Drawn once, from the shapes of the file: a bubble and three threads.
#include "app/gui/desktop/app_icon.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpchat::gui {

namespace {

constexpr double kUnits = 256;  // of the drawing, a side
constexpr int kSamples = 3;     // of a pixel, in each direction

struct Point {
  double x, y;
};

struct Thread {
  std::array<uint8_t, 3> colour;
  std::array<Point, 7> curve;  // two cubic ones, end to end
};

constexpr std::array<uint8_t, 3> kBubble = {0x0f, 0x6e, 0x67};
constexpr double kLeft = 20, kRight = 236, kTop = 32, kBottom = 196, kCorner = 52, kThreadRadius = 6;
constexpr Point kTip = {72, 234}, kTailTo = {126, 196};
constexpr Thread kThreads[] = {
    {{0x3f, 0xae, 0x9f}, {{{52, 86}, {90, 86}, {90, 142}, {128, 142}, {166, 142}, {166, 86}, {204, 86}}}},
    {{0x9a, 0xdf, 0xd3}, {{{52, 114}, {78, 114}, {102, 114}, {128, 114}, {154, 114}, {180, 114}, {204, 114}}}},
    {{0xff, 0xff, 0xff}, {{{52, 142}, {90, 142}, {90, 86}, {128, 86}, {166, 86}, {166, 142}, {204, 142}}}},
};

bool is_in_bubble(Point p) {
  const double x = std::max({kLeft + kCorner - p.x, p.x - kRight + kCorner, 0.0});
  const double y = std::max({kTop + kCorner - p.y, p.y - kBottom + kCorner, 0.0});
  const bool in_box = p.x >= kLeft && p.x <= kRight && p.y >= kTop && p.y <= kBottom;
  if (in_box && x * x + y * y <= kCorner * kCorner) return true;
  const double along = (kTip.y - p.y) / (kTip.y - kTailTo.y);  // from the tail's tip to the bubble
  return along >= 0 && along <= 1 && p.x >= kTip.x && p.x <= kTip.x + along * (kTailTo.x - kTip.x);
}

Point on_curve(const Point* c, double t) {
  const double s = 1 - t, a = s * s * s, b = 3 * s * s * t, d = 3 * s * t * t, e = t * t * t;
  return {a * c[0].x + b * c[1].x + d * c[2].x + e * c[3].x, a * c[0].y + b * c[1].y + d * c[2].y + e * c[3].y};
}

// Points so close to each other that discs around them are the thread.
std::vector<Point> points_of(const Thread& thread) {
  constexpr int kSteps = 40;
  std::vector<Point> points;
  for (const size_t first : {0, 3})
    for (int i = 0; i <= kSteps; ++i) points.push_back(on_curve(&thread.curve[first], double{1} * i / kSteps));
  return points;
}

}  // namespace

std::vector<uint8_t> app_icon(int side) {
  const int n = side * kSamples;
  const double unit = kUnits / n;
  std::vector<const uint8_t*> samples(static_cast<size_t>(n) * static_cast<size_t>(n), nullptr);  // their colours
  const auto at = [&](int x, int y) -> const uint8_t*& {
    return samples[static_cast<size_t>(y) * static_cast<size_t>(n) + static_cast<size_t>(x)];
  };
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      if (is_in_bubble({(x + 0.5) * unit, (y + 0.5) * unit})) at(x, y) = kBubble.data();
  const int reach = static_cast<int>(kThreadRadius / unit) + 1;
  for (const Thread& thread : kThreads) {
    for (const Point& p : points_of(thread)) {
      const int cx = static_cast<int>(p.x / unit), cy = static_cast<int>(p.y / unit);
      for (int y = cy - reach; y <= cy + reach; ++y)
        for (int x = cx - reach; x <= cx + reach; ++x)
          if (std::hypot((x + 0.5) * unit - p.x, (y + 0.5) * unit - p.y) <= kThreadRadius)
            at(x, y) = thread.colour.data();
    }
  }
  std::vector<uint8_t> pixels;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      int sum[3] = {}, covered = 0;
      for (int i = 0; i < kSamples * kSamples; ++i) {
        const uint8_t* colour = at(x * kSamples + i % kSamples, y * kSamples + i / kSamples);
        if (colour == nullptr) continue;
        ++covered;
        for (int c = 0; c < 3; ++c) sum[c] += colour[c];
      }
      for (const int c : sum) pixels.push_back(static_cast<uint8_t>(covered > 0 ? c / covered : 0));
      pixels.push_back(static_cast<uint8_t>(255 * covered / (kSamples * kSamples)));
    }
  }
  return pixels;
}

}  // namespace warpchat::gui
