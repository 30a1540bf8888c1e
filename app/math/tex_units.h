// Numbers, units and lengths as the siunitx package and TeX read them.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

std::string number_as_tex(std::string_view number);  // "1.5e3", "2 +- 0.1"
std::string units_as_tex(std::string_view units);    // "\kilo\meter\per\second", "m/s^2"

// "1cm" in the em of the text; 0 if it is no length.
float length_in_em(std::string_view length);

}  // namespace warpchat
