// What a conversation leaves among the lines typed at a terminal.
#pragma once
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

// Whether the line is one of the conversation's messages, or a command that ends with its title or system prompt.
bool was_typed_for(const ConversationTree& conversation, std::string_view line);

// Removes such lines from a file of History. Error if it cannot be written; a file that is not there has none.
void erase_typed_lines(const std::string& file, const ConversationTree& conversation);

}  // namespace warpchat
