// JSON from servers.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace warpchat {

// A discarded value (is_discarded) for text that is not JSON, and for values nested deeper than 64.
nlohmann::json server_json(std::string_view text);

}  // namespace warpchat
