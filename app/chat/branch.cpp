// Each change is shown first and stored second, so that the user loses nothing if the store fails.
#include "app/chat/branch.h"

#include <algorithm>
#include <utility>

#include "app/model_choice/model_lookup.h"
#include "app/settings/assistants.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// With other programs, which write to the store for a few milliseconds at a time: an answer waits for it.
constexpr std::chrono::milliseconds kPatience{500};
constexpr size_t kMaxShownName = 64;

MessageStatus status_of(const Turn& turn) {
  if (turn.state == TurnState::kComplete) return MessageStatus::kComplete;
  return turn.message.failure.empty() ? MessageStatus::kStopped : MessageStatus::kFailed;
}

TurnState state_of(MessageStatus status) {
  return status == MessageStatus::kComplete ? TurnState::kComplete : TurnState::kStopped;
}

bool waits_to_be_stored(const ChatMessage& message) {
  return message.turn == 0 && !is_empty(message) && message.status != MessageStatus::kStreaming;
}

bool has_text_of(const ChatMessage& message, const Message& stored) {
  return message.content == stored.content && message.reasoning == stored.reasoning;
}

bool same(const ChatMessage& a, const ChatMessage& b) { return a.key == b.key && a.siblings == b.siblings; }

bool is_failure_alone(const ChatMessage& message) {
  return message.status == MessageStatus::kFailed && is_empty(message);
}

// The failure that stands in place of the last answer; empty if there is an answer.
std::string failure_alone(const std::vector<ChatMessage>& messages) {
  return !messages.empty() && is_failure_alone(messages.back()) ? messages.back().failure : "";
}

}  // namespace

std::optional<size_t> Branch::index_of(uint64_t message) const {
  for (size_t i = 0; i < messages().size(); ++i)
    if (messages()[i].key == message) return i;
  return std::nullopt;
}

void Branch::start_new(std::string system_prompt, std::string assistant, const AnswerChoices& assistant_choices) {
  seen_.clear();
  replaced_.reset();
  OpenConversation conversation;
  conversation.system_prompt = std::move(system_prompt);
  conversation.assistant = std::move(assistant);
  conversation.assistant_choices = assistant_choices;
  slot_.change(updates::ShowConversation{std::move(conversation)});
}

void Branch::open(ConversationId id) {
  remember();
  OpenConversation conversation = read(library_.store(), id);
  if (id != now().id) seen_.clear();
  replaced_.reset();
  const std::string lost = conversation.assistant_choices ? "" : conversation.assistant;
  slot_.change(updates::ShowConversation{std::move(conversation)});
  if (!lost.empty())
    state_.tell("the assistant '" + printable(lost, kMaxShownName) +
                "' of this conversation is gone or damaged; its settings do not count");
}

void Branch::reload() {
  if (now().id == 0 || !is_stored()) return;
  try {
    remember();
    OpenConversation stored = read(library_.store(), now().id);
    const bool same = stored.title == now().title && stored.system_prompt == now().system_prompt &&
                      stored.model == now().model && stored.choices == now().choices &&
                      stored.assistant == now().assistant && stored.drops_oldest == now().drops_oldest;
    if (same && shows(stored.messages)) return;
    slot_.change(updates::ShowConversation{std::move(stored)});
  } catch (const std::exception&) {
    forget_if_erased();
  }
}

// A failure has a new key each time that it is read.
bool Branch::shows(const std::vector<ChatMessage>& stored) const {
  const std::string failure = failure_alone(stored), shown = failure_alone(messages());
  if (!failure.empty() && failure != shown) return false;
  return std::equal(stored.begin(), stored.end() - (failure.empty() ? 0 : 1), messages().begin(),
                    messages().end() - (shown.empty() ? 0 : 1), same);
}

OpenConversation Branch::read(const ConversationStore& store, ConversationId id) {
  const StoredConversation stored = store.load(id);
  OpenConversation conversation;
  conversation.id = id;
  conversation.title = stored.summary.title;
  conversation.system_prompt = stored.system_prompt;
  conversation.model = remembered_model(stored);
  conversation.choices = answer_choices_from(stored.settings);
  conversation.assistant = assistant_in(stored.settings);
  if (!conversation.assistant.empty()) conversation.assistant_choices = choices_of_assistant(conversation.assistant);
  conversation.drops_oldest = stored.drops_oldest;
  if (id == now().id && stored.drops_oldest) conversation.unseen_turns = now().unseen_turns;
  for (const Turn& turn : stored.turns) conversation.messages.push_back(message_of(store, turn));
  for (const ChatMessage& message : conversation.messages)
    if (message.timings) conversation.last_timings = message.timings;
  if (!stored.turns.empty() && stored.turns.back().message.role == "user")
    if (const std::string& failure = stored.turns.back().message.failure; !failure.empty())
      conversation.messages.push_back(failed_answer(failure));
  return conversation;
}

