// Conversations in Markdown that other programs or people wrote.
#pragma once
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

// Messages stand below labels: headings ("## User", "#### ChatGPT:"), bold words ("**You:** Hi") or words alone
// ("You said:", "Assistant: Hi"), whichever of the three names both sides. What stands before the first is about the
// conversation and left out. A text without such labels is one message of the user.
ConversationTree read_any_markdown(std::string_view text);

}  // namespace warpchat
