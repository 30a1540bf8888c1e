// JSON Schema as rules. engine/grammar/README.md lists what is held, and the spelling of JSON that is allowed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/rules.h"

namespace warpchat::grammar {

// Returns the rule of a whole answer. notes: gets what was ignored as an annotation, a sentence each. Error: one
// sentence that names the keyword and its place.
Rule rules_of_schema(Rules& rules, std::string_view json, std::vector<std::string>& notes);

}  // namespace warpchat::grammar
