// Conversations as other programs export them, one JSON value each.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

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

}  // namespace warpchat
