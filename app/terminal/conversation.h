// The interactive conversation: the terminal's view of the chat controller. Lines become actions. The controller's
// updates are printed until it is idle; then the prompt returns, until the user leaves.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/chat/chat_controller.h"
#include "app/formats/found_files.h"
#include "app/formats/prompt_text.h"
#include "app/formats/prompts.h"
#include "app/platform/history.h"
#include "app/platform/signals.h"
#include "app/settings/chat_settings.h"
#include "app/settings/options.h"
#include "app/terminal/chat_printer.h"
#include "app/terminal/editor/prompt_reader.h"
#include "app/terminal/editor/slash_command.h"

namespace warpchat {

class Conversation {
 public:
  explicit Conversation(const ChatOptions& options);
  int run();  // the program's exit code

 private:
  bool take_turn();                         // false: the user leaves
  std::string usage() const;                // speed of the last answer, and what the context holds
  bool take_line(const std::string& line);  // false: the user leaves
  void drop_line(const PromptLine& line);   // by Ctrl-C, or without text
  bool run_slash(const SlashLine& line);    // false: the user leaves

  // Performs an action and shows its results. False: it failed, and the reason has been printed.
  bool act(Action action);
  bool follow();  // the same for actions that are already in progress
  void interrupt();
  const OpenConversation& open() const { return controller_.now().open; }
  const std::vector<ChatMessage>& messages() const { return open().messages; }
  const ChatMessage& last_of(const std::string& role) const;  // Error if there is none

  // For actions that start an answer. in_vain: the notice if the answer ends before its first word although there was
  // an answer before.
  // typed: the line that asked for it. If it is refused, Up recalls it, and a remedy such as /context offers it again.
  void answer(Action action, const std::string& typed, std::string_view in_vain = "");
  void offer_again();
  void tell_vain_answer(std::string_view in_vain);
  void send(const std::string& text);
  void offer_remedies(const RefusedPrompt& refusal);
  std::string larger_than_made_for(uint64_t tokens) const;
  void regenerate(const std::string& other);
  void regenerate_with(const std::optional<AnswerSettings>& settings);  // nullopt: as the next answers
  void go_on();
  void edit(const std::string& argument);
  void replace(uint64_t message, const std::string& text);
  std::vector<const ChatMessage*> questions() const;
  void undo();
  size_t message_numbered(const std::string& number) const;  // its place; Error if there is none
  void fork(const std::string& number);
  void cut(const std::string& number);
  void start_anew();
  void clear_screen() const;
  void read(const std::string& path);
  void read_all(const std::string& named, const FoundFiles& found);
  void tell_too_long() const;
  void list_files() const;
  void unread(const std::string& number);

  // app/terminal/conversation_copy.cpp
  void copy(const std::string& wanted);
  bool save_code(const std::string& wanted);  // false: it names no code block
  std::string code_of_last_answer(const std::string& number) const;

  // app/terminal/conversation_stored.cpp
  void save(const std::string& title);
  void list(const std::string& wanted);
  void search(const std::string& words);
  void number(std::vector<ConversationId> ids);                        // from now on, not as hits of a search
  bool look(const std::function<void(const ConversationStore&)>& at);  // false: the reason has been printed
  std::optional<ConversationId> listed(const std::string& wanted);
  std::vector<ConversationId> all_listed(const std::string& wanted);
  std::string titles_of(const std::vector<ConversationId>& ids);  // the only one's title, or their number
  void load(const std::string& wanted);
  std::optional<ConversationId> find_resumed(const std::string& wanted);  // nullopt: the store will say why
  void show_opened(const SearchHit& found = {});  // found: by a search, whose words are marked; else without a turn
  void tell_other_model();                        // if it differs from the current one
  void show_all();
  void show_end(const SearchHit& found = {});  // as much as the screen can show, and before it what was found earlier
  void show_found(const SearchHit& found, const AnswerLook& look, int rows);
  std::string with_marks(const std::string& laid_out) const;
  std::string shown(const ChatMessage& message, const AnswerLook& look) const;
  std::string model_line(size_t message) const;
  void throw_away(const std::string& wanted);
  void list_trash();
  void show_trashed(const std::string& numbers);
  void look_at_turns(ConversationId id, const std::function<void(const ChatMessage&)>& at);
  std::vector<ConversationSummary> trashed(const std::string& numbers);
  void take_from_trash(const std::string& numbers);
  void erase(const std::string& numbers);
  bool erase_one(ConversationId id);
  void versions(const std::string& number);
  ConversationTree shown_tree(const ConversationStore& store) const;
  void import_from(const std::string& path);
  void export_to(const std::string& argument);

