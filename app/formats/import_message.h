// One message as other programs write it: {ROLE, CONTENT, ...}, whatever the two are called.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "app/formats/import_notes.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

// A member that may be missing, then null; also for values that are no objects.
const nlohmann::json& member(const nlohmann::json& object, const char* key);
std::string text_of(const nlohmann::json& value);  // "" for anything but a text

// Seconds, milliseconds, microseconds or nanoseconds since 1970, or ISO 8601 with any fraction and offset.
StoreTime time_of(const nlohmann::json& value, StoreTime otherwise);
// The first of the keys that holds a time.
StoreTime time_in(const nlohmann::json& object, std::initializer_list<const char*> keys, StoreTime otherwise);

// Paragraphs: more follows after an empty line.
void append_paragraph(std::string& text, std::string_view more);

// A text, or a list of parts such as {"type": "text", "text": ...}; {"type": "thinking"} is reasoning, {"type": "file"}
// with a text a file.
void read_parts(const nlohmann::json& content, Message& message, ImportNotes& notes);

// Role: "role", "from" or "sender"; content: "content", "value" or "text". Files whose text is there and reasoning are
// taken, too. Without a role if it has none that is known, or is a tool's.
Message read_foreign_message(const nlohmann::json& value, ImportNotes& notes);
bool is_foreign_message(const nlohmann::json& value);

}  // namespace warpchat
