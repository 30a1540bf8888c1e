// GBNF, the grammars of llama.cpp (grammars/README.md there), as rules.
#pragma once
#include <string_view>

#include "engine/grammar/rules.h"

namespace warpchat::grammar {

// Returns the rule `root`. Error: one sentence with the line, or the name of the rule.
Rule rules_of_gbnf(Rules& rules, std::string_view text);

}  // namespace warpchat::grammar
