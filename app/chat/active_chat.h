// An active conversation: one that is shown, or whose answer is pending. Turns actions into changes of its branch and
// answers. A question is stored once its prompt is built and before its answer begins; one without a prompt changes
// nothing.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/chat/answering.h"
#include "app/tools/approval.h"

namespace warpchat {

// What is to be answered: the conversation's first messages, and possibly a new one after them.
struct Question {
  size_t n_kept;
  std::optional<Message> added = {};
  std::string title = {};                       // for a conversation without a title
  bool continues = false;                       // the last message is an answer to continue
  uint64_t message = 0;                         // key of the message in question; 0: a new one
  std::optional<AnswerSettings> settings = {};  // of this answer alone
};

// The first title of a conversation that begins with this message.
std::string title_of_message(const Message& message);

class ActiveChat {
 public:
  ActiveChat(StateStore& state, Library& library, std::shared_ptr<Approval> its_approval)
      : slot(state), branch(state, library, slot), answering(state, branch, slot), approval(std::move(its_approval)) {}

  const OpenConversation& now() const { return slot.now(); }
  bool waits() const { return now().phase == AnswerPhase::kWaiting; }
  bool is_over() const { return !answering.running() && !waits(); }  // no answer runs or waits

  // Questions; none if there is nothing to ask.
  std::optional<Question> regenerate(uint64_t message) const;
  std::optional<Question> edit(uint64_t message, const std::string& text) const;  // edits a user's message
  std::optional<Question> go_on(uint64_t message) const;
  const Question& waiting() const { return waiting_; }  // the question that is asked later

  void replace_answer(uint64_t message, const std::string& text);  // with the user's text
  bool undo();                                                     // false: there is no message of the user

  // On Error and PromptTooLong nothing has changed. An answer that fails to begin after that is a failed answer.
  void ask(std::shared_ptr<Responder> responder, const AnswerOptions& options, const Question& question);
  void wait(const Question& question);  // asks it later
  void halt();                          // stops the answer or the waiting

  ConversationSlot slot;
  Branch branch;
  Answering answering;
  const std::shared_ptr<Approval> approval;  // of tools in this conversation

 private:
  std::vector<Message> prompt(const Question& question) const;
  void accept(const Question& question);

  Question waiting_{0};
};

}  // namespace warpchat
