// The name that the program was called by. Messages and advice use it, so that a command in them can be typed as it is.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// From argv[0], once and before any other thread: the last part of the path, or "chat" where that is no plain word.
void set_program_name(std::string_view called);
const std::string& program_name();

// For tables of constants: `text` with the program's name in place of each "{chat}".
std::string with_program_name(std::string_view text);

}  // namespace warpchat
