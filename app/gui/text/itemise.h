// A paragraph cut where shaping must not reach across: at a change of style, font, script, direction, and at tabs.
#pragma once
#include <vector>

#include "app/gui/text/font_set.h"
#include "app/gui/text/paragraph.h"
#include "app/gui/text/shape.h"

namespace warpchat::gui {

bool is_tab(const Paragraph& paragraph, const Item& item);  // which is an item of its own

// styles cover the paragraph's clusters, `first_style` its beginning; Item::style is an index of styles. Appends to out
// in logical order.
void itemise(const Paragraph& paragraph, const std::vector<StyledRun>& styles, size_t first_style, FontSet& fonts,
             std::vector<Item>& out);

}  // namespace warpchat::gui
