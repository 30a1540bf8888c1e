// Conversations as other programs export them: one JSON value each, or Markdown.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/formats/import_notes.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

// ChatGPT ("mapping"), Claude ("chat_messages"), Open WebUI ("chat" or "history"), ShareGPT ("conversations", "items"),
// LM Studio ("messages" with "versions"), Gemini in Google Takeout ("header", "title" and "time" of an activity), and
// any other list of messages as "messages". All that is text comes with its branches, reasoning, files and times; notes
// get the rest. Missing times are the current time. Without turns if there is no message; TransferError if it is
// damaged. is_cut: it was closed by close_cut_json().
bool is_foreign_conversation(const nlohmann::json& value);
ConversationTree read_foreign_conversation(const nlohmann::json& value, bool is_cut, ImportNotes& notes);

// Exports that have their conversations below a key: "conversations" or "chats". Null: it is none.
const nlohmann::json& conversations_in(const nlohmann::json& value);

// Messages stand below labels: headings ("## User", "#### ChatGPT:"), bold words ("**You:** Hi") or words alone
// ("You said:", "Assistant: Hi"), whichever of the three names both sides. What stands before the first is about the
// conversation and left out. A text without such labels is one message of the user.
ConversationTree read_any_markdown(std::string_view text);

}  // namespace warpchat
