// Changes of ChatState as data, so that a long conversation is never copied per token and a session can be replayed.
// Applied in the same order, equal states stay equal.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/chat/state/chat_state.h"

namespace warpchat {

namespace updates {

// Updates of one conversation.
struct ShowConversation {
  OpenConversation conversation;  // replaces the shown one
};
struct SetTitle {
  std::string title;
};
struct SetSystemPrompt {
  std::string text;
};
struct SetRememberedModel {
  RememberedModel model;
};
struct SetChoices {
  AnswerChoices choices;
};
struct SetAssistant {
  std::string name;
  AnswerChoices choices;  // its own
};
struct SetContextUsed {
  uint32_t tokens;
};
struct SetDropsOldest {
  bool on;
};
struct SetUnseenTurns {
  uint32_t turns;
};
struct AddMessage {
  ChatMessage message;
};
struct KeepMessages {
  size_t n;  // the first ones
};
struct KeepTurn {  // the message is stored now
  ConversationId conversation;
  uint64_t message;
  TurnId turn;
};
struct SetSiblings {
  uint64_t message;
  std::vector<TurnId> siblings;
  TurnId turn;  // which of them it is
};

// Updates of the streaming answer, which is the last message.
struct SetPhase {
  AnswerPhase phase;
};
struct BeginAnswer {
  ChatMessage message;
};
struct ContinueAnswer {
  std::string model, endpoint, model_name;  // that continues it
};
struct SetPromptProgress {
  PromptProgress progress;
};
struct AddPiece {
  std::string text;
  bool thinking;  // of the reasoning
  bool is_token;  // false: text that was held back until the end
  float seconds;  // of the token
  double tokens_per_second;
  std::optional<double> thinking_seconds;  // so far
};
struct Reclassify {
  bool thinking;  // the answer's text so far is reasoning, or else is not
};
struct AddToolCall {
  ToolCallDelta delta;
};
struct SetToolCalls {
  ToolCallsChanged changed;
};
struct EndRound {};  // RoundEnded in engine/events.h
struct EndAnswer {
  MessageStatus status;
  AnswerCut cut;
  Timings timings;
  std::string failure;
  Remedy remedy = {};
  bool reasoning_ended = false;
};

// Lists.
struct SetConversations {
  ConversationLists lists;
};
struct SetSearch {
  std::optional<SearchResults> search;
};
struct SetStoreFault {
  std::string fault;
};
struct SetAttachments {
  std::vector<Attachment> attachments;
};
struct SetCounted {
  uint64_t revision;
  uint32_t tokens;
};
struct TakeSend {};
struct SetRefusal {
  std::optional<RefusedPrompt> refusal;
};
struct SetUnread {
  std::vector<ConversationId> conversations;
};
struct SetAnswering {
  std::vector<ConversationId> conversations;
};

// Model, device, settings.
struct SetModels {
  std::vector<ModelChoice> models;
};
struct SetEndpoints {
  std::vector<ModelChoice> endpoints;
};
struct SetServed {
  ServedModels served;
};
struct SetHub {
  HubSearch hub;
};
struct SetDevices {
  std::vector<DeviceLine> devices;
};
struct SetModel {
  std::optional<LoadedModel> model;
};
struct SetLoading {
  std::optional<LoadingModel> loading;
};
struct SetOffer {
  std::optional<ModelOffer> offer;
};
struct SetImporting {
  std::optional<RunningImport> importing;
};
struct SetAssistants {
  AssistantList list;
};
struct SetRunChoices {
  AnswerChoices flags, defaults;
  bool default_seed_is_drawn;
};
struct SetDefaultSystemPrompt {
  std::string text;
};
struct SetDefaultAssistant {
  DefaultAssistant assistant;
};
struct SetPrompts {
  std::vector<LibraryPrompt> prompts;
  bool is_saved;  // one was
};
struct SetTitles {
  bool on;
};
struct SetTools {
  OfferedTools tools;
};
struct SetProfile {
  std::shared_ptr<const ProfilerData> profile;
};
struct KeepAnswer {
  std::shared_ptr<const AnswerProfile> answer;
};

struct AddNotice {
  NoticeItem notice;
};
struct DropNotice {
  uint64_t id;
};

}  // namespace updates

using ConversationUpdate =
    std::variant<updates::ShowConversation, updates::SetTitle, updates::SetSystemPrompt, updates::SetRememberedModel,
                 updates::SetChoices, updates::SetAssistant, updates::SetContextUsed, updates::SetDropsOldest,
                 updates::SetUnseenTurns, updates::AddMessage, updates::KeepMessages, updates::KeepTurn,
                 updates::SetSiblings, updates::SetPhase, updates::BeginAnswer, updates::ContinueAnswer,
                 updates::SetPromptProgress, updates::AddPiece, updates::Reclassify, updates::AddToolCall,
                 updates::SetToolCalls, updates::EndRound, updates::EndAnswer>;
using Update = std::variant<ConversationUpdate, updates::SetConversations, updates::SetSearch, updates::SetStoreFault,
                            updates::SetAttachments, updates::SetCounted, updates::TakeSend, updates::SetRefusal,
                            updates::SetAnswering, updates::SetUnread, updates::SetModels, updates::SetEndpoints,
                            updates::SetServed, updates::SetHub, updates::SetDevices, updates::SetModel,
                            updates::SetLoading, updates::SetOffer, updates::SetImporting, updates::SetAssistants,
                            updates::SetPrompts, updates::SetRunChoices, updates::SetDefaultSystemPrompt,
                            updates::SetDefaultAssistant, updates::SetTitles, updates::SetTools, updates::SetProfile,
                            updates::KeepAnswer, updates::AddNotice, updates::DropNotice>;

void apply_update(OpenConversation& conversation, const ConversationUpdate& update);
void apply_update(ChatState& state, const Update& update);

}  // namespace warpchat
