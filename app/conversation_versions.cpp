// The commands for a conversation as a tree: its versions, and its way into files and out of them.
#include "app/conversation.h"
#include "app/conversation_list.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/parted_answer.h"
#include "app/transfer.h"
#include "models/message.h"

namespace warpchat {

// All branches where it is stored, but never more below the shown one than this program shows.
ConversationTree Conversation::tree() {
  ConversationTree tree;
  if (record_.keeps() && record_.conversation() != 0) {
    tree = record_.store().tree(record_.conversation());
    tree.shown = record_.last_turn();
  } else {
    tree.model = absolute_path(*model_);
    tree.created = tree.updated = store_time_now();
    for (const Message& message : session_->messages()) {
      tree.turns.push_back(
          {tree.shown + 1, tree.shown, parted(message.role, message.content), TurnState::kComplete, tree.created});
      ++tree.shown;
    }
  }
  tree.system_prompt = settings_.session.system_prompt;
  return tree;
}

// Settings stay as they are: it is the same conversation.
void Conversation::versions(const std::string& number) {
  ConversationStore& store = record_.store();
  const ConversationId conversation = record_.conversation();
  if (conversation == 0) throw Error("there is no message yet");
  if (number.empty() || versions_.empty()) {
    const VersionList list = list_versions(tree());
    versions_ = list.turns;
    if (versions_.empty()) return say("there is one version of each message; /regen and /edit make others");
    if (number.empty()) return write_output(list.lines);
  }
  const uint32_t n = parse_count(number);
  if (n < 1 || n > versions_.size())
    throw Error("there are " + counted(versions_.size(), "version") + ", not a number '" + printable(number, 60) +
                "'; /versions shows them");
  store.show_newest_below(conversation, versions_[n - 1]);
  take_over(store.load(conversation));
  say("shown now: " + counted(session_->messages().size(), "message"));
  show_last();
}

void Conversation::import_from(const std::string& path) {
  ConversationStore& store = record_.store();
  restore(store.load(import_conversation(store, path)));
}

void Conversation::export_to(const std::string& path) {
  export_conversation(tree(), path);
  say("wrote " + path);
}

}  // namespace warpchat
