// JSON Schema as rules. engine/grammar/README.md lists what is held, and the spelling of JSON that is allowed.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/grammar/rules.h"

namespace warpchat::grammar {

// Returns the rule of a whole answer. notes: gets what was ignored as an annotation, a sentence each. Error: one
// sentence that names the keyword and its place.
Rule rules_of_schema(Rules& rules, std::string_view json, std::vector<std::string>& notes);

// The same, but of the values that the schema allows only objects.
Rule rules_of_object_schema(Rules& rules, std::string_view json, std::vector<std::string>& notes);

// How the members of an object are written without JSON around them: open NAME name_end VALUE close, one after another
// with white space between. A string is written as it is, without quotes and escapes; any other value as JSON.
struct MemberMarkup {
  std::string open, name_end, close;
  std::string name_refused;  // bytes that no name can have
  // A string has no `close`, and none of these pairs with nothing but white space between them, also together with the
  // `close` behind it: a reader would end the value there.
  std::vector<std::pair<std::string, std::string>> refused_pairs = {};
};

// An object's members in the schema's order, each once at most and required ones once; others than those that the
// schema names are written only where it names none.
Rule rules_of_members(Rules& rules, std::string_view json, const MemberMarkup& markup, std::vector<std::string>& notes);

}  // namespace warpchat::grammar
