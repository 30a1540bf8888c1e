#include "app/gui/profiler/sparkline.h"

#include <algorithm>
#include <numeric>

namespace warpchat::gui {

double full_height(std::span<const float> values) {
  if (values.empty()) return 0;
  std::vector<float> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2], largest = sorted.back();
  return median > 0 ? std::min(largest, 3 * median) : largest;
}

std::vector<float> sparkline(std::span<const float> values, size_t most_points) {
  const size_t n = std::min(values.size(), most_points);
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
