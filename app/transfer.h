// Conversations as files: Markdown for people, JSON with everything. Both can be read again.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/conversation_store.h"

namespace warpchat {

// The branch that is shown. What comes back is title, system prompt, model, times and each turn, to the byte; how the
// text is laid out: app/conversation_markdown.cpp.
std::string to_markdown(const ConversationTree& tree);

// All branches. "messages" is the one that is shown, as an array of {role, content} that other programs take too; how
// the rest is laid out: app/conversation_json.cpp. Turns are numbered from 1, and one that streams counts as stopped.
std::string to_json(const ConversationTree& tree);

// What these two wrote; a JSON array of {role, content}, alone or as "messages" of an object; ChatGPT's export, with
// any number of conversations; any other Markdown (app/conversation_foreign.h). name: for errors. Error with the line
// or the element at fault, or if there is no message. Times that are not said are those of now. Oldest first.
std::vector<ConversationTree> parse_conversations(std::string_view text, const std::string& name);

// By the path's extension: .json, or .md and .markdown. Error for another, if the file exists already and is not to be
// replaced, or if it cannot be written; nothing is left of it then.
void export_conversation(const ConversationTree& tree, const std::string& path, bool replace = false);

// All kinds of file, told apart by their content. Error if the file is damaged, or larger than 256 MB; nothing is
// stored then. The last one is the newest.
std::vector<ConversationId> import_conversations(ConversationStore& store, const std::string& path);

}  // namespace warpchat
