// Applies every kind of update, one overload each.
#include "app/chat/state/updates.h"

#include <algorithm>
#include <utility>

#include "engine/tool_calls.h"

namespace warpchat {

namespace {

using namespace updates;

ChatMessage* find_message(OpenConversation& open, uint64_t key) {
  for (ChatMessage& message : open.messages)
    if (message.key == key) return &message;
  return nullptr;
}

void make(OpenConversation& open, const ShowConversation& update) { open = update.conversation; }
void make(OpenConversation& open, const SetTitle& update) { open.title = update.title; }
void make(OpenConversation& open, const updates::SetSystemPrompt& update) { open.system_prompt = update.text; }
void make(OpenConversation& open, const SetRememberedModel& update) { open.model = update.model; }
void make(OpenConversation& open, const SetChoices& update) { open.choices = update.choices; }
void make(OpenConversation& open, const updates::SetAssistant& update) {
  open.assistant = update.name, open.assistant_choices = update.choices;
}
void make(OpenConversation& open, const SetContextUsed& update) { open.context_used = update.tokens; }
void make(OpenConversation& open, const SetDropsOldest& update) {
  open.drops_oldest = update.on;
  if (!update.on) open.unseen_turns = 0;
}
void make(OpenConversation& open, const SetUnseenTurns& update) { open.unseen_turns = update.turns; }
void make(OpenConversation& open, const AddMessage& update) { open.messages.push_back(update.message); }
void make(OpenConversation& open, const KeepMessages& update) {
  if (update.n < open.messages.size()) open.messages.resize(update.n);
}

void make(OpenConversation& open, const KeepTurn& update) {
  open.id = update.conversation;
  if (ChatMessage* found = find_message(open, update.message)) found->turn = update.turn;
}

void make(OpenConversation& open, const SetSiblings& update) {
  ChatMessage* found = find_message(open, update.message);
  if (found == nullptr) return;
  found->siblings = update.siblings;
  const auto own = std::find(found->siblings.begin(), found->siblings.end(), update.turn);
  found->sibling = static_cast<size_t>(own - found->siblings.begin());
}

void make(OpenConversation& open, const SetPhase& update) { open.phase = update.phase; }

void wait_for_token(OpenConversation& open) {
  open.phase = AnswerPhase::kPrompt;
  open.prompt_progress = {0, 0};
  open.tokens_per_second = open.first_token_seconds = 0;
}

void make(OpenConversation& open, const BeginAnswer& update) {
  open.messages.push_back(update.message);
  wait_for_token(open);
}

void make(OpenConversation& open, const SetPromptProgress& update) { open.prompt_progress = update.progress; }

void make(OpenConversation& open, const updates::ContinueAnswer& update) {
  ChatMessage& answer = open.messages.back();
  answer.model = update.model;
  answer.model_name = update.model_name;
  answer.endpoint = update.endpoint;
  answer.status = MessageStatus::kStreaming;
  answer.cut = AnswerCut::kNone;
  answer.failure.clear();
  answer.tool_calls.clear();  // that were left undone
  wait_for_token(open);
}

void make(OpenConversation& open, const AddPiece& piece) {
  ChatMessage& answer = open.messages.back();
  if (piece.is_token) {
    if (open.first_token_seconds == 0) open.first_token_seconds = static_cast<double>(piece.seconds);
    answer.tokens.push_back({static_cast<uint32_t>(text_bytes(answer)), piece.seconds});
    if (open.context_used > 0) ++open.context_used;
  }
  (piece.thinking ? answer.reasoning : answer.content) += piece.text;
  answer.revision += !piece.text.empty();
  answer.thinking_seconds = piece.thinking_seconds;
  open.phase = AnswerPhase::kAnswer;
  open.tokens_per_second = piece.tokens_per_second;
}

void make(OpenConversation& open, const Reclassify& update) {
  ChatMessage& answer = open.messages.back();
  reclassify(answer.content, answer.reasoning, update.thinking);
  ++answer.revision;
}

void make(OpenConversation& open, const AddToolCall& update) {
  append_delta(open.messages.back().tool_calls, update.delta);
}

void make(OpenConversation& open, const SetToolCalls& update) {
  ChatMessage& answer = open.messages.back();
  answer.tool_calls = update.changed.calls;
  answer.why_asked = update.changed.why_asked;
  ++answer.revision;
}

void make(OpenConversation& open, const EndRound&) {
  ChatMessage& answer = open.messages.back();
  answer.rounds.push_back(
      {std::exchange(answer.content, {}), std::exchange(answer.reasoning, {}), std::exchange(answer.tool_calls, {})});
  ++answer.revision;
  open.phase = AnswerPhase::kPrompt;
  open.prompt_progress = {0, 0};
}

void make(OpenConversation& open, const EndAnswer& end) {
  ChatMessage& answer = open.messages.back();
  answer.status = end.status;
  answer.cut = end.cut;
  for (ToolCall& call : answer.tool_calls)
    if (call.status == CallStatus::kAsking || call.status == CallStatus::kRunning) call.status = CallStatus::kNone;
  answer.reasoning_ended = answer.content.empty() && (answer.reasoning_ended || end.reasoning_ended);
  answer.timings = open.last_timings = end.timings;
  answer.failure = end.failure;
  answer.remedy = end.remedy;
  ++answer.revision;  // forces a redraw
  open.phase = AnswerPhase::kIdle;
}

void make(ChatState& state, const ConversationUpdate& update) { apply_update(state.open, update); }
void make(ChatState& state, const SetConversations& update) { static_cast<ConversationLists&>(state) = update.lists; }
void make(ChatState& state, const SetSearch& update) { state.search = update.search; }
void make(ChatState& state, const SetStoreFault& update) { state.store_fault = update.fault; }
void make(ChatState& state, const SetAttachments& update) { state.attachments = update.attachments; }
void make(ChatState& state, const SetCounted& update) {
  state.counted_revision = update.revision;
  state.counted_tokens = update.tokens;
}
void make(ChatState& state, const TakeSend&) { ++state.taken_sends; }
void make(ChatState& state, const SetRefusal& update) {
  state.refusal = update.refusal;
  state.refused_sends += update.refusal.has_value();
}
void make(ChatState& state, const SetAnswering& update) { state.answering = update.conversations; }
void make(ChatState& state, const SetUnread& update) { state.unread = update.conversations; }
void make(ChatState& state, const SetModels& update) { state.models = update.models; }
void make(ChatState& state, const SetEndpoints& update) { state.endpoints = update.endpoints; }
void make(ChatState& state, const SetServed& update) { state.served = update.served; }
void make(ChatState& state, const SetHub& update) { state.hub = update.hub; }
void make(ChatState& state, const SetDevices& update) { state.devices = update.devices; }
void make(ChatState& state, const SetModel& update) { state.model = update.model; }
void make(ChatState& state, const SetLoading& update) { state.loading = update.loading; }
void make(ChatState& state, const SetOffer& update) { state.offer = update.offer; }
void make(ChatState& state, const SetImporting& update) { state.importing = update.importing; }
void make(ChatState& state, const SetAssistants& update) { state.assistants = update.list; }
void make(ChatState& state, const SetRunChoices& update) {
  state.flags = update.flags, state.defaults = update.defaults;
  state.default_seed_is_drawn = update.default_seed_is_drawn;
}
void make(ChatState& state, const SetDefaultSystemPrompt& update) { state.default_system_prompt = update.text; }
void make(ChatState& state, const SetDefaultAssistant& update) { state.default_assistant = update.assistant; }
void make(ChatState& state, const SetPrompts& update) {
  state.prompts = update.prompts;
  state.saved_prompts += update.is_saved;
}
void make(ChatState& state, const updates::SetTitles& update) { state.titles = update.on; }
void make(ChatState& state, const SetTools& update) { state.tools = update.tools; }
void make(ChatState& state, const SetProfile& update) { state.profile = update.profile; }
void make(ChatState& state, const KeepAnswer& update) {
  if (state.answers.size() == kMaxKeptAnswers) state.answers.erase(state.answers.begin());
  state.answers.push_back(update.answer);
}
void make(ChatState& state, const AddNotice& update) { state.notices.push_back(update.notice); }
void make(ChatState& state, const DropNotice& update) {
  std::erase_if(state.notices, [&](const NoticeItem& notice) { return notice.id == update.id; });
}

}  // namespace

void apply_update(OpenConversation& conversation, const ConversationUpdate& update) {
  std::visit([&](const auto& change) { make(conversation, change); }, update);
}

void apply_update(ChatState& state, const Update& update) {
  std::visit([&](const auto& change) { make(state, change); }, update);
}

}  // namespace warpchat
