// Titles by the model. After a conversation's first answer, the model is asked for a title as if it were the next
// message: the prefix is in the prefix cache, and stays there for the next message. Only the title is stored, and every
// action of the user takes precedence.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/chat/library.h"
#include "engine/session/responder.h"

namespace warpchat {

class Titling {
 public:
  Titling(StateStore& state, Library& library) : state_(state), library_(library) {}

  // The conversation's prompt; replaces an earlier request.
  void want(ConversationId conversation, std::vector<Message> messages, AnswerOptions options);
  // Whether a requested title is missing because its request was stopped.
  bool owes(ConversationId conversation) const { return owed_.contains(conversation); }
  bool has_wish() const { return wish_.has_value(); }
  void forget() { wish_.reset(), owed_.clear(); }

  void begin(std::shared_ptr<Responder> responder);  // starts the request; only while nothing else is generated
  bool running() const { return generation_ != nullptr; }
  bool follow(std::chrono::milliseconds timeout);  // handles events within the timeout; true: the request has ended
  void stop();                                     // takes at most a token or a prefill pass

 private:
  struct Wish {
    ConversationId conversation;
    std::vector<Message> messages;
    AnswerOptions options;
  };
  bool on_event(const Event& event);
  void keep(const std::string& title) const;
  void end();
  void drop();

  StateStore& state_;
  Library& library_;
  std::optional<Wish> wish_;  // requested, or to be requested
  std::set<ConversationId> owed_;
  std::shared_ptr<Responder> responder_;  // outlives its generation
  std::unique_ptr<Generation> generation_;
  std::string answer_;
};

// Extracts the title of an answer: its first line with text, or the quoted part of it, without quotes, Markdown and
// "Title:". Empty: no title, for example more than 60 characters.
std::string title_of_answer(std::string_view answer);

}  // namespace warpchat