ChatMessage Branch::failed_answer(const std::string& failure) {
  ChatMessage answer;
  answer.key = state_.new_key();
  answer.role = "assistant";
  answer.status = MessageStatus::kFailed;
  answer.failure = failure;
  return answer;
}

ChatMessage Branch::message_of(const ConversationStore& store, const Turn& turn) {
  const auto seen = seen_.find(turn.id);
  ChatMessage message;
  if (seen != seen_.end() && has_text_of(seen->second, turn.message)) {
    message = seen->second;
    if (message.status != MessageStatus::kFailed) message.status = status_of(turn);
  } else {
    static_cast<Message&>(message) = turn.message;
    message.key = state_.new_key();
    message.turn = turn.id;
    message.model_name = shown_name(turn.message.model);
    message.status = status_of(turn);
  }
  message.siblings = store.siblings(turn.id);
  const auto own = std::find(message.siblings.begin(), message.siblings.end(), turn.id);
  message.sibling = static_cast<size_t>(own - message.siblings.begin());
  return message;
}

void Branch::add(Message message, const std::string& title) {
  if (!messages().empty() && is_failure_alone(messages().back()))
    slot_.change(updates::KeepMessages{messages().size() - 1});
  ChatMessage added;
  static_cast<Message&>(added) = std::move(message);
  added.key = state_.new_key();
  const bool is_user = added.role == "user";
  slot_.change(updates::AddMessage{std::move(added)});
  if (is_user) use_loaded_model();
  if (now().title.empty()) slot_.change(updates::SetTitle{title});
  leave_trash();
  const bool renames = messages().size() == 1 && now().id != 0;  // the first message changes
  keep_all(kPatience);
  if (renames) library_.try_to([&](ConversationStore& store) { store.retitle(now().id, title); });
  library_.refresh();
  follow_title();
}

// Another program may have put it there: what is written now would not be found.
void Branch::leave_trash() {
  if (now().id == 0) return;
  try {
    if (!library_.store().is_in_trash(now().id)) return;
    library_.store().take_from_trash(now().id);
  } catch (const std::exception&) {
    return;  // storing the message reports the reason
  }
  library_.refresh();
  state_.tell("this conversation was in the trash; it is restored");
}

void Branch::cut(size_t n_messages) {
  remember();
  const std::vector<ChatMessage> rest(messages().begin() + static_cast<std::ptrdiff_t>(n_messages), messages().end());
  const bool has_answer =
      std::ranges::any_of(rest, [](const ChatMessage& m) { return m.role != "user" && !is_empty(m); });
  const bool had_failed = !failure_alone(messages()).empty();
  if (has_answer) replaced_ = {n_messages, rest};
  if (had_failed) note_failure("");
  slot_.change(updates::KeepMessages{n_messages});
}

void Branch::put_back() {
  if (!replaced_) return;
  const Replaced replaced = *std::exchange(replaced_, std::nullopt);
  remember();
  slot_.change(updates::KeepMessages{replaced.begin});
  for (const ChatMessage& message : replaced.messages) slot_.change(updates::AddMessage{message});
  show_in_store();
}

void Branch::undo(size_t n_messages) {
  remember();
  replaced_.reset();
  slot_.change(updates::KeepMessages{n_messages});
  slot_.change(updates::SetContextUsed{0});
  show_in_store();
}

bool Branch::remove(size_t begin, size_t end) {
  keep_all();
  if (now().id == 0 || !is_stored()) return false;
  std::vector<TurnId> rest;
  for (size_t i = end; i < messages().size(); ++i)
    if (messages()[i].turn != 0) rest.push_back(messages()[i].turn);
  const TurnId parent = turn_before(begin);
  if (!library_.try_to([&](ConversationStore& store) { store.copy_below(now().id, parent, rest); })) return false;
  replaced_.reset();
  slot_.change(updates::SetContextUsed{0});
  reload();
  library_.refresh();
  return true;
}

void Branch::show_in_store() {
  if (now().id == 0) return;
  library_.try_to([&](ConversationStore& store) { store.show(now().id, turn_before(messages().size())); });
  reload();
  library_.refresh();
}

