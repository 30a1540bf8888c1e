// What the worker tells the window: small changes of ChatState, so that a long conversation is never copied per token.
// Each makes a change that is whole by itself; applied in order to two equal states, they stay equal.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/chat_state.h"

namespace warpchat::gui {

// Changes the state, on the UI thread.
using Update = std::function<void(ChatState&)>;

namespace updates {

// The open conversation.
Update open_conversation(OpenConversation conversation);  // in place of the one before
Update set_title(std::string title);
Update set_system_prompt(std::string text);
Update set_context_used(uint32_t tokens);
Update take_send();
Update add_message(ChatMessage message);
Update keep_messages(size_t n);                                                    // the first ones
Update keep_turn(ConversationId conversation, uint64_t message, TurnId turn);      // it is stored now
Update set_siblings(uint64_t message, std::vector<TurnId> siblings, TurnId turn);  // turn: which of them it is

// The answer that streams, which is the last message.
Update set_phase(Phase phase);
Update begin_answer(ChatMessage message);
Update set_prompt_progress(PromptProgress progress);
struct AnswerPiece {
  std::string text;
  bool is_token;  // false: text that was held back until the end
  float seconds;  // of the token
  double tokens_per_second;
  std::optional<double> thinking_seconds;  // so far
};
Update add_piece(AnswerPiece piece);
struct AnswerEnd {
  MessageStatus status;
  Timings timings;
  std::string failure;
  uint32_t context_used;
};
Update end_answer(AnswerEnd end);

// Lists.
Update set_conversations(std::vector<ConversationSummary> conversations, std::vector<ConversationSummary> trash);
Update set_search(std::optional<SearchResults> search);
Update set_store_fault(std::string fault);
Update set_attachments(std::vector<Attachment> attachments);
Update set_counted(uint64_t revision, uint32_t tokens);

// Model, device, settings.
Update set_models(std::vector<ModelChoice> models);
Update set_devices(std::vector<DeviceChoiceRow> devices);
Update set_model(std::optional<LoadedModel> model);
Update set_loading(std::optional<LoadingModel> loading);
Update set_settings(AnswerSettings settings);
Update set_profile(std::shared_ptr<const ProfilerData> profile);

Update add_notice(NoticeItem notice);
Update dismiss_notice(uint64_t id);

}  // namespace updates
}  // namespace warpchat::gui
