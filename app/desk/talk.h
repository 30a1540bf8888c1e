// A conversation that the desk holds: because it is shown, or because its answer is not there yet. What its user wants,
// in terms of a branch and the answer below it. An answer is begun before anything changes: one that cannot begin
// leaves everything as it was.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/desk/answering.h"

namespace warpchat {

// What is to be answered: the conversation's first messages, and perhaps a new one behind them.
struct Question {
  size_t n_kept;
  std::optional<Message> added = {};
  std::string title = {};  // of a conversation that has none
  bool continues = false;  // the last of them is an answer that goes on
  uint64_t message = 0;    // key of the one it is asked about; 0: of a new one
};

// What a conversation that begins with this message is called until it has another title.
std::string title_of_message(const Message& message);

class Talk {
 public:
  Talk(Board& board, Library& library) : stage(board), branch(board, library, stage), answering(board, branch, stage) {}

  const OpenConversation& now() const { return stage.now(); }
  bool waits() const { return now().phase == AnswerPhase::kWaiting; }
  bool is_over() const { return !answering.running() && !waits(); }  // nothing more happens to it by itself

  // Questions; none where there is nothing to ask.
  std::optional<Question> regenerate(uint64_t message) const;
  std::optional<Question> edit(uint64_t message, const std::string& text) const;  // of a user's message
  std::optional<Question> go_on(uint64_t message) const;
  const Question& waiting() const { return waiting_; }  // what is asked later, as things are then

  void replace_answer(uint64_t message, const std::string& text);  // by the user's own words
  void undo();

  // Error, PromptTooLong: as it was.
  void ask(std::shared_ptr<Responder> responder, const AnswerOptions& options, const Question& question);
  void wait(const Question& question);  // it is asked later
  void halt();                          // asks the answer to end, or ends the waiting

  Stage stage;
  Branch branch;
  Answering answering;

 private:
  std::vector<Message> prompt(const Question& question) const;
  void take(const Question& question);

  Question waiting_{0};
};

}  // namespace warpchat
