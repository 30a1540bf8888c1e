// The shown branch of a conversation's tree, and its storage. What could not be stored is kept and tried again with the
// next change.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/chat/conversation_slot.h"
#include "app/chat/library.h"
#include "engine/store/answer_writer.h"

namespace warpchat {

class Branch {
 public:
  Branch(StateStore& state, Library& library, ConversationSlot& slot) : state_(state), library_(library), slot_(slot) {}

  const OpenConversation& now() const { return slot_.now(); }
  const std::vector<ChatMessage>& messages() const { return now().messages; }
  std::optional<size_t> index_of(uint64_t message) const;

  void start_new(std::string system_prompt, std::string assistant, const AnswerChoices& assistant_choices);
  void open(ConversationId id);  // Error
  // Reads the conversation again from the store if everything is stored. Unchanged messages keep their keys.
  void reload();
  void go_on_in_new_store();  // the store is new: it does not have this conversation

  void add(Message message, const std::string& title);  // at the end
  // Shows the first n messages; the store keeps the old branch until something is added. put_back() restores the rest,
  // until the new answer has its first text.
  void cut(size_t n_messages);
  void put_back();
  bool can_put_back() const { return replaced_.has_value(); }
  void keep_cut() { replaced_.reset(); }  // drops what put_back() would restore
  void undo(size_t n_messages);           // shows the first n messages, in the store, too
  // Takes messages out, in the store, too; those behind follow the ones before. The old branch stays a version. False:
  // it is not stored, and nothing has changed.
  bool remove(size_t begin, size_t end);
  void show_version(uint64_t message, TurnId turn);
  TurnId last_turn() const { return turn_before(messages().size()); }  // that is stored; 0: none
  void set_system_prompt(const std::string& text);
  void set_choices(const AnswerChoices& choices);
  void set_assistant(const std::string& name, const AnswerChoices& choices);
  void drop_oldest(bool on);
  // Stores what is not stored yet. patience: with another program that holds the store.
  void keep_all(std::chrono::milliseconds patience = Database::kPatience);
  bool is_stored() const;
  void follow_title();                                                  // takes the title from the list after a rename
  void set_model(RememberedModel model) { model_ = std::move(model); }  // that answers from now on; none: not known

  // An answer that streams into the last message.
  void answer_begins();
  void answer_grows();
  void answer_is_reclassified();  // updates::Reclassify
  void answer_ends();
  void drop_answer();  // it has no text: shows the previous answer again, or the failure alone

  // The first n messages as a prompt.
  std::vector<Message> prompt(size_t n_messages) const;
  ConversationTree tree(size_t n_messages) const;  // of the first messages, as a conversation of its own

 private:
  struct StreamedAnswer {
    uint64_t message;
    AnswerWriter writer;
    Message answer = {};  // once it has ended
    TurnState state = TurnState::kComplete;
  };
  struct Replaced {
    size_t begin;
    std::vector<ChatMessage> messages;
  };
  void remember();
  void use_loaded_model();
  void keep_settings();
  OpenConversation read(const ConversationStore& store, ConversationId id);
  bool shows(const std::vector<ChatMessage>& stored) const;
  ChatMessage message_of(const ConversationStore& store, const Turn& turn);
  ChatMessage failed_answer(const std::string& failure);
  void note_failure(const std::string& failure);
  void keep_message(ConversationStore& store, size_t i);
  void keep_model(ConversationStore& store);
  void finish_answers();
  void try_again();
  void show_turn(ConversationStore& store, uint64_t message, TurnId turn);
  void leave_trash();
  void show_in_store();
  void forget_if_erased();
  void forget_ids();
  TurnId turn_before(size_t i) const;

  StateStore& state_;
  Library& library_;
  ConversationSlot& slot_;
  RememberedModel model_;
  std::pair<ConversationId, std::string> described_;  // the conversation and model that were stored last
  std::map<TurnId, ChatMessage> seen_;  // messages of this conversation's branches, with their answers' measurements
  std::optional<Replaced> replaced_;
  std::optional<StreamedAnswer> streamed_;
  bool keeps_streamed_ = true;  // false: its store has failed, and is tried again at this time
  AnswerWriter::Clock::time_point next_try_;
  std::deque<StreamedAnswer> unfinished_;  // answers that have ended and are not wholly stored
};

}  // namespace warpchat
