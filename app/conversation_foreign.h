// Conversations as other programs leave them: ChatGPT's export, and Markdown of any kind.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/conversation_store.h"

namespace warpchat {

// ChatGPT's conversations.json: an array of objects with a tree of nodes as "mapping", or one of them.
bool is_chatgpt_export(const nlohmann::ordered_json& root);

// What people and model said, with all branches, thoughts and times; searches, calls of tools and what stands in for
// pictures are left out. Conversations without a message are passed over. TransferError names the one at fault.
std::vector<ConversationTree> read_chatgpt_export(const nlohmann::ordered_json& root, const std::string& name);

// Messages stand below labels: headings ("## User", "#### ChatGPT:"), bold words ("**You:** Hi") or words alone
// ("You said:", "Assistant: Hi"), whichever of the three names both sides. What stands before the first is about the
// conversation and left out. A text without such labels is one message of the user.
ConversationTree read_any_markdown(std::string_view text);

}  // namespace warpchat
