#include "app/gui/profiler/plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace warpchat::gui {

namespace {

constexpr size_t kHues = 24;

// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Colour hue_colour(double hue, bool dark) {
  const double saturation = dark ? 0.45 : 0.52, lightness = dark ? 0.62 : 0.56;
  const auto channel = [&](double n) {  // of HSL, as CSS defines it
    const double k = std::fmod(n + hue * 12, 12);
    const double span = saturation * std::min(lightness, 1 - lightness);
    const double value = lightness - span * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<Colour>(std::lround(value * 255));
  };
  return 0xFF000000 | channel(4) << 16 | channel(8) << 8 | channel(0);
}

std::vector<Colour> row_colours(std::span<const OperationProfile> rows, bool dark) {
  constexpr size_t kStep = 7;  // to the next free hue: prime to their number, and far enough to look different
  std::array<bool, kHues> taken{};
  std::vector<Colour> colours;
  for (const OperationProfile& row : rows) {
    size_t slot = hash_of(row.name) % kHues;
    if (colours.size() < kHues)
      while (taken[slot]) slot = (slot + kStep) % kHues;
    taken[slot] = true;
    colours.push_back(hue_colour(static_cast<double>(slot) / kHues, dark));
  }
  return colours;
}

double full_height(std::span<const float> values) {
  if (values.empty()) return 0;
  std::vector<float> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2], largest = sorted.back();
  return median > 0 ? std::min(largest, 3 * median) : largest;
}

std::vector<float> sparkline(std::span<const float> values, size_t max_points) {
  const size_t n = std::min(values.size(), max_points);
  std::vector<float> heights;
  for (size_t i = 0; i < n; ++i) {
    const size_t first = i * values.size() / n, end = (i + 1) * values.size() / n;
    const auto part = values.subspan(first, end - first);
    heights.push_back(std::accumulate(part.begin(), part.end(), 0.0f) / static_cast<float>(part.size()));
  }
  const auto top = static_cast<float>(full_height(heights));
  for (float& height : heights) height = top > 0 ? std::min(1.0f, height / top) : 0;
  return heights;
}

}  // namespace warpchat::gui
