// Shows text that may be longer than the screen.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

class Terminal;

// Rows of the text on a terminal of this width; escape sequences have no width.
int rows_of(std::string_view text, int columns);

// The text's last lines, as many as fit so many rows, at least one; looks begin and end within a line.
std::string last_rows(const std::string& text, int columns, int rows);

// To standard output: through the user's pager ($PAGER, else less where it is installed) if it is longer than the
// screen, else as it is, as also where the terminal cannot move its cursor and where PAGER is empty. The terminal is
// the pager's meanwhile; without one, Ctrl-C ends the text. OutputClosed and Error as
// write_output.
void show_paged(const std::string& text, Terminal& terminal);

// The same text without a pager.
void show_unpaged(std::string_view text);

}  // namespace warpchat
