// Conversations under the days on which they were last used.
#pragma once
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat::gui {

// today: the local day's beginning. "Today", "Yesterday", "Previous 7 days" or "Older".
std::string_view date_group(StoreTime updated, StoreTime today);

StoreTime local_midnight(StoreTime now);  // of the day that now is in

}  // namespace warpchat::gui
