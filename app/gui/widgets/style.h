// ImGui's own widgets in this window's colours, sizes and fonts.
#pragma once
#include "app/gui/text/text_engine.h"
#include "app/gui/theme.h"

struct ImFont;

namespace warpchat::gui {

void apply_style(const Theme& theme, const Sizes& sizes);

// Font 0: text, font 1: code; Latin, Greek, Cyrillic and the signs that tables need. Not complete: ASCII alone, a tenth
// of the time.
void load_fonts(const TextEngine& text, const Sizes& sizes, bool complete);
ImFont* code_font();

}  // namespace warpchat::gui