void Branch::remember() {
  for (const ChatMessage& message : messages())
    if (message.turn != 0 && message.status != MessageStatus::kStreaming) seen_.insert_or_assign(message.turn, message);
}

void Branch::show_version(uint64_t message, TurnId turn) {
  if ((message != 0 && !index_of(message)) || now().id == 0) return;
  library_.try_to([&](ConversationStore& store) { store.show_newest_below(now().id, turn); });
  reload();
  library_.refresh();
}

void Branch::set_system_prompt(const std::string& text) {
  if (text == now().system_prompt) return;
  slot_.change(updates::SetSystemPrompt{text});
  if (now().id != 0)
    library_.try_to([&](ConversationStore& store) { store.describe(now().id, text, now().model.model); });
}

void Branch::set_choices(const AnswerChoices& choices) {
  if (choices == now().choices) return;
  slot_.change(updates::SetChoices{choices});
  keep_settings();
}

void Branch::set_assistant(const std::string& name, const AnswerChoices& choices) {
  slot_.change(updates::SetAssistant{name, choices});
  keep_settings();
}

void Branch::keep_settings() {
  if (now().id == 0) return;
  const std::string settings = to_text(now().choices, now().assistant);
  library_.try_to([&](ConversationStore& store) { store.set_settings(now().id, settings); });
}

void Branch::drop_oldest(bool on) {
  slot_.change(updates::SetDropsOldest{on});
  if (now().id != 0) library_.try_to([&](ConversationStore& store) { store.drop_oldest(now().id, on); });
}

void Branch::use_loaded_model() {
  if (!model_.model.empty() && model_ != now().model) slot_.change(updates::SetRememberedModel{model_});
}

void Branch::answer_begins() {
  leave_trash();
  use_loaded_model();
  const ChatMessage& answer = messages().back();
  const TurnId parent = turn_before(messages().size() - 1);
  keeps_streamed_ = now().id != 0 && messages()[messages().size() - 2].turn == parent;  // else the store has failed
  if (!keeps_streamed_) return;
  if (answer.turn == 0) {
    streamed_.emplace(StreamedAnswer{answer.key, AnswerWriter(library_.store(), now().id, parent)});
    return;
  }
  keeps_streamed_ = library_.keep([&](ConversationStore& store) {
    streamed_.emplace(StreamedAnswer{answer.key, AnswerWriter(store, answer.turn, answer)});
  });
}

// Once a second, what the store has refused is tried again, so that a lock of another program costs no text.
void Branch::try_again() {
  const AnswerWriter::Clock::time_point now = AnswerWriter::Clock::now();
  if (now < next_try_) return;
  next_try_ = now + AnswerWriter::kInterval;
  if (streamed_) return void(keeps_streamed_ = true);  // its writer knows what is stored
  if (messages().back().turn != 0) return;             // an answer that is continued: its end is stored
  keep_all(std::chrono::milliseconds(0));
  answer_begins();
}

void Branch::answer_grows() {
  replaced_.reset();
  if (!keeps_streamed_) try_again();
  if (!keeps_streamed_) return;
  keeps_streamed_ = library_.keep([&](ConversationStore& store) {
    if (!streamed_) return;  // its store was replaced: the end is stored with everything else
    const ChatMessage& answer = messages().back();
    streamed_->writer.follow(answer, AnswerWriter::Clock::now());
    if (answer.turn == 0 && streamed_->writer.turn() != 0) show_turn(store, answer.key, streamed_->writer.turn());
  });
}

void Branch::answer_is_reclassified() {
  if (streamed_) streamed_->writer.reclassify();
}

void Branch::answer_ends() {
  if (streamed_) {
    streamed_->answer = messages().back();
    streamed_->state = state_of(messages().back().status);
    unfinished_.push_back(std::move(*streamed_));
    streamed_.reset();
  }
  keep_all();
  library_.refresh();
}

void Branch::drop_answer() {
  streamed_.reset();
  if (replaced_) return put_back();
  const ChatMessage answer = messages().back();
  slot_.change(updates::KeepMessages{messages().size() - 1});
  if (!is_failure_alone(answer)) return;
  note_failure(answer.failure);
  slot_.change(updates::AddMessage{answer});
}

// The last stored message is the user's, and has no answer.
void Branch::note_failure(const std::string& failure) {
  const TurnId question = last_turn();
  if (question == 0) return;
  library_.keep([&](ConversationStore& store) { store.note_failure(question, failure); });
}

