// The parts of the controller, the conversations it holds, and the order of its work.
#pragma once
#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/chat/active_chat.h"
#include "app/chat/attachments.h"
#include "app/chat/chat_controller.h"
#include "app/chat/choices.h"
#include "app/chat/endpoint_keeper.h"
#include "app/chat/hub_finder.h"
#include "app/chat/library.h"
#include "app/chat/model_controller.h"
#include "app/chat/profile_watch.h"
#include "app/chat/state/inbox.h"
#include "app/chat/state/state_store.h"
#include "app/chat/titling.h"
#include "app/chat/tool_controller.h"
#include "app/formats/transfer.h"
#include "app/settings/assistants.h"

namespace warpchat {

struct ChatController::Parts {
  Parts(const ChatOptions& chat_options, std::shared_ptr<Responder> responder, std::function<void()> wake);

  // app/chat/chat_controller.cpp
  void begin();   // once
  void finish();  // stops and stores the answers
  void turn(std::chrono::milliseconds timeout);
  void dispatch(OutgoingMessage message);
  bool busy() const;

  // Conversations.
  ActiveChat& shown_chat() { return *shown; }
  void show(std::unique_ptr<ActiveChat> chat);  // replaces the shown one, which stays active while it has work
  void show_new();
  void show_stored(ConversationId id);  // Error
  void note_unread(ConversationId id, bool is_unread);
  void drop_if_over(const ActiveChat& chat);
  void store_what_is_held();
  ActiveChat* held(ConversationId id);  // null: not held
  std::string title_of(const ActiveChat& chat) const;
  void note_answering();

  // Answers.
  bool has_room() const;  // to start one now
  bool any_runs() const;
  bool ask(ActiveChat& chat, const Question& question);    // answered now or later; false: refused, and nothing changed
  void ask_user(const std::optional<Question>& question);  // in the conversation that is shown
  void tell_waiting(const ActiveChat& chat);
  void refuse(const std::string& reason);
  void refuse_for_length(const PromptTooLong& error, const ActiveChat& chat, const Question& question);
  bool follow_answers(std::chrono::milliseconds timeout);  // false: no answer runs
  void answer_ended(ActiveChat& chat);
  void begin_what_waited();
  std::shared_ptr<Responder> responder_for(const ActiveChat& chat) const;  // with tools; null: no model is loaded
  void measure_context();
  void want_title(const ActiveChat& chat);
  void begin_title();
  void follow_title(std::chrono::milliseconds timeout);
  void stop_title();
  void forget_title_in_profile();

  // Actions and tasks that wait for the end of an answer.
  void at_rest(Task task);
  void dispatch_waiting();
  std::vector<ActiveChat*> conflicts_with(const Action& action);

  void model_has_settled();
  RememberedModel loaded_model() const;     // none: no model is loaded
  void load_chosen(const LoadModel& wish);  // by the user, for the open conversation
  void note_offer();
  std::optional<ModelOffer> model_to_offer(const RememberedModel& wanted, const RememberedModel& loaded) const;
  void look_for_choices();
  EndpointKeeper::Listeners endpoint_listeners();
  void show_endpoints();
  uint64_t memory_held() const;  // bytes, by the loaded model
  void forget_undo(ConversationId id);

