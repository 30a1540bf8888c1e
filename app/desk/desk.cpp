// The controller's loop: handles actions and tasks, follows answers, polls the store. An action that changes a
// conversation first stops the answer that streams in it and keeps its text.
#include "app/desk/desk.h"

#include <algorithm>
#include <utility>

#include "app/desk/desk_parts.h"
#include "app/log.h"
#include "models/message.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kNow{0}, kBetweenEvents{20}, kBetweenAnswers{2};

template <class T, class... Kinds>
constexpr bool is_one_of = (std::is_same_v<T, Kinds> || ...);

}  // namespace

Desk::Parts::Parts(const ChatOptions& chat_options, std::shared_ptr<Responder> responder, std::function<void()> wake)
    : options(chat_options),
      first_responder(std::move(responder)),
      inbox(std::move(wake)),
      library(board),
      models(board, options,
             {[this](Task task) { inbox.post(std::move(task)); }, [this](Task task) { at_rest(std::move(task)); },
              [this] { model_has_settled(); }}),
      attachments(board, models, [this](Task task) { inbox.post(std::move(task)); }),
      titling(board, library),
      profile(
          board, [this](Task task) { inbox.post(std::move(task)); }, !chat_options.profile.empty()),
      hub([this](HubSearch found) {
        inbox.post(Task([this, found = std::move(found)] { board.change(updates::SetHub{found}); }));
      }) {
  library.when_store_is_left([this] {
    for (const auto& talk : talks) talk->branch.go_on_in_new_store();
  });
}

void Desk::Parts::begin() {
  if (std::exchange(has_begun, true)) return;
  if (!first_responder) models.load_first();  // in parallel with the rest
  look_for_choices();
  library.open(!options.no_history);
  show_new();
  if (first_responder) models.use(std::exchange(first_responder, nullptr));
}

void Desk::Parts::finish() {
  stop_title();
  for (const auto& talk : talks) talk->halt();
  while (any_runs()) follow_answers(kBetweenEvents);
}

void Desk::Parts::turn(std::chrono::milliseconds timeout) {
  begin();
  const bool waits =
      !any_runs() && !titling.running() && (deferred.empty() || !attachments.are_read()) && rest_tasks.empty();
  for (auto letter = inbox.take(waits ? timeout : kNow); letter; letter = inbox.take(kNow))
    carry_out(std::move(*letter));
  follow_answers(timeout);
  follow_title(any_runs() ? kNow : std::min(timeout, kBetweenEvents));
  profile.look_at_endpoint();
  carry_out_what_waited();
  is_outdated |= library.others_have_changed_it();
  const bool is_idle = talk().now().phase == AnswerPhase::kIdle;
  if (is_outdated && is_idle) {
    is_outdated = false;
    talk().branch.reload();
  }
  if (is_idle && inbox.empty()) measure_context();
  store_what_is_held();
  note_answering();
  begin_title();
}

void Desk::Parts::carry_out(Letter letter) {
  if (auto* task = std::get_if<Task>(&letter)) return (*task)();
  Action& action = std::get<Action>(letter);
  const bool wants_model = std::visit(
      []<class T>(const T&) {
        return is_one_of<T, Send, Regenerate, EditMessage, ContinueAnswer, LoadModel, UnloadModel, ChangeSettings,
                         WatchProfile>;
      },
      action);
  wants_model ? stop_title() : follow_title(kNow);
  const bool jumps_queue =
      std::visit([]<class T>(const T&) { return is_one_of<T, Stop, CancelLoading, DropAttachment>; }, action);
  if (!deferred.empty() && !jumps_queue) return deferred.push_back(std::move(action));
  bool is_in_the_way = std::holds_alternative<Send>(action) && !attachments.are_read();
  for (Talk* talk : in_the_way_of(action)) {
    talk->halt();
    is_in_the_way |= talk->answering.running();
  }
  if (is_in_the_way) return deferred.push_back(std::move(action));
  const bool looks_only = std::visit(
      []<class T>(const T&) {
        return is_one_of<T, CountTokens, Search, DismissNotice, RefreshModels, SearchHub, WatchProfile>;
      },
      action);
  if (board.now().refusal && !looks_only) board.change(updates::SetRefusal{});
  std::visit([this](auto& wish) { take(wish); }, action);
}

