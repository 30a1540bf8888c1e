// Conversations as files: Markdown for people, JSON with everything. Both can be read again.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/formats/import_notes.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

// The branch that is shown. What comes back is title, system prompt, model, times and each turn, to the byte; how the
// text is laid out: app/formats/conversation_markdown.cpp.
std::string to_markdown(const ConversationTree& tree);

// All branches. "messages" is the one that is shown, as an array of {role, content} that other programs take too; how
// the rest is laid out: app/formats/conversation_json.cpp. Turns count from 1; one that streams counts as stopped.
std::string to_json(const ConversationTree& tree);

// By the path's extension: .json, or .md and .markdown. Error for another, if the file exists already and is not to be
// replaced, or if it cannot be written; nothing is left of it then.
void export_conversation(const ConversationTree& tree, const std::string& path, bool replace = false);

// Several as a JSON array, which read_conversations() reads. The number of written ones; 0: stopped, and there is no
// file. Errors as above.
size_t export_conversations(const ConversationStore& store, const std::vector<ConversationId>& ids,
                            const std::string& path, bool replace, const std::function<void(double)>& progress,
                            const std::function<bool()>& is_stopped);

// What reading a file calls.
struct ImportListener {
  std::function<void(ConversationTree)> on_conversation;    // each conversation, in the order of the file
  std::function<void(double)> progress = [](double) {};     // 0..1 of the file
  std::function<bool()> is_stopped = [] { return false; };  // asked often; true ends the reading
};

// Reads what the two above wrote, exports of other programs (app/formats/import_formats.h), messages of {role, content}
// and any Markdown. JSON may be one value, an array or a value per line; a conversation that is wrong or cut does not
// lose the others, and the notes name it. name: for errors. Error if there is no message at all.
ImportNotes read_conversations(std::string_view text, const std::string& name, const ImportListener& listener);

struct Imported {
  std::vector<ConversationId> ids;  // in the order of the file
  ConversationId newest = 0;        // the last that was changed, also of those that were stored before; 0: stopped
  size_t n_known = 0;    // conversations that the store had, with the same messages; they are not stored again
  std::string left_out;  // in words; empty: nothing
};

// Stores a file's conversations. Error if it is larger than 256 MB, or if there is no message in it. After a stop or an
// Error those stay that were stored by then, and `imported` has them. Ctrl-C stops it, too.
void import_conversations(
    ConversationStore& store, const std::string& path, Imported& imported,
    const std::function<void(double)>& progress = [](double) {},
    const std::function<bool()>& is_stopped = [] { return false; });

}  // namespace warpchat
