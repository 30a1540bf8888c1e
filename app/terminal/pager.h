// Shows text that may be longer than the screen.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

class Terminal;

// Rows of the text on a terminal of this width; escape sequences have no width.
int rows_of(std::string_view text, int columns);

// To standard output: through the user's pager ($PAGER, else less where it is installed) if it is longer than the
// screen, else as it is, as also where the terminal cannot move its cursor and where PAGER is empty. The terminal is
// the pager's meanwhile; without one, Ctrl-C ends the text. Returns whether a pager showed it: the screen may be as it
// was before. OutputClosed and Error as write_output.
bool show_paged(const std::string& text, Terminal& terminal);

}  // namespace warpchat
