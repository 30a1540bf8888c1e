// The interactive conversation: a prompt, answers, slash commands, until the user leaves.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "app/answer_stream.h"
#include "app/chat_settings.h"
#include "app/conversation_record.h"
#include "app/options.h"
#include "app/signals.h"
#include "app/terminal/history.h"
#include "app/terminal/prompt_reader.h"
#include "app/terminal/slash_command.h"
#include "engine/session/chat_session.h"

namespace warpchat {

class Conversation {
 public:
  Conversation(const ChatOptions& options, std::unique_ptr<Model> model, ChatSettings settings);
  int run();  // the program's exit code

 private:
  bool take_turn();                         // false: the user leaves
  bool take_line(const std::string& line);  // false: the user leaves
  bool run_slash(const SlashLine& line);    // likewise
  void tell_notices();
  size_t last_user_message() const;  // its index; Error if there is none
  void answer(const std::function<void()>& start);
  void send(const std::string& text);
  void record(const std::string& text, const std::string& typed, size_t n_before);  // before it is sent
  void regenerate();
  bool take_back(size_t n_messages);  // the message after these, if nothing answered it
  void edit(const std::string& text);
  void undo();
  void start_anew();
  void start_on_a_clear_screen();

  // app/conversation_stored.cpp
  void save(const std::string& title);
  void list(const std::string& count);
  void search(const std::string& words);
  ConversationId listed(const std::string& wanted);
  void load(const std::string& wanted);
  void restore(const StoredConversation& stored);
  void take_over(const StoredConversation& stored);
  void show_last() const;
  void throw_away(const std::string& wanted);
  void list_trash();
  ConversationSummary trashed(const std::string& number);
  void take_from_trash(const std::string& number);
  void erase(const std::string& number);

  // app/conversation_versions.cpp
  ConversationTree tree();
  void versions(const std::string& number);
  void import_from(const std::string& path);
  void export_to(const std::string& path);

  void read(const std::string& path);

  // app/conversation_settings.cpp
  void change_model(const std::string& name);
  void show_models() const;
  void set(const std::string& argument);
  void show() const;
  void perf(const std::string& onoff);

  NotedInterrupts noted_interrupts_;  // Ctrl-C never ends the conversation
  ChatOptions options_;
  ChatSettings settings_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ChatSession> session_;
  std::string status_;  // of the model, as said last: answers may settle how it is launched
  std::optional<Timings> last_timings_;
  std::string attached_;   // files that go before the next message
  std::string prefilled_;  // what the next prompt starts with
  bool editing_ = false;   // the next line replaces the last message
  bool measures_ = false;  // somebody has asked for what kernels take
  ConversationRecord record_;
  std::vector<ConversationId> listed_;  // by the numbers that /list or /search showed last
  std::vector<ConversationId> trash_;   // by those of /trash
  std::vector<TurnId> versions_;        // by those of /versions
  History history_;
  Terminal terminal_;
  PromptReader reader_;
};

}  // namespace warpchat
