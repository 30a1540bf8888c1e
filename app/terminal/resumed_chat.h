// One answer in a stored conversation, for -p with --resume. The chat controller has the conversation and stores the
// question and the answer; the caller's responder answers, and the caller reads the answer's events.
#pragma once
#include <memory>
#include <string>

#include "app/chat/chat_controller.h"
#include "app/settings/options.h"
#include "engine/session/responder.h"

namespace warpchat {

class ResumedChat {
 public:
  explicit ResumedChat(const ChatOptions& options);  // Error if there is no such conversation
  ~ResumedChat();

  // Answers the text after the conversation's messages, with its system message unless the options have one. The events
  // are the responder's; all are stored by the end. Error if the prompt does not fit. The responder is used until the
  // generation is destroyed.
  std::unique_ptr<Generation> ask(Responder& responder, const AnswerOptions& options, const std::string& text);

 private:
  class Relay;
  class StoredGeneration;
  void tell_faults();  // the controller's, to standard error

  ConversationId conversation_ = 0;
  std::shared_ptr<Relay> relay_;
  ChatController controller_;
  uint64_t told_ = 0;  // the last notice
};

}  // namespace warpchat
