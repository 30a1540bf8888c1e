// Text with columns, for a terminal of any width.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// Tabs part a line's cells. The first ones stand in columns, those of lines with as many cells in the same; the last
// one is wrapped at words and hangs under its begin, or stands indented on the next line where there is no room beside
// the others. Lines without a tab are wrapped and hang under their first word. width: columns; 0: nothing is wrapped.
std::string column_text(std::string_view text, int width);

}  // namespace warpchat
