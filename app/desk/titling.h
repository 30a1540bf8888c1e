// Titles by the model. Once a conversation has its first answer, the model is asked for a title as if the user had
// asked next: what it has read is found in its cache again, and the next message finds it there after that. Nothing of
// it is stored but the title, and whatever the user wishes for goes first.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/desk/library.h"
#include "engine/session/responder.h"

namespace warpchat {

class Titling {
 public:
  Titling(Board& board, Library& library) : board_(board), library_(library) {}

  // The conversation's messages as the model reads them; takes the place of an earlier wish.
  void want(ConversationId conversation, std::vector<Message> messages, AnswerOptions options);
  // A title that was wanted and did not come: its request was stopped.
  bool owes(ConversationId conversation) const { return owed_.contains(conversation); }
  bool has_wish() const { return wish_.has_value(); }
  void forget() { wish_.reset(), owed_.clear(); }

  void begin(std::shared_ptr<Responder> responder);  // what is wished for; while nothing else is generated
  bool running() const { return generation_ != nullptr; }
  bool follow(std::chrono::milliseconds timeout);  // takes what comes within it; true: the request has ended
  void stop();                                     // within a token or a pass of the prompt

 private:
  struct Wish {
    ConversationId conversation;
    std::vector<Message> messages;
    AnswerOptions options;
  };
  bool take(const Event& event);
  void keep(const std::string& title) const;
  void end();
  void drop();

  Board& board_;
  Library& library_;
  std::optional<Wish> wish_;  // that is asked for, or to be
  std::set<ConversationId> owed_;
  std::shared_ptr<Responder> responder_;  // outlives its generation
  std::unique_ptr<Generation> generation_;
  std::string answer_;
};

// What the model answered as a title: its first line with text, or what is quoted in it, without quotes, Markdown and
// "Title:". Empty: it is none, as what has more than 60 characters.
std::string title_of_answer(std::string_view answer);

}  // namespace warpchat
