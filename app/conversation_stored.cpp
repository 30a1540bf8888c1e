// The commands for conversations in the store: lists, search, going on with one, files.
#include <utility>

#include "app/conversation.h"
#include "app/conversation_list.h"
#include "app/output.h"
#include "app/transfer.h"
#include "engine/store/search_words.h"
#include "models/message.h"

namespace warpchat {

namespace {

constexpr uint32_t kListed = 20;
constexpr size_t kShownOfMessage = 300;  // bytes

}  // namespace

void Conversation::save(const std::string& title) {
  ConversationStore& store = record_.store();
  if (record_.conversation() == 0) throw Error("there is no message yet");
  store.rename(record_.conversation(), title);
  say("saved as: " + printable(title, kShownOfMessage));
}

void Conversation::list(const std::string& count) {
  const uint32_t limit = count.empty() ? kListed : parse_count(count);
  if (limit == 0) throw Error("/list takes how many to show, found '" + printable(count, 60) + "'");
  const std::vector<ConversationSummary> latest = record_.store().list(limit);
  listed_.clear();
  for (const ConversationSummary& conversation : latest) listed_.push_back(conversation.id);
  latest.empty() ? say("no conversation is stored yet") : write_output(list_conversations(latest));
}

void Conversation::search(const std::string& words) {
  const std::vector<SearchHit> hits = record_.store().search(words, kListed);
  listed_.clear();
  for (const SearchHit& hit : hits) listed_.push_back(hit.conversation.id);
  hits.empty() ? say("no conversation has " + printable(words, 60)) : write_output(list_hits(hits));
}

// Without a list before it, numbers are those that /list would show.
void Conversation::load(const std::string& wanted) {
  const ConversationStore& store = record_.store();
  if (listed_.empty())
    for (const ConversationSummary& conversation : store.list(kListed)) listed_.push_back(conversation.id);
  restore(store.load(find_conversation(store, listed_, wanted)));
}

// A last message that was never answered is put before the user instead: templates expect turns to alternate.
void Conversation::restore(const StoredConversation& stored) {
  std::vector<Message> messages;
  std::vector<TurnId> path;
  for (const Turn& turn : stored.turns) {
    messages.push_back({turn.role, turn.text});
    path.push_back(turn.id);
  }
  if (!messages.empty() && messages.back().role == "user") {
    prefilled_ = messages.back().content;
    messages.pop_back();
    path.pop_back();
  }
  start_anew();
  session_->restore(messages);
  record_.go_on(stored.summary.id, std::move(path));
  say(printable(stored.summary.title, kShownOfMessage) + ": " + counted(messages.size(), "message"));
  if (settings_.session.system_prompt != stored.system_prompt)
    say("its system message: " + excerpt(stored.system_prompt, {}, kShownOfMessage));
  settings_.session.system_prompt = stored.system_prompt;
  for (size_t i = messages.size() - std::min<size_t>(messages.size(), 2); i < messages.size(); ++i)
    say((messages[i].role == "user" ? "> " : "") + excerpt(messages[i].content, {}, kShownOfMessage));
  if (!prefilled_.empty()) say("(your last message has no answer yet: Enter sends it)");
}

// All branches where it is stored, but never more below the shown one than this program shows.
ConversationTree Conversation::tree() {
  ConversationTree tree;
  if (record_.keeps() && record_.conversation() != 0) {
    tree = record_.store().tree(record_.conversation());
    tree.shown = record_.last_turn();
  } else {
    tree.model = model_->file.path();
    tree.created = tree.updated = store_time_now();
    for (const Message& message : session_->messages()) {
      tree.turns.push_back(
          {tree.shown + 1, tree.shown, message.role, message.content, TurnState::kComplete, tree.created});
      ++tree.shown;
    }
  }
  tree.system_prompt = settings_.session.system_prompt;
  return tree;
}

void Conversation::export_to(const std::string& path) {
  export_conversation(tree(), path);
  say("wrote " + path);
}

}  // namespace warpchat
