// OpenAI's strict mode of structured outputs.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace warpchat {

// Whether OpenAI's servers take the schema with "strict", without which they follow it only as far as the model likes:
// a subset in which objects name all their properties and require each. A schema beyond it is refused by them with
// "strict"; other servers ignore the word.
bool fits_strict_mode(const nlohmann::ordered_json& schema);

}  // namespace warpchat
