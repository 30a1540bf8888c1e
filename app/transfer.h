// Conversations as files: Markdown for people, JSON with everything. Both can be read again.
#pragma once
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

// The branch that is shown. What comes back is title, system prompt, model, times and each turn, to the byte; how the
// text is laid out: app/conversation_markdown.cpp.
std::string to_markdown(const ConversationTree& tree);

// All branches. "messages" is the one that is shown, as an array of {role, content} that other programs take too; how
// the rest is laid out: app/conversation_json.cpp. Turns are numbered from 1, and one that streams counts as stopped.
std::string to_json(const ConversationTree& tree);

// What these two wrote; also a JSON array of {role, content}, alone or as "messages" of an object. name: for errors.
// Error with the line or the element at fault. Times that are not said are those of now.
ConversationTree parse_conversation(std::string_view text, const std::string& name);

// By the path's extension: .json, or .md and .markdown. Error for another, if the file exists already, or if it cannot
// be written; nothing is left of it then.
void export_conversation(const ConversationTree& tree, const std::string& path);
void export_conversation(const ConversationStore& store, ConversationId conversation, const std::string& path);

// Both kinds of file, told apart by their content. Error if the file is damaged, or larger than 64 MB; nothing is
// stored then.
ConversationId import_conversation(ConversationStore& store, const std::string& path);

}  // namespace warpchat