void Branch::keep_all(std::chrono::milliseconds patience) {
  const auto keep_them = [&](ConversationStore& store) {
    finish_answers();
    for (size_t i = 0; i < messages().size(); ++i)
      if (waits_to_be_stored(messages()[i])) keep_message(store, i);
    keep_model(store);
  };
  const bool kept = library_.keep(keep_them, patience);
  if (!kept) forget_if_erased();
}

bool Branch::is_stored() const {
  return unfinished_.empty() && std::none_of(messages().begin(), messages().end(), waits_to_be_stored);
}

void Branch::finish_answers() {
  while (!unfinished_.empty()) {
    StreamedAnswer& answer = unfinished_.front();
    answer.writer.finish(answer.answer, answer.state);
    const uint64_t message = answer.message;
    const TurnId turn = answer.writer.turn();
    unfinished_.pop_front();  // before anything can fail: a stored answer cannot be finished again
    if (turn != 0 && index_of(message)) show_turn(library_.store(), message, turn);
  }
}

void Branch::keep_message(ConversationStore& store, size_t i) {
  const ChatMessage message = messages()[i];
  if (now().id == 0) {
    const ConversationStore::Started started =
        store.start({now().title, now().system_prompt, now().model.model, now().drops_oldest,
                     to_text(now().choices, now().assistant)},
                    message);
    slot_.change(updates::KeepTurn{started.conversation, message.key, started.turn});
    return;
  }
  const TurnId turn = store.add(now().id, turn_before(i), message, state_of(message.status));
  show_turn(store, message.key, turn);
}

void Branch::keep_model(ConversationStore& store) {
  const std::pair<ConversationId, std::string> described{now().id, now().model.model};
  if (now().id == 0 || described == described_) return;
  store.describe(now().id, now().system_prompt, now().model.model);
  described_ = described;
}

void Branch::show_turn(ConversationStore& store, uint64_t message, TurnId turn) {
  slot_.change(updates::KeepTurn{now().id, message, turn});
  slot_.change(updates::SetSiblings{message, store.siblings(turn), turn});
}

TurnId Branch::turn_before(size_t i) const {
  while (i > 0)
    if (const TurnId turn = messages()[--i].turn; turn != 0) return turn;
  return 0;
}

// Another program may have deleted it for good. The shown conversation then counts as not stored yet.
void Branch::forget_if_erased() {
  if (now().id == 0) return;
  try {
    const ConversationStore& store = library_.store();
    store.list(1);
    try {
      store.load(now().id);
    } catch (const ErasedMeanwhile&) {
      forget_ids();
    }
  } catch (const std::exception&) {
    // The store itself fails: checked again when it works.
  }
}

void Branch::forget_ids() {
  unfinished_.clear();
  OpenConversation conversation = now();
  conversation.id = 0;
  for (ChatMessage& message : conversation.messages) message.turn = 0, message.siblings.clear();
  slot_.change(updates::ShowConversation{std::move(conversation)});
}

// The new store does not have this conversation and numbers turns from 1.
void Branch::go_on_in_new_store() {
  streamed_.reset();
  seen_.clear();
  described_ = {};
  forget_ids();
  keep_all();
  if (!messages().empty() && messages().back().status == MessageStatus::kStreaming) answer_begins();
  library_.refresh();
}

void Branch::follow_title() {
  if (now().id == 0) return;
  library_.try_to([&](ConversationStore& store) {
    const std::optional<ConversationSummary> stored = store.summary(now().id);
    if (stored && stored->title != now().title) slot_.change(updates::SetTitle{stored->title});
  });
}

std::vector<Message> Branch::prompt(size_t n_messages) const {
  return {messages().begin(), messages().begin() + static_cast<std::ptrdiff_t>(n_messages)};
}

ConversationTree Branch::tree(size_t n_messages) const {
  ConversationTree tree{.title = now().title,
                        .system_prompt = now().system_prompt,
                        .model = now().model.model,
                        .created = store_time_now(),
                        .updated = store_time_now(),
                        .drops_oldest = now().drops_oldest,
                        .settings = to_text(now().choices, now().assistant)};
  for (size_t i = 0; i < n_messages; ++i) {
    const ChatMessage& message = messages()[i];
    if (is_empty(message)) continue;
    tree.turns.push_back({.id = tree.shown + 1,
                          .parent = tree.shown,
                          .message = message,
                          .state = state_of(message.status),
                          .created = tree.created});
    ++tree.shown;
  }
  return tree;
}

}  // namespace warpchat