std::vector<Talk*> Desk::Parts::in_the_way_of(const Action& action) {
  std::vector<Talk*> found;
  std::visit(
      [&]<class T>(const T& wish) {
        if constexpr (is_one_of<T, ThrowAway, EraseForEver>)
          if (Talk* talk = held(wish.id)) found.push_back(talk);
        if constexpr (is_one_of<T, Send, Regenerate, EditMessage, ContinueAnswer, Undo, ShowVersion>)
          found.push_back(shown);
        if constexpr (is_one_of<T, UnloadModel>)
          for (const auto& talk : talks) found.push_back(talk.get());
      },
      action);
  return found;
}

bool Desk::Parts::busy() const {
  return any_runs() || models.is_loading() || !attachments.are_read() || !deferred.empty() || !rest_tasks.empty() ||
         !inbox.empty();
}

void Desk::Parts::at_rest(Task task) {
  if (any_runs()) return rest_tasks.push_back(std::move(task));
  stop_title();
  task();
}

// Each of these may start an answer.
void Desk::Parts::carry_out_what_waited() {
  while (!any_runs() && !rest_tasks.empty()) {
    stop_title();
    const Task task = std::move(rest_tasks.front());
    rest_tasks.pop_front();
    task();
  }
  std::deque<Action> actions = std::exchange(deferred, {});
  for (Action& action : actions) carry_out(std::move(action));
  begin_what_waited();
}

// --- Conversations ---

void Desk::Parts::show(std::unique_ptr<Talk> talk) {
  const ConversationId before = shown != nullptr ? shown->now().id : 0;
  if (shown != nullptr) {
    shown->stage.hide();
    drop_if_over(*shown);
  }
  shown = talk.get();
  talks.push_back(std::move(talk));
  shown->stage.show();
  attachments.change_conversation(before, shown->now().id);
  note_unread(shown->now().id, false);
}

void Desk::Parts::note_unread(ConversationId id, bool is_unread) {
  std::vector<ConversationId> ids = board.now().unread;
  std::erase(ids, id);
  if (is_unread && id != 0) ids.push_back(id);
  if (ids != board.now().unread) board.change(updates::SetUnread{std::move(ids)});
}

void Desk::Parts::show_new() {
  auto talk = std::make_unique<Talk>(board, library);
  talk->branch.start_new(options.system_prompt);
  if (models.responder()) talk->branch.set_model(models.responder()->facts().model);
  show(std::move(talk));
}

void Desk::Parts::show_stored(ConversationId id) {
  if (Talk* there = held(id); there != nullptr && there != shown) {
    const auto place = std::find_if(talks.begin(), talks.end(), [&](const auto& talk) { return talk.get() == there; });
    std::unique_ptr<Talk> talk = std::move(*place);
    talks.erase(place);
    return show(std::move(talk));
  }
  if (shown->now().id == id) return shown->is_over() ? shown->branch.open(id) : void();
  auto talk = std::make_unique<Talk>(board, library);
  talk->branch.open(id);
  if (models.responder()) talk->branch.set_model(models.responder()->facts().model);
  show(std::move(talk));
}

// A conversation that could not be stored is kept until it is.
void Desk::Parts::drop_if_over(const Talk& talk) {
  if (talk.is_over() && talk.branch.is_stored())
    std::erase_if(talks, [&](const auto& held) { return held.get() == &talk; });
}

void Desk::Parts::store_what_is_held() {
  if (talks.size() < 2 || !board.now().store_fault.empty()) return;
  for (size_t i = talks.size(); i-- > 0;) {
    Talk& talk = *talks[i];
    if (&talk == shown || !talk.is_over()) continue;
    talk.branch.keep_all();
    drop_if_over(talk);
  }
}

Talk* Desk::Parts::held(ConversationId id) {
  for (const auto& talk : talks)
    if (talk->now().id == id && id != 0) return talk.get();
  return nullptr;
}

std::string Desk::Parts::title_of(const Talk& talk) const {
  return talk.now().title.empty() ? "another conversation" : "'" + printable(talk.now().title, 60) + "'";
}

void Desk::Parts::note_answering() {
  std::vector<ConversationId> ids;
  for (const auto& talk : talks)
    if (talk.get() != shown && !talk->is_over()) ids.push_back(talk->now().id);
  if (ids != board.now().answering) board.change(updates::SetAnswering{std::move(ids)});
}

// --- Answers ---

bool Desk::Parts::any_runs() const {
  return std::any_of(talks.begin(), talks.end(), [](const auto& talk) { return talk->answering.running(); });
}

