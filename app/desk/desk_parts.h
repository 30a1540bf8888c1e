// The parts of the controller, the conversations it holds, and the order of its work.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/desk/attachments.h"
#include "app/desk/board.h"
#include "app/desk/choices.h"
#include "app/desk/desk.h"
#include "app/desk/hub_finder.h"
#include "app/desk/inbox.h"
#include "app/desk/library.h"
#include "app/desk/model_desk.h"
#include "app/desk/profile_watch.h"
#include "app/desk/talk.h"
#include "app/desk/titling.h"

namespace warpchat {

struct Desk::Parts {
  Parts(const ChatOptions& chat_options, std::shared_ptr<Responder> responder, std::function<void()> wake);

  // app/desk/desk.cpp
  void begin();   // once
  void finish();  // stops and stores the answers
  void turn(std::chrono::milliseconds timeout);
  void carry_out(Letter letter);
  bool busy() const;

  // Conversations.
  Talk& talk() { return *shown; }
  void show(std::unique_ptr<Talk> talk);  // replaces the shown one, which stays active while it has work
  void show_new();
  void show_stored(ConversationId id);  // Error
  void note_unread(ConversationId id, bool is_unread);
  void drop_if_over(const Talk& talk);
  void store_what_is_held();
  Talk* held(ConversationId id);  // null: not held
  std::string title_of(const Talk& talk) const;
  void note_answering();

  // Answers.
  bool has_room() const;  // to start one now
  bool any_runs() const;
  bool ask(Talk& talk, const Question& question);          // answered now or later; false: refused, and nothing changed
  void ask_user(const std::optional<Question>& question);  // in the conversation that is shown
  void tell_waiting(const Talk& talk);
  void refuse(const std::string& reason);
  void refuse_for_length(const PromptTooLong& error, const Talk& talk, const Question& question);
  bool follow_answers(std::chrono::milliseconds timeout);  // false: no answer runs
  void answer_ended(Talk& talk);
  void begin_what_waited();
  void measure_context();
  void want_title(const Talk& talk);
  void begin_title();
  void follow_title(std::chrono::milliseconds timeout);
  void stop_title();
  void forget_title_in_profile();

  // Actions and tasks that wait for the end of an answer.
  void at_rest(Task task);
  void carry_out_what_waited();
  std::vector<Talk*> in_the_way_of(const Action& action);

  void model_has_settled();
  void look_for_choices();
  uint64_t memory_held() const;  // bytes, by the loaded model
  void forget_undo(ConversationId id);

  // app/desk/desk_actions.cpp
  void take(Send& wish);
  void take(Stop& wish);
  void take(Regenerate& wish);
  void take(EditMessage& wish);
  void take(ContinueAnswer& wish);
  void take(DropOldest& wish);
  void take(Undo& wish);
  void take(ShowVersion& wish);
  void take(SetSystemPrompt& wish);
  void take(AttachFile& wish);
  void take(DropAttachment& wish);
  void take(CountTokens& wish);
  void take(NewConversation& wish);
  void take(OpenStored& wish);
  void take(Fork& wish);
  void take(Search& wish);
  void take(Rename& wish);
  void take(ThrowAway& wish);
  void take(TakeFromTrash& wish);
  void take(EraseForEver& wish);
  void take(ExportConversation& wish);
  void take(ImportConversation& wish);
  void take(RefreshModels& wish);
  void take(SearchHub& wish);
  void take(LoadModel& wish);
  void take(CancelLoading& wish);
  void take(UnloadModel& wish);
  void take(ChangeSettings& wish);
  void take(DismissNotice& wish);
  void take(WatchProfile& wish);
  void take(ExportProfile& wish);

  const ChatOptions options;
  std::shared_ptr<Responder> first_responder;  // null: load the model of the options
  Inbox inbox;
  Board board;
  Library library;
  ModelDesk models;
  Attachments attachments;
  Titling titling;
  ProfileWatch profile;
  ChoiceFinder choices;
  HubFinder hub;
  std::vector<std::unique_ptr<Talk>> talks;  // the shown one, and those with an answer that runs or waits
  Talk* shown = nullptr;
  bool has_begun = false, looks_for_choices = false;
  std::pair<uint64_t, const Responder*> measured;  // last message and responder of the last token count
  bool is_outdated = false;  // another program has changed the store since the conversation was read
  std::deque<Action> deferred;                     // until the answer has stopped
  std::deque<Task> rest_tasks;                     // until no answer runs
};

}  // namespace warpchat
