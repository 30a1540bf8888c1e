// What plots are made of: a colour for each row of the profile, and a row's time in the last tokens as a small line.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "app/gui/theme.h"
#include "engine/profile.h"

namespace warpchat::gui {

// By the name, so that a row has the same colour in table, timeline and from run to run; two names that would share a
// hue are told apart while there are hues left.
std::vector<Colour> row_colours(std::span<const OperationProfile> rows, bool dark);

Colour hue_colour(double hue, bool dark);  // hue: 0..1, readable on the theme's panels

// What a full height stands for: the largest value, but at most three times the median, so that one slow token does not
// flatten the others.
double full_height(std::span<const float> values);

// Heights from 0 to 1, of full_height; the mean of neighbours where there are more values than points.
std::vector<float> sparkline(std::span<const float> values, size_t max_points);

}  // namespace warpchat::gui
