// Every change of the window's state, one function each.
#include "app/gui/updates.h"

#include <algorithm>
#include <utility>

namespace warpchat::gui::updates {

namespace {

template <class T>
Update assign(T ChatState::*field, T value) {
  return [field, value = std::move(value)](ChatState& state) { state.*field = value; };
}

ChatMessage* find_message(ChatState& state, uint64_t key) {
  for (ChatMessage& message : state.open.messages)
    if (message.key == key) return &message;
  return nullptr;
}

}  // namespace

Update open_conversation(OpenConversation conversation) {
  return [shared = std::make_shared<const OpenConversation>(std::move(conversation))](ChatState& state) {
    state.open = *shared;
    state.last_timings.reset();
    state.tokens_per_second = state.first_token_seconds = 0;
    for (const ChatMessage& message : shared->messages)
      if (message.timings) state.last_timings = message.timings;
  };
}

Update set_title(std::string title) {
  return [title = std::move(title)](ChatState& state) { state.open.title = title; };
}

Update set_system_prompt(std::string text) {
  return [text = std::move(text)](ChatState& state) { state.open.system_prompt = text; };
}

Update set_context_used(uint32_t tokens) {
  return [tokens](ChatState& state) { state.open.context_used = tokens; };
}

Update take_send() {
  return [](ChatState& state) { ++state.taken_sends; };
}

Update add_message(ChatMessage message) {
  return [message = std::move(message)](ChatState& state) { state.open.messages.push_back(message); };
}

Update keep_messages(size_t n) {
  return [n](ChatState& state) {
    if (n < state.open.messages.size()) state.open.messages.resize(n);
  };
}

Update keep_turn(ConversationId conversation, uint64_t message, TurnId turn) {
  return [=](ChatState& state) {
    state.open.id = conversation;
    if (ChatMessage* found = find_message(state, message)) found->turn = turn;
  };
}

Update set_siblings(uint64_t message, std::vector<TurnId> siblings, TurnId turn) {
  return [message, siblings = std::move(siblings), turn](ChatState& state) {
    ChatMessage* found = find_message(state, message);
    if (found == nullptr) return;
    found->siblings = siblings;
    found->sibling = static_cast<size_t>(std::find(siblings.begin(), siblings.end(), turn) - siblings.begin());
  };
}

Update set_phase(Phase phase) { return assign(&ChatState::phase, phase); }

Update begin_answer(ChatMessage message) {
  return [message = std::move(message)](ChatState& state) {
    state.open.messages.push_back(message);
    state.phase = Phase::kPrompt;
    state.prompt_progress = {0, 0};
    state.tokens_per_second = state.first_token_seconds = 0;
  };
}

Update set_prompt_progress(PromptProgress progress) { return assign(&ChatState::prompt_progress, progress); }

Update add_piece(AnswerPiece piece) {
  return [piece = std::move(piece)](ChatState& state) {
    ChatMessage& answer = state.open.messages.back();
    if (piece.is_token) {
      if (answer.tokens.empty()) state.first_token_seconds = piece.seconds;
      answer.tokens.push_back({static_cast<uint32_t>(answer.text.size()), piece.seconds});
    }
    answer.text += piece.text;
    answer.revision += !piece.text.empty();
    answer.thinking_seconds = piece.thinking_seconds;
    state.phase = Phase::kAnswer;
    state.tokens_per_second = piece.tokens_per_second;
  };
}

Update end_answer(AnswerEnd end) {
  return [end = std::move(end)](ChatState& state) {
    ChatMessage& answer = state.open.messages.back();
    answer.status = end.status;
    answer.timings = state.last_timings = end.timings;
    answer.failure = end.failure;
    ++answer.revision;  // what ends is drawn anew
    state.open.context_used = end.context_used;
    state.phase = Phase::kIdle;
  };
}

Update set_conversations(std::vector<ConversationSummary> conversations, std::vector<ConversationSummary> trash) {
  return [conversations = std::move(conversations), trash = std::move(trash)](ChatState& state) {
    state.conversations = conversations;
    state.trash = trash;
  };
}

Update set_search(std::optional<SearchResults> search) { return assign(&ChatState::search, std::move(search)); }
Update set_store_fault(std::string fault) { return assign(&ChatState::store_fault, std::move(fault)); }
Update set_attachments(std::vector<Attachment> attachments) {
  return assign(&ChatState::attachments, std::move(attachments));
}

Update set_counted(uint64_t revision, uint32_t tokens) {
  return [=](ChatState& state) {
    state.counted_revision = revision;
    state.counted_tokens = tokens;
  };
}

Update set_models(std::vector<ModelChoice> models) { return assign(&ChatState::models, std::move(models)); }
Update set_devices(std::vector<DeviceChoiceRow> devices) { return assign(&ChatState::devices, std::move(devices)); }
Update set_model(std::optional<LoadedModel> model) { return assign(&ChatState::model, std::move(model)); }
Update set_loading(std::optional<LoadingModel> loading) { return assign(&ChatState::loading, std::move(loading)); }
Update set_settings(AnswerSettings settings) { return assign(&ChatState::settings, settings); }
Update set_profile(std::shared_ptr<const ProfilerData> profile) {
  return assign(&ChatState::profile, std::move(profile));
}

Update add_notice(NoticeItem notice) {
  return [notice = std::move(notice)](ChatState& state) { state.notices.push_back(notice); };
}

Update dismiss_notice(uint64_t id) {
  return [id](ChatState& state) { std::erase_if(state.notices, [id](const NoticeItem& n) { return n.id == id; }); };
}

}  // namespace warpchat::gui::updates
