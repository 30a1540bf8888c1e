// Patterns of ECMAScript (ECMA-262, with the u flag) as expressions. Look-around, back-references and word boundaries
// are refused by name.
#pragma once
#include <string_view>

#include "engine/grammar/characters.h"

namespace warpchat::grammar {

// The texts in which the pattern is found: anywhere, unless ^ and $ say where. Error: a sentence that names what cannot
// be read or held.
Expr search_pattern(Characters& characters, std::string_view pattern);

}  // namespace warpchat::grammar
