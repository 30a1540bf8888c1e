// A row's time in the last tokens as a small line.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace warpchat::gui {

// What a full height stands for: the largest value, but at most three times the median, so that one slow token does not
// flatten the others.
double full_height(std::span<const float> values);

// Heights from 0 to 1, of full_height; the mean of neighbours where there are more values than points.
std::vector<float> sparkline(std::span<const float> values, size_t most_points);

}  // namespace warpchat::gui
