// The transcript's buttons, drawn as lines, so that no font need have them.
#pragma once
#include <imgui/imgui.h>

#include "app/gui/theme.h"

namespace warpchat::gui {

enum class Icon { kCopy, kDone, kAgain, kEdit, kLeft, kRight, kDown };

// In the square of this size round the centre.
void draw_icon(ImDrawList& list, Icon icon, ImVec2 centre, float size, Colour colour);

}  // namespace warpchat::gui
