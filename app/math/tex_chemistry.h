// Chemical formulas as \ce of the mhchem package reads them.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// "2H2O ->[heat] 2H2 + O2" in TeX's own commands; the conditions at arrows are \ce again.
std::string chemistry_as_tex(std::string_view source);

}  // namespace warpchat
