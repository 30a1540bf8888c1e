// Untrusted JSON value by value, for documents that are kept in another form than the library's.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/untrusted_json.h"

namespace warpchat {

// Calls reader with the values in their order, instead of building them; numbers that no integer holds come with their
// text. JsonError as above, also when reader returns false; what reader throws passes through.
void read_untrusted_json(std::string_view text, const JsonLimits& limits, nlohmann::json_sax<nlohmann::json>& reader);

}  // namespace warpchat
