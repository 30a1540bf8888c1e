// What the terminal's conversation leaves in the store: each message before it is answered, each answer as it streams.
// A store that cannot be used never stops the conversation: the reason is told once, and nothing more is stored. One
// that turns out to be damaged is set aside, and the whole conversation goes into a new one.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/session/chat_session.h"
#include "engine/store/answer_writer.h"

namespace warpchat {

class ConversationRecord {
 public:
  explicit ConversationRecord(bool keeps);  // false: nothing is stored, as the user asked

  // What there is to tell since the last call: a store that was set aside, or that cannot be used; else empty.
  std::string take_notice() { return std::exchange(notice_, {}); }

  // The user's message below these, the first of the session's. title: what a new conversation is called.
  struct UserTurn {
    std::string text, title;
    std::span<const Message> before;
    std::string system_prompt, model;
  };
  void send(const UserTurn& turn);
  void regenerate(std::span<const Message> before);  // the answer to the last of these messages, again
  void answer_begins();                              // after send or regenerate, if the session took it
  void follow(const std::vector<Message>& messages, const std::optional<Event>& event);  // as the session gave it

  void undo(size_t n_messages);                                                       // that many are left
  void keep(size_t n_messages) { path_.resize(std::min(path_.size(), n_messages)); }  // the same, but on disk it stays
  void start_new();
  void go_on(ConversationId conversation, std::vector<TurnId> path);  // path: the turns of the session's messages

  ConversationStore& store();  // Error with the reason if nothing is stored
  bool keeps() const { return store_ != nullptr; }
  ConversationId conversation() const { return conversation_; }  // 0: nothing of it is stored yet
  TurnId last_turn() const { return last_of(path_); }            // of the session's messages; 0: none

 private:
  template <class Action>
  void guarded(const Action& action);
  void open();
  void begin_anew();
  void keep_all(std::span<const Message> messages);
  std::vector<TurnId> first_turns(size_t n) const;
  TurnId last_of(const std::vector<TurnId>& path) const { return path.empty() ? 0 : path.back(); }

  std::unique_ptr<ConversationStore> store_;
  std::string notice_, reason_;  // reason_: why there is no store
  ConversationId conversation_ = 0;
  std::vector<TurnId> path_;  // of the session's messages
  std::vector<TurnId> next_;  // the same, once the answer begins
  std::optional<AnswerWriter> writer_;
  std::string system_prompt_, model_;  // as last told
  bool is_answering_ = false;          // from answer_begins to the GenerationEnd
  bool has_text_ = false;              // the answer has begun; before, the template may have opened its thought
};

}  // namespace warpchat
