// The name that the program was started with. Messages use it, so that their commands can be typed unchanged.
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
