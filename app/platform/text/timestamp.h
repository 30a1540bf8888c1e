// Times as text: ISO 8601 in UTC with milliseconds, "2026-11-21T19:12:03.120Z".
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

// Times outside of the years 1970 to 9999 are written as the nearest one inside.
std::string timestamp(StoreTime time);

// As written above, the fraction may be missing; nullopt for anything else.
std::optional<StoreTime> parse_timestamp(std::string_view text);

}  // namespace warpchat
