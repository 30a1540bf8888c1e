// Everything that an import finds in a text.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/formats/transfer.h"

namespace warpchat {

struct ImportedText {
  std::vector<ConversationTree> trees;  // oldest first
  std::string left_out;                 // what the user is told about
};

inline ImportedText import_text(std::string_view text, const std::string& name = "f") {
  ImportedText imported;
  const ImportNotes notes = read_conversations(
      text, name, {.on_conversation = [&](ConversationTree tree) { imported.trees.push_back(std::move(tree)); }});
  imported.left_out = notes.sentence();
  std::ranges::stable_sort(imported.trees, {}, &ConversationTree::updated);
  return imported;
}

// "user: hi | assistant (hm): yes [a.txt]" of the shown branch; in brackets reasoning and files.
inline std::string line_of(const ConversationTree& tree) {
  std::string line;
  for (const Turn& turn : shown_branch(tree)) {
    line += (line.empty() ? "" : " | ") + turn.message.role;
    if (!turn.message.reasoning.empty()) line += " (" + turn.message.reasoning + ")";
    line += ": " + turn.message.content;
    for (const AttachedFile& file : turn.message.files) line += " [" + file.name + "=" + file.text + "]";
  }
  return line;
}

}  // namespace warpchat
