// Conversations whose messages name their places in the tree by ids.
#pragma once
#include <string>
#include <vector>

#include "app/formats/import_notes.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

struct ImportNode {
  std::string id, parent;             // parent: unknown for a first message
  std::vector<std::string> children;  // in the order of versions
  Message message;                    // without a role: none, but what is below belongs to what is above
  StoreTime created = 0;
};

// Adds a message below the shown branch's last one. System messages in front become the system prompt.
void append_message(ConversationTree& tree, Message message, StoreTime created, ImportNotes& notes);

// Adds all nodes to a tree without turns, each once, whatever their ids say. An answer that comes as several nodes, one
// below the other, becomes one turn; a node with reasoning alone gives it to the answer below. shown: the id of the
// node that ends the shown branch; unknown: the newest turn.
void grow_tree(ConversationTree& tree, std::vector<ImportNode> nodes, const std::string& shown, ImportNotes& notes);

}  // namespace warpchat
