// A colour for each row of the profile: the same name has the same colour in table, timeline and from run to run.
#pragma once
#include <span>
#include <vector>

#include "app/gui/theme.h"
#include "engine/profile.h"

namespace warpchat::gui {

// By the name; two names that would share a hue are told apart while there are hues left.
std::vector<Colour> row_colours(std::span<const OperationProfile> rows, bool dark);

Colour hue_colour(double hue, bool dark);  // hue: 0..1, readable on the theme's panels

}  // namespace warpchat::gui
