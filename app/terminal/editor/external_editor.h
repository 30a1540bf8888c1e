// Changes a text in the editor that VISUAL or EDITOR names.
#pragma once
#include <string>

#include "app/platform/terminal.h"

namespace warpchat {

// The text as the editor left it, without its last line end. It gets the terminal meanwhile, and the text in a file
// that only the user can read, and that is removed. Error: there is no editor, it failed, or it left no text.
std::string edit_in_editor(const std::string& text, Terminal& terminal);

}  // namespace warpchat