bool Desk::Parts::has_room() const {
  const std::shared_ptr<Responder> responder = models.responder();
  if (!responder || models.is_loading()) return false;
  const auto n = std::count_if(talks.begin(), talks.end(), [](const auto& talk) { return talk->answering.running(); });
  return static_cast<uint32_t>(n) < responder->facts().at_once;
}

bool Desk::Parts::ask(Talk& talk, const Question& question) {
  stop_title();
  if (!has_room()) {
    talk.wait(question);
    tell_waiting(talk);
    return true;
  }
  try {
    if (Model* model = models.model()) profile.begin_answer(*model);
    talk.ask(models.responder(), models.options_for(talk.now()), question);
    return true;
  } catch (const PromptTooLong& error) {
    refuse_for_length(error, talk, question);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return false;
}

void Desk::Parts::ask_user(const std::optional<Question>& question) {
  if (question) ask(talk(), *question);
}

void Desk::Parts::tell_waiting(const Talk& talk) {
  if (models.is_loading()) return;
  if (!models.responder()) return board.tell("no model is loaded; choose one to get your answer");
  for (const auto& other : talks)
    if (other.get() != &talk && other->answering.running())
      return board.tell(title_of(*other) + " is still being answered; yours follows");
}

void Desk::Parts::refuse(const std::string& reason) {
  board.change(updates::SetRefusal{RefusedPrompt{.reason = reason}});
  board.tell_error(reason);
}

// A failure is shown at the message, or with the title of a conversation that is not shown.
void Desk::Parts::refuse_for_length(const PromptTooLong& error, const Talk& talk, const Question& question) {
  if (&talk != shown) return board.tell_error(title_of(talk) + ": " + error.what());
  log_line("error: " + std::string(error.what()));
  board.change(updates::SetRefusal{RefusedPrompt{.reason = error.what(),
                                                 .tokens = error.tokens,
                                                 .context = error.context,
                                                 .larger_context = models.context_for(error.tokens),
                                                 .can_drop = error.can_drop,
                                                 .message = question.message,
                                                 .continues = question.continues}});
}

bool Desk::Parts::follow_answers(std::chrono::milliseconds timeout) {
  std::vector<Talk*> running;
  for (const auto& talk : talks)
    if (talk->answering.running()) running.push_back(talk.get());
  bool any = false;
  const std::chrono::milliseconds longest = running.size() == 1 ? std::min(timeout, kBetweenEvents) : kNow;
  for (Talk* talk : running) any |= talk->answering.follow(longest);
  if (!any && running.size() > 1) running.front()->answering.follow(std::min(timeout, kBetweenAnswers));
  for (Talk* talk : running) {
    if (!talk->answering.running()) answer_ended(*talk);
  }
  if (Model* model = models.model(); model != nullptr && any_runs()) profile.look(*model);
  return !running.empty();
}

void Desk::Parts::answer_ended(Talk& talk) {
  profile.keep(models.model(), talk.answering, talk.now().messages.back());
  if (Model* model = models.model()) profile.show(*model), models.show_status();
  want_title(talk);
  if (&talk == shown) return;
  note_unread(talk.now().id, true);
  if (talk.now().messages.back().status == MessageStatus::kComplete) board.tell(title_of(talk) + " has been answered");
  drop_if_over(talk);
}

void Desk::Parts::begin_what_waited() {
  for (size_t i = 0; i < talks.size(); ++i) {
    Talk& talk = *talks[i];
    if (!talk.waits()) continue;
    if (!has_room()) return;
    if (!ask(talk, talk.waiting())) talk.halt();
  }
}

// Counts the tokens of a conversation that was read from the store, when idle.
void Desk::Parts::measure_context() {
  const OpenConversation& open = talk().now();
  const std::shared_ptr<Responder> responder = models.responder();
  if (open.context_used != 0 || open.messages.empty() || !responder || any_runs() || titling.running()) return;
  const std::pair<uint64_t, const Responder*> what{open.messages.back().key, responder.get()};
  if (std::exchange(measured, what) == what) return;
  try {
    const auto tokens = responder->count(talk().branch.prompt(open.messages.size()), models.options_for(open));
    if (tokens) talk().stage.change(updates::SetContextUsed{*tokens});
  } catch (const PromptTooLong& error) {
    talk().stage.change(updates::SetContextUsed{error.tokens - 1});
  } catch (const std::exception&) {
    // Sending will report the reason.
  }
}

// After the first answer, or a later one if the title request was stopped by an action.
void Desk::Parts::want_title(const Talk& talk) {
  const OpenConversation& open = talk.now();
  if (!board.now().settings.titles || open.id == 0 || open.messages.back().status != MessageStatus::kComplete) return;
  if (open.messages.size() != 2 && !titling.owes(open.id)) return;
  if (open.title != title_of_message(open.messages.front())) return;  // set by the user, or by the model already
  AnswerOptions request = models.options_for(open);
  if (board.now().model && board.now().model->can_think) request.template_variables[kEnableThinking] = false;
  titling.want(open.id, talk.branch.prompt(open.messages.size()), std::move(request));
}

// With profiling on, the title's kernels would count for the answer.
void Desk::Parts::begin_title() {
  if (!titling.has_wish() || titling.running()) return;
  if (!board.now().settings.titles || profile.measures()) return titling.forget();
  const bool any_waits = std::any_of(talks.begin(), talks.end(), [](const auto& talk) { return !talk->is_over(); });
  if (any_waits || !deferred.empty() || !rest_tasks.empty() || !has_room()) return;
  titling.begin(models.responder());
}

void Desk::Parts::follow_title(std::chrono::milliseconds timeout) {
  if (!titling.follow(timeout)) return;
  forget_title_in_profile();
  for (const auto& talk : talks) talk->branch.follow_title();
}

// A title that is already complete is used.
void Desk::Parts::stop_title() {
  follow_title(kNow);
  if (!titling.running()) return;
  titling.stop();
  forget_title_in_profile();
}

// The title's tokens do not belong to the answer.
void Desk::Parts::forget_title_in_profile() {
  if (Model* model = models.model()) profile.begin_answer(*model);
}

// --- Models ---

void Desk::Parts::model_has_settled() {
  if (const std::shared_ptr<Responder> responder = models.responder())
    for (const auto& talk : talks) talk->branch.set_model(responder->facts().model);
  if (models.model() != nullptr) attachments.count();
  profile.begin(models.model(), models.endpoint());
  look_for_choices();
  begin_what_waited();
}

uint64_t Desk::Parts::memory_held() const {
  uint64_t held = 0;
  if (models.model() != nullptr)
    for (const MemoryUse& use : models.model()->decoder->steps().memory()) held += use.bytes;
  return held;
}

// The choices depend on free memory, so they are refreshed after each load.
void Desk::Parts::look_for_choices() {
  if (std::exchange(looks_for_choices, true)) return;
  choices.look({models.flags(), memory_held()}, [this](FoundChoices found) {
    inbox.post(Task([this, found = std::move(found)] {
      looks_for_choices = false;
      board.change(updates::SetModels{found.models});
      board.change(updates::SetDevices{found.devices});
    }));
  });
}

void Desk::Parts::forget_undo(ConversationId id) {
  const std::vector<NoticeItem> notices = board.now().notices;
  for (const NoticeItem& notice : notices)
    if (notice.restores == id) board.change(updates::DropNotice{notice.id});
}

// --- The controller ---

Desk::Desk(const ChatOptions& options, std::function<void()> wake)
    : parts_(std::make_unique<Parts>(options, nullptr, std::move(wake))) {}
Desk::Desk(const ChatOptions& options, std::shared_ptr<Responder> responder, std::function<void()> wake)
    : parts_(std::make_unique<Parts>(options, std::move(responder), std::move(wake))) {}
Desk::~Desk() { close(); }
void Desk::close() { parts_->finish(); }

void Desk::take(Action action) {
  parts_->begin();
  parts_->carry_out(std::move(action));
}
void Desk::post(Action action) { parts_->inbox.post(std::move(action)); }
void Desk::interrupt() {
  parts_->inbox.post(Task([] {}));
}
void Desk::turn(std::chrono::milliseconds timeout) { parts_->turn(timeout); }
bool Desk::read(const std::function<void(const ConversationStore&)>& look) {
  parts_->follow_title(kNow);
  return parts_->library.try_to(look);
}
const DeskState& Desk::now() const { return parts_->board.now(); }
std::vector<Update> Desk::take_updates() { return parts_->board.take_updates(); }
bool Desk::busy() const { return parts_->busy(); }
Model* Desk::model() const { return parts_->models.model(); }

}  // namespace warpchat
