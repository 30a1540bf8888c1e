// The commands for conversations in the store: lists, search, going on with one, the trash.
#include <filesystem>
#include <utility>

#include "app/conversation.h"
#include "app/conversation_list.h"
#include "app/model_loading.h"
#include "app/output.h"
#include "app/parted_answer.h"
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
ConversationId Conversation::listed(const std::string& wanted) {
  const ConversationStore& store = record_.store();
  if (listed_.empty())
    for (const ConversationSummary& conversation : store.list(kListed)) listed_.push_back(conversation.id);
  return find_conversation(store, listed_, wanted);
}

void Conversation::load(const std::string& wanted) {
  const StoredConversation stored = record_.store().load(listed(wanted));
  if (stored.summary.trashed != 0) throw Error("that conversation is in the trash; /restore takes it out");
  restore(stored);
}

void Conversation::restore(const StoredConversation& stored) {
  take_over(stored);
  say(printable(stored.summary.title, kShownOfMessage) + ": " + counted(session_->messages().size(), "message"));
  if (settings_.session.system_prompt != stored.system_prompt)
    say("its system message: " + excerpt(stored.system_prompt, {}, kShownOfMessage));
  settings_.session.system_prompt = stored.system_prompt;
  if (const std::string& model = stored.summary.model; !model.empty() && model != absolute_path(*model_)) {
    std::error_code error;
    const bool there = std::filesystem::exists(model, error);
    say("another model answered: " + (there ? "/model " + model + " loads it" : model + ", which is not there now"));
  }
  show_last();
}

// A last message that was never answered is put before the user instead: templates expect turns to alternate.
void Conversation::take_over(const StoredConversation& stored) {
  std::vector<Message> messages;
  std::vector<TurnId> path;
  for (const Turn& turn : stored.turns) {
    messages.push_back({turn.message.role, joined(turn.message)});
    path.push_back(turn.id);
  }
  if (!messages.empty() && messages.back().role == "user") {
    prefilled_ = messages.back().content;
    messages.pop_back();
    path.pop_back();
  }
  start_anew();
  session_->restore(std::move(messages));
  record_.go_on(stored.summary.id, std::move(path));
}

void Conversation::show_last() const {
  const std::vector<Message>& messages = session_->messages();
  for (size_t i = messages.size() - std::min<size_t>(messages.size(), 2); i < messages.size(); ++i)
    say((messages[i].role == "user" ? "> " : "") + excerpt(messages[i].content, {}, kShownOfMessage));
  if (!prefilled_.empty()) say("(your last message has no answer yet: Enter sends it)");
}

void Conversation::throw_away(const std::string& wanted) {
  ConversationStore& store = record_.store();
  const ConversationId id = wanted.empty() ? record_.conversation() : listed(wanted);
  if (id == 0) throw Error("there is no message yet; /delete N deletes another conversation");
  const std::string title = store.load(id).summary.title;
  store.throw_away(id);
  trash_.clear();
  if (id == record_.conversation()) start_anew();
  say("moved to the trash: " + printable(title, kShownOfMessage) + "\n/restore takes it out again");
}

void Conversation::list_trash() {
  const std::vector<ConversationSummary> trash = record_.store().trash();
  trash_.clear();
  for (const ConversationSummary& conversation : trash) trash_.push_back(conversation.id);
  trash.empty() ? say("the trash is empty") : write_output(list_conversations(trash));
}

// Without /trash before it, numbers are those that it would show.
ConversationSummary Conversation::trashed(const std::string& number) {
  const ConversationStore& store = record_.store();
  if (trash_.empty())
    for (const ConversationSummary& conversation : store.trash()) trash_.push_back(conversation.id);
  if (trash_.empty()) throw Error("the trash is empty");
  const uint32_t n = number.empty() ? 1 : parse_count(number);
  if (n < 1 || n > trash_.size())
    throw Error("the trash has " + counted(trash_.size(), "conversation") + ", not a number '" + printable(number, 60) +
                "'; /trash shows them");
  const ConversationSummary found = store.load(trash_[n - 1]).summary;
  if (found.trashed == 0) throw Error("that conversation is not in the trash any more; /trash shows what is");
  return found;
}

void Conversation::take_from_trash(const std::string& number) {
  const ConversationSummary found = trashed(number);
  record_.store().take_from_trash(found.id);
  say("out of the trash: " + printable(found.title, kShownOfMessage));
}

void Conversation::erase(const std::string& number) {
  const ConversationSummary found = trashed(number);
  record_.store().erase(found.id);
  trash_.clear();
  say("erased for ever: " + printable(found.title, kShownOfMessage));
}

}  // namespace warpchat
