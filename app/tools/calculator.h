// Arithmetic on one line: what `warpchat__calculate` computes. libmuparser does this, too, but reads 1,234*2 as 468,
// rounds 9007199254740993 in silence, has log for ln and a pi of twelve digits, and needs OpenMP.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// The value of + - * / % ^ (also **), !, parentheses, functions and constants. Whole numbers are exact while all that
// leads to them is whole and below 2^63 in size; other values have 15 digits, and "about" in front of a whole one that
// was rounded. % has the sign of its right side, angles are in radians. No locale counts. Error: one sentence, with the
// place where the text cannot be read.
std::string calculate(std::string_view expression);

std::string calculator_functions();  // their names, for a description

}  // namespace warpchat
