// The open conversation: the branch of its tree that is shown, and its way into the store. What could not be stored is
// kept and tried again with the next change.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/worker/board.h"
#include "app/gui/worker/library.h"
#include "engine/session/chat_session.h"
#include "engine/store/answer_writer.h"

namespace warpchat::gui {

class Branch {
 public:
  Branch(Board& board, Library& library);

  const OpenConversation& now() const { return board_.now().open; }
  const std::vector<ChatMessage>& messages() const { return now().messages; }
  std::optional<size_t> index_of(uint64_t message) const;

  void start_new(std::string system_prompt);
  void open(ConversationId id);
  // As the store has it, if everything here is stored. Messages that are the same stay the same.
  void reload();

  void add(const std::string& role, const std::string& text, const std::string& title);  // at the end
  void cut(size_t n_messages);  // shows the first ones; in the store the old branch is shown until something is added
  void show_version(uint64_t message, TurnId turn);
  void set_system_prompt(const std::string& text);
  void set_model(std::string path) { model_ = std::move(path); }  // that answers from now on

  // An answer that streams into the last message, as it grows.
  void answer_begins();
  void answer_grows();
  void answer_ends();
  void drop_answer();  // it has no text: shows the version before it, if there is one

  // For the model: neighbours of one role are joined, since templates want them to take turns.
  std::vector<Message> for_session() const;

 private:
  struct StreamedAnswer {
    uint64_t message;
    AnswerWriter writer;
    Message answer;  // once it has ended
    TurnState state;
  };
  void remember();
  OpenConversation read(const ConversationStore& store, ConversationId id);
  bool shows(const std::vector<ChatMessage>& stored) const;
  ChatMessage message_of(const ConversationStore& store, const Turn& turn);
  void keep_all();
  void keep_message(ConversationStore& store, size_t i);
  void keep_model(ConversationStore& store);
  void finish_answers();
  void show_turn(ConversationStore& store, uint64_t message, TurnId turn);
  void forget_if_erased();
  void forget_ids();
  void go_on_in_new_store();
  void follow_title();
  TurnId turn_before(size_t i) const;

  Board& board_;
  Library& library_;
  std::string model_;
  std::pair<ConversationId, std::string> described_;  // the store knows this model of this conversation
  std::map<TurnId, ChatMessage> seen_;  // of this conversation's branches, with what is known of their answers
  std::optional<StreamedAnswer> streamed_;
  bool keeps_streamed_ = true;             // false: its store has failed
  std::deque<StreamedAnswer> unfinished_;  // answers that have ended and are not wholly stored
};

}  // namespace warpchat::gui
