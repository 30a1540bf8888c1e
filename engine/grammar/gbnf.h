// GBNF, the grammars of llama.cpp (grammars/README.md there), as rules.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "engine/grammar/rules.h"

namespace warpchat::grammar {

// Returns the rule `root`. given: rules that the text uses without defining them. Error: one sentence with the line, or
// the name of the rule.
Rule rules_of_gbnf(Rules& rules, std::string_view text, const std::map<std::string, Rule>& given = {});

}  // namespace warpchat::grammar
