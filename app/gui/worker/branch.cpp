// Each change is shown first and stored then, so that a store that fails takes nothing from the user.
#include "app/gui/worker/branch.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/parted_answer.h"

namespace warpchat::gui {

namespace {

MessageStatus status_of(TurnState state) {
  return state == TurnState::kComplete ? MessageStatus::kComplete : MessageStatus::kStopped;
}

TurnState state_of(MessageStatus status) {
  return status == MessageStatus::kComplete ? TurnState::kComplete : TurnState::kStopped;
}

bool waits_to_be_stored(const ChatMessage& message) {
  return message.turn == 0 && !message.text.empty() && message.status != MessageStatus::kStreaming;
}

// grows: it is an answer that still streams.
Message stored_form(const ChatMessage& message, bool grows = false) {
  Message stored = parted(message.role, message.text, grows);
  stored.timings = message.timings;
  return stored;
}

bool has_text_of(const ChatMessage& message, const Message& stored) {
  const Message own = stored_form(message);
  return own.content == stored.content && own.reasoning == stored.reasoning;
}

bool same(const ChatMessage& a, const ChatMessage& b) { return a.key == b.key && a.siblings == b.siblings; }

bool is_failure_alone(const ChatMessage& message) {
  return message.status == MessageStatus::kFailed && message.text.empty();
}

}  // namespace

Branch::Branch(Board& board, Library& library) : board_(board), library_(library) {
  library_.when_store_is_left([this] { go_on_in_new_store(); });
}

std::optional<size_t> Branch::index_of(uint64_t message) const {
  for (size_t i = 0; i < messages().size(); ++i)
    if (messages()[i].key == message) return i;
  return std::nullopt;
}

void Branch::start_new(std::string system_prompt) {
  seen_.clear();
  OpenConversation conversation;
  conversation.system_prompt = std::move(system_prompt);
  board_.change(updates::open_conversation(std::move(conversation)));
}

void Branch::open(ConversationId id) {
  library_.try_to([&](ConversationStore& store) {
    remember();
    OpenConversation conversation = read(store, id);
    if (id != now().id) seen_.clear();
    board_.change(updates::open_conversation(std::move(conversation)));
  });
}

void Branch::reload() {
  if (now().id == 0 || !unfinished_.empty() || std::any_of(messages().begin(), messages().end(), waits_to_be_stored))
    return;
  try {
    remember();
    OpenConversation stored = read(library_.store(), now().id);
    if (stored.title == now().title && stored.system_prompt == now().system_prompt && shows(stored.messages)) return;
    board_.change(updates::open_conversation(std::move(stored)));
  } catch (const std::exception&) {
    forget_if_erased();
  }
}

bool Branch::shows(const std::vector<ChatMessage>& stored) const {
  const bool has_failed = !messages().empty() && is_failure_alone(messages().back());
  return std::equal(stored.begin(), stored.end(), messages().begin(), messages().end() - (has_failed ? 1 : 0), same);
}

OpenConversation Branch::read(const ConversationStore& store, ConversationId id) {
  const StoredConversation stored = store.load(id);
  OpenConversation conversation;
  conversation.id = id;
  conversation.title = stored.summary.title;
  conversation.system_prompt = stored.system_prompt;
  for (const Turn& turn : stored.turns) conversation.messages.push_back(message_of(store, turn));
  return conversation;
}

ChatMessage Branch::message_of(const ConversationStore& store, const Turn& turn) {
  const auto seen = seen_.find(turn.id);
  ChatMessage message;
  if (seen != seen_.end() && has_text_of(seen->second, turn.message)) {
    message = seen->second;
    if (message.status != MessageStatus::kFailed) message.status = status_of(turn.state);
  } else {
    message.key = board_.new_key();
    message.turn = turn.id;
    message.role = turn.message.role;
    message.text = joined(turn.message);
    message.status = status_of(turn.state);
  }
  message.siblings = store.siblings(turn.id);
  const auto own = std::find(message.siblings.begin(), message.siblings.end(), turn.id);
  message.sibling = static_cast<size_t>(own - message.siblings.begin());
  return message;
}

void Branch::add(const std::string& role, const std::string& text, const std::string& title) {
  if (!messages().empty() && is_failure_alone(messages().back())) cut(messages().size() - 1);
  ChatMessage message;
  message.key = board_.new_key();
  message.role = role;
  message.text = text;
  board_.change(updates::add_message(std::move(message)));
  if (now().title.empty()) board_.change(updates::set_title(title));
  const bool renames = messages().size() == 1 && now().id != 0;  // the first message is another one now
  keep_all();
  if (renames) library_.try_to([&](ConversationStore& store) { store.retitle(now().id, title); });
  library_.refresh();
  follow_title();
}

void Branch::cut(size_t n_messages) {
  remember();
  board_.change(updates::keep_messages(n_messages));
}

void Branch::remember() {
  for (const ChatMessage& message : messages())
    if (message.turn != 0 && message.status != MessageStatus::kStreaming) seen_.insert_or_assign(message.turn, message);
}

void Branch::show_version(uint64_t message, TurnId turn) {
  const std::optional<size_t> i = index_of(message);
  if (!i || now().id == 0) return;
  library_.try_to([&](ConversationStore& store) { store.show_newest_below(now().id, turn); });
  reload();
  library_.refresh();
}

void Branch::set_system_prompt(const std::string& text) {
  if (text == now().system_prompt) return;
  board_.change(updates::set_system_prompt(text));
  if (now().id != 0) library_.try_to([&](ConversationStore& store) { store.describe(now().id, text, model_); });
}

void Branch::answer_begins() {
  const TurnId parent = messages()[messages().size() - 2].turn;  // 0: the store has failed
  keeps_streamed_ = now().id != 0 && parent != 0;
  if (keeps_streamed_)
    streamed_.emplace(StreamedAnswer{
        messages().back().key, AnswerWriter(library_.store(), now().id, parent), {}, TurnState::kComplete});
}

void Branch::answer_grows() {
  if (!keeps_streamed_) return;
  keeps_streamed_ = library_.keep([&](ConversationStore& store) {
    if (!streamed_) return;  // its store was left, and the new one takes nothing: the end is kept with everything else
    const ChatMessage& answer = messages().back();
    streamed_->writer.follow(stored_form(answer, /*grows=*/true), AnswerWriter::Clock::now());
    if (answer.turn == 0 && streamed_->writer.turn() != 0) show_turn(store, answer.key, streamed_->writer.turn());
  });
}

void Branch::answer_ends() {
  if (streamed_) {
    streamed_->answer = stored_form(messages().back());
    streamed_->answer.model = std::filesystem::path(model_).filename().string();
    streamed_->state = state_of(messages().back().status);
    unfinished_.push_back(std::move(*streamed_));
    streamed_.reset();
  }
  keep_all();
  library_.refresh();
}

void Branch::drop_answer() {
  streamed_.reset();
  ChatMessage answer = messages().back();
  answer.text.clear();  // the template may have opened a thought
  const size_t n_before = messages().size() - 1;
  cut(n_before);
  reload();
  if (is_failure_alone(answer) && messages().size() == n_before) board_.change(updates::add_message(answer));
}

void Branch::keep_all() {
  const bool kept = library_.keep([&](ConversationStore& store) {
    finish_answers();
    for (size_t i = 0; i < messages().size(); ++i)
      if (waits_to_be_stored(messages()[i])) keep_message(store, i);
    keep_model(store);
  });
  if (!kept) forget_if_erased();
}

void Branch::finish_answers() {
  while (!unfinished_.empty()) {
    StreamedAnswer& answer = unfinished_.front();
    answer.writer.finish(answer.answer, answer.state);
    if (answer.writer.turn() != 0 && index_of(answer.message))
      show_turn(library_.store(), answer.message, answer.writer.turn());
    unfinished_.pop_front();
  }
}

void Branch::keep_message(ConversationStore& store, size_t i) {
  const ChatMessage message = messages()[i];
  if (now().id == 0) {
    const ConversationStore::Started started =
        store.start({now().title, now().system_prompt, model_}, stored_form(message));
    board_.change(updates::keep_turn(started.conversation, message.key, started.turn));
    return;
  }
  const TurnId turn = store.add(now().id, turn_before(i), stored_form(message), state_of(message.status));
  show_turn(store, message.key, turn);
}

void Branch::keep_model(ConversationStore& store) {
  const std::pair<ConversationId, std::string> described{now().id, model_};
  if (now().id == 0 || described == described_) return;
  store.describe(now().id, now().system_prompt, model_);
  described_ = described;
}

void Branch::show_turn(ConversationStore& store, uint64_t message, TurnId turn) {
  board_.change(updates::keep_turn(now().id, message, turn));
  board_.change(updates::set_siblings(message, store.siblings(turn), turn));
}

TurnId Branch::turn_before(size_t i) const {
  while (i > 0)
    if (const TurnId turn = messages()[--i].turn; turn != 0) return turn;
  return 0;
}

// Another program may have erased it for ever. What is shown is then a conversation that is not stored yet.
void Branch::forget_if_erased() {
  if (now().id == 0) return;
  try {
    const ConversationStore& store = library_.store();
    store.list(1);
    try {
      store.load(now().id);
    } catch (const Error&) {
      forget_ids();
    }
  } catch (const std::exception&) {
    // The store itself does not work: whether it is erased shows when it does.
  }
}

void Branch::forget_ids() {
  unfinished_.clear();
  OpenConversation conversation = now();
  conversation.id = 0;
  for (ChatMessage& message : conversation.messages) message.turn = 0, message.siblings.clear();
  board_.change(updates::open_conversation(std::move(conversation)));
}

// It knows nothing of this conversation, and numbers turns anew.
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
  for (const ConversationSummary& summary : board_.now().conversations)
    if (summary.id == now().id && summary.title != now().title) board_.change(updates::set_title(summary.title));
}

std::vector<Message> Branch::for_session() const {
  std::vector<Message> joined;
  for (const ChatMessage& message : messages()) {
    if (message.text.empty()) continue;
    if (!joined.empty() && joined.back().role == message.role)
      joined.back().content += "\n\n" + message.text;
    else
      joined.push_back({message.role, message.text});
  }
  return joined;
}

}  // namespace warpchat::gui
