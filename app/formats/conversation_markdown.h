// A conversation as Markdown and back; the layout is described with the code.
#pragma once
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

bool is_own_markdown(std::string_view text);  // what to_markdown wrote, or what is left of it

// TransferError with the line at fault if to_markdown did not write it.
ConversationTree read_markdown_conversation(std::string_view text, const std::string& name);

}  // namespace warpchat