  // app/terminal/conversation_completion.cpp
  std::vector<std::string> arguments(SlashArgument kind, std::string_view typed);
  std::vector<std::string> titles();
  enum class Names { kFolders, kTags };
  std::vector<std::string> names(Names which);
  std::vector<std::string> filters(std::string_view typed);

  // app/terminal/conversation_filing.cpp
  std::vector<ConversationSummary> wanted_ones(const std::string& wanted);  // empty text: the open one
  void pin(const std::string& wanted);
  void archive(const std::string& wanted);
  void move_to_folder(const std::string& wanted);
  void tag(const std::string& wanted);
  void list_names_of(Names which);

  // app/terminal/conversation_prompts.cpp
  static void list_prompts();
  void use_prompt(const std::string& wanted);  // a name and values
  std::optional<PromptValues> ask_for_values(const LibraryPrompt& prompt,
                                             PromptValues values);  // nullopt: the user leaves it
  void offer_prompt(const std::string& text);
  // nullopt: a message. offered: as offered_word_.
  static std::optional<SlashLine> parse_typed(const std::string& line, const std::string& offered);

  // app/terminal/conversation_tools.cpp
  bool decide_call();  // asks about a call that waits for it; false: none does, or the answer is stopped
  void tools(const std::string& wanted);
  void list_tools() const;
  void list_folders() const;
  void open_folder(const std::string& folder);

  // app/terminal/conversation_settings.cpp
  ChatSettings settings() const;
  void load_model(LoadModel wish);
  void tell_long_context() const;
  void tell_thinking() const;  // where it was asked for in vain
  void change_model(const std::string& name);
  void show_models() const;
  void show_devices() const;
  void change_device(const std::string& name);
  void change_launch(const std::string& mode);
  void change_context(const std::string& tokens);
  void trim(const std::string& onoff);
  void set(const std::string& argument);
  void change_assistant(const std::string& name);
  void save_assistant_as(const std::string& name);
  void config(const std::string& argument);
  void follow_kept(const SettingsKey& key, const nlohmann::ordered_json& value);
  void keep_look(const ChatSettings& changed);
  AnswerSettings settings_for_once(const std::string& changes) const;
  void show();
  void perf(const std::string& wanted);
  void compare(const std::string& numbers) const;
  void watch_profile();
  std::string timings() const;  // of the last answer
  std::string load_report();

  ChatOptions options_;
  ChatSettings look_;  // settings of the terminal alone; the controller has the rest
  ChatPrinter printer_{look_};
  ChatController controller_;
  std::optional<NotedInterrupts> noted_interrupts_;  // Ctrl-C never ends the conversation
  std::string status_;                  // the model's status as printed last: an answer may change the launch mode
  std::string prefilled_;               // what the next prompt starts with
  std::string refused_;                 // the last line that was refused, for the prompt after a remedy
  std::string offered_word_;            // of a prompt that was offered, with a slash: it is no command; empty: none
  uint64_t editing_ = 0;                // key of the message that the next line replaces; 0: none
  bool loading_stopped_ = false;        // by Ctrl-C
  uint64_t assistant_request_ = 0;      // the last SaveAssistant
  bool measures_ = false;               // the user has asked for kernel times
  std::vector<ConversationId> listed_;  // by the numbers that /list or /search showed last
  SearchResults searched_;              // of that search, all pages; without words: it was no search
  std::string marked_;                  // words that are marked in the open conversation; empty: none
  std::vector<ConversationId> trash_;   // by those of /trash
  std::vector<TurnId> versions_;        // by those of /versions
  History history_;
  Terminal terminal_;
  PromptReader reader_;
};

// "SmolLM2-135M-Instruct.Q4_1, 95 MB, cpu: 2 threads, context 2,048"
std::string describe(const LoadedModel& model);

}  // namespace warpchat