  // app/chat/perform_actions.cpp
  void perform(Send& wish);
  void perform(Stop& wish);
  void perform(Regenerate& wish);
  void perform(EditMessage& wish);
  void perform(ContinueAnswer& wish);
  void perform(DropOldest& wish);
  void perform(Undo& wish);
  void perform(DeleteTurn& wish);
  void perform(ShowVersion& wish);
  void perform(SetSystemPrompt& wish);
  void perform(AttachFile& wish);
  void perform(DropAttachment& wish);
  void perform(CountTokens& wish);
  void perform(NewConversation& wish);
  void perform(OpenStored& wish);
  void perform(Fork& wish);
  void perform(Search& wish);
  void perform(Rename& wish);
  void perform(FileConversations& wish);
  void perform(ListConversations& wish);
  void perform(ThrowAway& wish);
  void perform(TakeFromTrash& wish);
  void perform(EraseForEver& wish);
  void remove_erased_text();
  void perform(ExportConversation& wish);
  void export_several(ExportConversation& wish);
  std::function<void(double)> progress_of(const std::string& path, bool is_export,
                                          const std::function<void(double)>& progress);
  void perform(ImportConversation& wish);
  void tell_imported(const Imported& imported, const std::string& file, bool is_done);
  void perform(StopImport& wish);
  void perform(TakeBackImport& wish);
  void perform(RefreshModels& wish);
  void perform(SearchHub& wish);
  void perform(ConnectServer& wish);
  void perform(RenameEndpoint& wish);
  void perform(SetDefaultModel& wish);
  void perform(RemoveEndpoint& wish);
  void perform(RemoveModel& wish);
  void perform(AddModelFolder& wish);
  void perform(LoadModel& wish);
  void perform(CancelLoading& wish);
  void perform(UnloadModel& wish);
  void perform(SetChoice& wish);
  void perform(SetAssistant& wish);
  void perform(ListAssistants& wish);
  void perform(SaveAssistant& wish);
  void perform(RemoveAssistant& wish);
  void perform(ImportAssistants& wish);
  void perform(ExportAssistant& wish);
  void list_assistants(const SaveAssistant& saved = {}, const std::string& fault = "");
  void follow_assistant(const std::string& from, const Assistant& assistant);
  void perform(ListPrompts& wish);
  void perform(SavePrompt& wish);
  void perform(RemovePrompt& wish);
  void perform(SetTitles& wish);
  template <class Body>
  void tell_errors(const Body& body) {
    try {
      body();
    } catch (const Error& error) {
      state.tell_error(error.what());
    }
  }
  void keep_in_settings_file(std::string_view key, const std::optional<nlohmann::ordered_json>& value);
  void perform(DecideCall& wish);
  void perform(ListTools& wish);
  void perform(SetToolPermission& wish);
  void perform(ReadToolServers& wish);
  void perform(AddToolServers& wish);
  void perform(OpenFolder& wish);
  void perform(DismissNotice& wish);
  void perform(WatchProfile& wish);
  void perform(ExportProfile& wish);

  const ChatOptions options;
  std::shared_ptr<Responder> first_responder;  // null: load the model of the options
  Inbox inbox;
  StateStore state;
  Library library;
  ModelController models;
  ToolController tools;
  Attachments attachments;
  Titling titling;
  ProfileWatch profile;
  ChoiceFinder choices;
  HubFinder hub;
  EndpointKeeper endpoints;
  std::vector<std::unique_ptr<ActiveChat>> chats;  // the shown one, and those with an answer that runs or waits
  ActiveChat* shown = nullptr;
  std::vector<ModelChoice> stored_endpoints;
  std::string choices_fault;                               // that was told
  std::function<bool()> is_ending = [] { return false; };  // of the program
  std::function<void()> publish = [] {};
  struct OfferQuestion {
    ConversationId conversation = 0;
    RememberedModel wanted, loaded;
    bool is_loading = false, is_chosen = false;
    bool operator==(const OfferQuestion&) const = default;
  };
  OfferQuestion offer_question;  // that the state's offer answers
  // What was loaded before the user chose a model in the shown conversation; nullopt: none was chosen there.
  std::optional<RememberedModel> loaded_before_choice;
  bool has_begun = false, looks_for_choices = false, choices_are_outdated = false;
  std::pair<uint64_t, const Responder*> measured;  // last message and responder of the last token count
  bool keeps_erased_text = false;                  // on the disk, of conversations that were erased
  bool is_outdated = false;     // another program has changed the store since the conversation was read
  std::deque<Action> deferred;  // until the answer has stopped
  std::deque<Task> rest_tasks;  // until no answer runs
};

}  // namespace warpchat
