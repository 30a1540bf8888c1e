// The controller's loop: handles actions and tasks, follows answers, polls the store. An action that changes a
// conversation first stops the answer that streams in it and keeps its text.
#include "app/chat/chat_controller.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/chat/chat_controller_parts.h"
#include "app/model_choice/model_lookup.h"
#include "app/platform/log.h"
#include "engine/http/http_url.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr const char* kChoices = "choices";  // what errors of looking for them are about
constexpr std::chrono::milliseconds kNow{0}, kBetweenEvents{20}, kBetweenAnswers{2};

template <class T, class... Kinds>
constexpr bool is_one_of = (std::is_same_v<T, Kinds> || ...);

bool asks_model(const Action& action) {
  return std::visit([]<class T>(const T&) { return is_one_of<T, Send, Regenerate, EditMessage, ContinueAnswer>; },
                    action);
}

}  // namespace

ChatController::Parts::Parts(const ChatOptions& chat_options, std::shared_ptr<Responder> responder,
                             std::function<void()> wake)
    : options(chat_options),
      first_responder(std::move(responder)),
      inbox(std::move(wake)),
      library(state),
      models(state, options,
             {[this](Task task) { inbox.post(std::move(task)); }, [this](Task task) { at_rest(std::move(task)); },
              [this] { model_has_settled(); },
              [this](const std::string& endpoint, const std::vector<RemoteModel>& served) {
                state.change(updates::SetServed{
                    {.request = state.now().served.request, .endpoint = endpoint, .models = choices_of(served)}});
                show_endpoints();
              }}),
      tools(state, [this](Task task) { inbox.post(std::move(task)); }),
      attachments(state, models, [this](Task task) { inbox.post(std::move(task)); }),
      titling(state, library),
      profile(
          state, [this](Task task) { inbox.post(std::move(task)); }, !chat_options.profile.empty()),
      hub([this](HubSearch found) {
        inbox.post(Task([this, found = std::move(found)] { state.change(updates::SetHub{found}); }));
      }),
      endpoints(endpoint_listeners()) {
  library.when_store_is_left([this] {
    for (const auto& chat : chats) chat->branch.go_on_in_new_store();
  });
}

void ChatController::Parts::begin() {
  if (std::exchange(has_begun, true)) return;
  if (!first_responder) models.load_first();  // in parallel with the rest
  tools.begin(options);
  look_for_choices();
  endpoints.post(ListEndpoints{});
  library.open(!options.no_history);
  show_new();
  if (first_responder) models.use(std::exchange(first_responder, nullptr));
}

void ChatController::Parts::finish() {
  stop_title();
  for (const auto& chat : chats) chat->halt();
  while (any_runs()) follow_answers(kBetweenEvents);
  remove_erased_text();
}

void ChatController::Parts::turn(std::chrono::milliseconds timeout) {
  begin();
  const bool is_preparing = !attachments.are_read() || tools.is_opening();
  const bool waits = !any_runs() && !titling.running() && (deferred.empty() || is_preparing) && rest_tasks.empty() &&
                     !keeps_erased_text;
  for (auto message = inbox.pop(waits ? timeout : kNow); message; message = inbox.pop(kNow))
    dispatch(std::move(*message));
  follow_answers(timeout);
  follow_title(any_runs() ? kNow : std::min(timeout, kBetweenEvents));
  profile.look_at_endpoint();
  dispatch_waiting();
  remove_erased_text();
  is_outdated |= library.others_have_changed_it();
  const bool is_idle = shown_chat().now().phase == AnswerPhase::kIdle;
  if (is_outdated && is_idle) {
    is_outdated = false;
    shown_chat().branch.reload();
  }
  if (is_idle && inbox.empty()) measure_context();
  store_what_is_held();
  note_answering();
  note_offer();
  begin_title();
}

void ChatController::Parts::dispatch(OutgoingMessage message) {
  if (auto* task = std::get_if<Task>(&message)) return (*task)();
  Action& action = std::get<Action>(message);
  const bool wants_model = std::visit(
      []<class T>(const T&) {
        return is_one_of<T, Send, Regenerate, EditMessage, ContinueAnswer, LoadModel, UnloadModel, SetChoice,
                         WatchProfile>;
      },
      action);
  wants_model ? stop_title() : follow_title(kNow);
  const bool jumps_queue = std::visit(
      []<class T>(const T&) { return is_one_of<T, Stop, StopImport, CancelLoading, DropAttachment, DecideCall>; },
      action);
  if (!deferred.empty() && !jumps_queue) return deferred.push_back(std::move(action));
  bool is_in_the_way = std::holds_alternative<Send>(action) && !attachments.are_read();
  if (asks_model(action)) {
    tools.follow_servers();
    is_in_the_way |= tools.is_opening();
  }
  for (ActiveChat* chat : conflicts_with(action)) {
    chat->halt();
    is_in_the_way |= chat->answering.running();
  }
  if (is_in_the_way) return deferred.push_back(std::move(action));
  const bool looks_only = std::visit(
      []<class T>(const T&) {
        return is_one_of<T, CountTokens, Search, FileConversations, ListConversations, DismissNotice, RefreshModels,
                         SearchHub, ConnectServer, RenameEndpoint, SetDefaultModel, RemoveEndpoint, RemoveModel,
                         AddModelFolder, ListPrompts, SavePrompt, RemovePrompt, ListAssistants, SaveAssistant,
                         ExportAssistant, DecideCall, ListTools, SetToolPermission, ReadToolServers, AddToolServers,
                         OpenFolder, WatchProfile>;
      },
      action);
  if (state.now().refusal && !looks_only) state.change(updates::SetRefusal{});
  std::visit([this](auto& wish) { perform(wish); }, action);
  note_offer();
}

std::vector<ActiveChat*> ChatController::Parts::conflicts_with(const Action& action) {
  std::vector<ActiveChat*> found;
  std::visit(
      [&]<class T>(const T& wish) {
        if constexpr (is_one_of<T, EraseForEver>)
          if (ActiveChat* chat = held(wish.id)) found.push_back(chat);
        if constexpr (is_one_of<T, ThrowAway>)
          for (const ConversationId id : wish.ids)
            if (ActiveChat* chat = held(id)) found.push_back(chat);
        if constexpr (is_one_of<T, TakeBackImport>)
          for (const ConversationId id : wish.conversations)
            if (ActiveChat* chat = held(id)) found.push_back(chat);
        if constexpr (is_one_of<T, Send, Regenerate, EditMessage, ContinueAnswer, Undo, DeleteTurn, ShowVersion>)
          found.push_back(shown);
        if constexpr (is_one_of<T, UnloadModel>)
          for (const auto& chat : chats) found.push_back(chat.get());
      },
      action);
  return found;
}

bool ChatController::Parts::busy() const {
  return any_runs() || models.is_loading() || tools.is_opening() || !attachments.are_read() || !deferred.empty() ||
         !rest_tasks.empty() || !inbox.empty() || keeps_erased_text;
}

void ChatController::Parts::at_rest(Task task) {
  if (any_runs()) return rest_tasks.push_back(std::move(task));
  stop_title();
  task();
}

// Each of these may start an answer.
void ChatController::Parts::dispatch_waiting() {
  while (!any_runs() && !rest_tasks.empty()) {
    stop_title();
    const Task task = std::move(rest_tasks.front());
    rest_tasks.pop_front();
    task();
  }
  std::deque<Action> actions = std::exchange(deferred, {});
  for (Action& action : actions) dispatch(std::move(action));
  begin_what_waited();
}

// --- Conversations ---

void ChatController::Parts::show(std::unique_ptr<ActiveChat> chat) {
  const ConversationId before = shown != nullptr ? shown->now().id : 0;
  if (shown != nullptr) {
    shown->slot.hide();
    drop_if_over(*shown);
  }
  shown = chat.get();
  loaded_before_choice.reset();
  chats.push_back(std::move(chat));
  shown->slot.show();
  attachments.change_conversation(before, shown->now().id);
  tools.show(shown->approval);
  note_unread(shown->now().id, false);
}

void ChatController::Parts::note_unread(ConversationId id, bool is_unread) {
  std::vector<ConversationId> ids = state.now().unread;
  std::erase(ids, id);
  if (is_unread && id != 0) ids.push_back(id);
  if (ids != state.now().unread) state.change(updates::SetUnread{std::move(ids)});
}

void ChatController::Parts::show_new() {
  auto chat = std::make_unique<ActiveChat>(state, library, tools.approval_of(0));
  const DefaultAssistant& assistant = state.now().default_assistant;
  chat->branch.start_new(assistant.system_prompt.value_or(state.now().default_system_prompt), assistant.name,
                         assistant.choices);
  chat->branch.set_model(loaded_model());
  show(std::move(chat));
}

void ChatController::Parts::show_stored(ConversationId id) {
  if (ActiveChat* there = held(id); there != nullptr && there != shown) {
    const auto place = std::find_if(chats.begin(), chats.end(), [&](const auto& chat) { return chat.get() == there; });
    std::unique_ptr<ActiveChat> chat = std::move(*place);
    chats.erase(place);
    return show(std::move(chat));
  }
  if (shown->now().id == id) return shown->is_over() ? shown->branch.open(id) : void();
  auto chat = std::make_unique<ActiveChat>(state, library, tools.approval_of(id));
  chat->branch.open(id);
  chat->branch.set_model(loaded_model());
  show(std::move(chat));
}

// A conversation that could not be stored is kept until it is.
void ChatController::Parts::drop_if_over(const ActiveChat& chat) {
  if (!chat.is_over() || !chat.branch.is_stored()) return;
  tools.keep(chat.now().id, chat.approval);
  std::erase_if(chats, [&](const auto& held) { return held.get() == &chat; });
}

void ChatController::Parts::store_what_is_held() {
  if (chats.size() < 2 || !state.now().store_fault.empty()) return;
  for (size_t i = chats.size(); i-- > 0;) {
    ActiveChat& chat = *chats[i];
    if (&chat == shown || !chat.is_over()) continue;
    chat.branch.keep_all();
    drop_if_over(chat);
  }
}

ActiveChat* ChatController::Parts::held(ConversationId id) {
  for (const auto& chat : chats)
    if (chat->now().id == id && id != 0) return chat.get();
  return nullptr;
}

std::string ChatController::Parts::title_of(const ActiveChat& chat) const {
  return chat.now().title.empty() ? "another conversation" : "'" + printable(chat.now().title, 60) + "'";
}

void ChatController::Parts::note_answering() {
  std::vector<ConversationId> ids;
  for (const auto& chat : chats)
    if (chat.get() != shown && !chat->is_over()) ids.push_back(chat->now().id);
  if (ids != state.now().answering) state.change(updates::SetAnswering{std::move(ids)});
}

// --- Answers ---

bool ChatController::Parts::any_runs() const {
  return std::any_of(chats.begin(), chats.end(), [](const auto& chat) { return chat->answering.running(); });
}

bool ChatController::Parts::has_room() const {
  const std::shared_ptr<Responder> responder = models.responder();
  if (!responder || models.is_loading()) return false;
  const auto n = std::count_if(chats.begin(), chats.end(), [](const auto& chat) { return chat->answering.running(); });
  return static_cast<uint32_t>(n) < responder->facts().at_once;
}

bool ChatController::Parts::ask(ActiveChat& chat, const Question& question) {
  stop_title();
  if (!has_room()) {
    chat.wait(question);
    tell_waiting(chat);
    return true;
  }
  try {
    if (Model* model = models.model()) profile.begin_answer(*model);
    chat.ask(responder_for(chat),
             models.options_for(chat.now(), question.settings.value_or(answer_settings(state.now(), chat.now()))),
             question);
    return true;
  } catch (const PromptTooLong& error) {
    refuse_for_length(error, chat, question);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return false;
}

void ChatController::Parts::ask_user(const std::optional<Question>& question) {
  if (question) ask(shown_chat(), *question);
}

void ChatController::Parts::tell_waiting(const ActiveChat& chat) {
  if (models.is_loading()) return;
  if (!models.responder()) return state.tell("no model is loaded; choose one to get your answer");
  for (const auto& other : chats)
    if (other.get() != &chat && other->answering.running())
      return state.tell(title_of(*other) + " is still being answered; yours follows");
}

void ChatController::Parts::refuse(const std::string& reason) {
  state.change(updates::SetRefusal{RefusedPrompt{.reason = reason}});
  state.tell_error(reason);
}

// A failure is shown at the message, or with the title of a conversation that is not shown.
void ChatController::Parts::refuse_for_length(const PromptTooLong& error, const ActiveChat& chat,
                                              const Question& question) {
  if (&chat != shown) return state.tell_error(title_of(chat) + ": " + error.what());
  log_line("error: " + std::string(error.what()));
  state.change(updates::SetRefusal{RefusedPrompt{.reason = error.what(),
                                                 .tokens = error.tokens,
                                                 .context = error.context,
                                                 .larger_context = models.context_for(error.tokens),
                                                 .can_drop = error.can_drop,
                                                 .message = question.message,
                                                 .continues = question.continues}});
}

bool ChatController::Parts::follow_answers(std::chrono::milliseconds timeout) {
  std::vector<ActiveChat*> running;
  for (const auto& chat : chats)
    if (chat->answering.running()) running.push_back(chat.get());
  bool any = false;
  const std::chrono::milliseconds longest = running.size() == 1 ? std::min(timeout, kBetweenEvents) : kNow;
  for (ActiveChat* chat : running) any |= chat->answering.follow(longest);
  if (!any && running.size() > 1) running.front()->answering.follow(std::min(timeout, kBetweenAnswers));
  for (ActiveChat* chat : running) {
    if (!chat->answering.running()) answer_ended(*chat);
  }
  if (Model* model = models.model(); model != nullptr && any_runs()) profile.look(*model);
  return !running.empty();
}

void ChatController::Parts::answer_ended(ActiveChat& chat) {
  profile.keep(models.model(), chat.answering, chat.now().messages.back(), models.holds_answers());
  if (Model* model = models.model()) profile.show(*model), models.show_status();
  want_title(chat);
  if (&chat == shown) return;
  note_unread(chat.now().id, true);
  if (chat.now().messages.back().status == MessageStatus::kComplete) state.tell(title_of(chat) + " has been answered");
  drop_if_over(chat);
}

void ChatController::Parts::begin_what_waited() {
  for (size_t i = 0; i < chats.size(); ++i) {
    ActiveChat& chat = *chats[i];
    if (!chat.waits()) continue;
    if (!has_room()) return;
    if (!ask(chat, chat.waiting())) chat.halt();
  }
}

std::shared_ptr<Responder> ChatController::Parts::responder_for(const ActiveChat& chat) const {
  return tools.answers_of(models.responder(), chat.approval);
}

// Counts the tokens of a conversation that was read from the store, when idle.
void ChatController::Parts::measure_context() {
  const OpenConversation& open = shown_chat().now();
  const std::shared_ptr<Responder> responder = responder_for(shown_chat());
  if (open.context_used != 0 || open.messages.empty() || !responder || any_runs() || titling.running()) return;
  const std::pair<uint64_t, const Responder*> what{open.messages.back().key, models.responder().get()};
  if (std::exchange(measured, what) == what) return;
  try {
    const auto tokens = responder->count(shown_chat().branch.prompt(open.messages.size()),
                                         models.options_for(open, answer_settings(state.now(), open)));
    if (tokens) shown_chat().slot.change(updates::SetContextUsed{*tokens});
  } catch (const PromptTooLong& error) {
    shown_chat().slot.change(updates::SetContextUsed{error.tokens - 1});
  } catch (const std::exception&) {
    // Sending will report the reason.
  }
}

// After the first answer, or a later one if the title request was stopped by an action.
void ChatController::Parts::want_title(const ActiveChat& chat) {
  const OpenConversation& open = chat.now();
  if (!state.now().titles || open.id == 0 || open.messages.back().status != MessageStatus::kComplete) return;
  if (open.messages.size() != 2 && !titling.owes(open.id)) return;
  if (open.title != title_of_message(open.messages.front())) return;  // set by the user, or by the model already
  AnswerOptions request = models.options_for(open, answer_settings(state.now(), open));
  if (state.now().model && state.now().model->can_think) request.template_variables[kEnableThinking] = false;
  tools.add_to(request, models.responder().get());  // so that the prompt begins as the conversation's does
  titling.want(open.id, chat.branch.prompt(open.messages.size()), std::move(request));
}

// With profiling on, the title's kernels would count for the answer.
void ChatController::Parts::begin_title() {
  if (!titling.has_wish() || titling.running()) return;
  if (!state.now().titles || profile.measures()) return titling.forget();
  const bool any_waits = std::any_of(chats.begin(), chats.end(), [](const auto& chat) { return !chat->is_over(); });
  if (any_waits || !deferred.empty() || !rest_tasks.empty() || !has_room()) return;
  titling.begin(models.responder());
}

void ChatController::Parts::follow_title(std::chrono::milliseconds timeout) {
  if (!titling.follow(timeout)) return;
  forget_title_in_profile();
  for (const auto& chat : chats) chat->branch.follow_title();
}

// A title that is already complete is used.
void ChatController::Parts::stop_title() {
  follow_title(kNow);
  if (!titling.running()) return;
  titling.stop();
  forget_title_in_profile();
}

// The title's tokens do not belong to the answer.
void ChatController::Parts::forget_title_in_profile() {
  if (Model* model = models.model()) profile.begin_answer(*model);
}

// --- Models ---

void ChatController::Parts::model_has_settled() {
  for (const auto& chat : chats) chat->branch.set_model(loaded_model());
  if (models.model() != nullptr) attachments.count();
  if (const std::shared_ptr<Responder> responder = models.responder()) tools.tell_if_useless(responder->facts());
  profile.begin(models.model(), models.endpoint());
  show_endpoints();
  look_for_choices();
  begin_what_waited();
}

RememberedModel ChatController::Parts::loaded_model() const {
  const std::shared_ptr<Responder> responder = models.responder();
  if (!responder) return {};
  const ResponderFacts facts = responder->facts();
  return {facts.model, facts.endpoint};
}

void ChatController::Parts::load_chosen(const LoadModel& wish) {
  if (!wish.path.empty() || !wish.endpoint.empty()) loaded_before_choice = loaded_model();
  models.load(wish);
}

// Asks the disk only when something has changed. A model that was chosen in the open conversation needs no offer of the
// one before it.
void ChatController::Parts::note_offer() {
  OfferQuestion question{shown_chat().now().id, shown_chat().now().model, loaded_model(), models.is_loading()};
  question.is_chosen =
      loaded_before_choice && !question.loaded.model.empty() && question.loaded != *loaded_before_choice;
  if (question == std::exchange(offer_question, question)) return;
  std::optional<ModelOffer> offer = model_to_offer(question.wanted, question.loaded);
  if (question.is_loading || question.is_chosen) offer.reset();
  if (offer != state.now().offer) state.change(updates::SetOffer{std::move(offer)});
}

// Nothing for the name of a model that another program had.
std::optional<ModelOffer> ChatController::Parts::model_to_offer(const RememberedModel& wanted,
                                                                const RememberedModel& loaded) const {
  if (wanted == loaded || (wanted.endpoint.empty() && !wanted.is_file())) return std::nullopt;
  ModelOffer offer{shown_name(wanted.model), wanted.model, wanted.endpoint};
  if (!wanted.is_file()) {
    const auto named = std::ranges::find(stored_endpoints, wanted.endpoint, &ModelChoice::about);
    if (named != stored_endpoints.end()) offer.endpoint = named->path;
    return offer;
  }
  std::error_code error;
  if (loaded.is_file() && std::filesystem::equivalent(wanted.model, loaded.model, error)) return std::nullopt;
  offer.is_gone = !std::filesystem::is_regular_file(wanted.model, error);
  return offer;
}

uint64_t ChatController::Parts::memory_held() const {
  uint64_t held = 0;
  if (models.model() != nullptr)
    for (const MemoryUse& use : models.model()->decoder->steps().memory()) held += use.bytes;
  return held;
}

// The choices depend on free memory, so they are refreshed after each load.
void ChatController::Parts::look_for_choices() {
  if (std::exchange(looks_for_choices, true)) return void(choices_are_outdated = true);
  choices.look({models.flags(), memory_held()}, [this](FoundChoices found) {
    inbox.post(Task([this, found = std::move(found)] {
      looks_for_choices = false;
      if (std::exchange(choices_are_outdated, false)) look_for_choices();
      if (found.fault.empty())
        state.forget_errors_about(kChoices);
      else if (found.fault != std::exchange(choices_fault, found.fault))
        state.tell_error_about(kChoices, found.fault);
      if (found.devices.empty()) return;  // nothing was found at all
      state.change(updates::SetModels{found.models});
      state.change(updates::SetDevices{found.devices});
    }));
  });
}

// A server that only flags name has a row all the same, before and after one of its models is chosen.
void ChatController::Parts::show_endpoints() {
  std::vector<ModelChoice> known = stored_endpoints;
  const auto add = [&](const std::string& address, const std::string& url) {
    const auto is_it = [&](const ModelChoice& endpoint) { return endpoint.about == url; };
    if (std::ranges::any_of(known, is_it)) return;
    known.insert(known.begin(), {.path = address,
                                 .name = host_of(url),
                                 .kind = ModelChoice::Kind::kEndpoint,
                                 .about = url,
                                 .is_unsaved = true});
  };
  const std::string& served = state.now().served.endpoint;
  if (const Endpoint* used = models.endpoint())
    add(used->url, used->url);
  else if (!models.is_loading() && models.flags().endpoint == served && is_server_address(served))
    add(served, base_url(served));
  if (known != state.now().endpoints) state.change(updates::SetEndpoints{std::move(known)});
}

EndpointKeeper::Listeners ChatController::Parts::endpoint_listeners() {
  const auto list = [this](std::vector<ModelChoice> listed) {
    inbox.post(Task([this, listed = std::move(listed)] {
      stored_endpoints = listed;
      show_endpoints();
    }));
  };
  const auto serve = [this](ServedModels served) {
    inbox.post(Task([this, served = std::move(served)] {
      if (served.was_stored) models.follow_stored(stored_endpoints);
      const bool is_wanted = state.now().served.running && state.now().served.request == served.request;
      if (is_wanted) state.change(updates::SetServed{served});
    }));
  };
  const auto rename = [this](const RenameEndpoint& renamed) {
    inbox.post(Task([this, renamed] {
      models.follow_rename(renamed);
      ServedModels served = state.now().served;
      if (std::exchange(served.endpoint, renamed.to) == renamed.from) state.change(updates::SetServed{served});
    }));
  };
  const auto fail = [this](const std::string& fault) { inbox.post(Task([this, fault] { state.tell_error(fault); })); };
  return {list, serve, rename, fail};
}

void ChatController::Parts::forget_undo(ConversationId id) {
  const std::vector<NoticeItem> notices = state.now().notices;
  for (const NoticeItem& notice : notices)
    if (std::ranges::count(notice.restores, id) > 0) state.change(updates::DropNotice{notice.id});
}

// --- The controller ---

ChatController::ChatController(const ChatOptions& options, std::function<void()> wake)
    : parts_(std::make_unique<Parts>(options, nullptr, std::move(wake))) {}
ChatController::ChatController(const ChatOptions& options, std::shared_ptr<Responder> responder,
                               std::function<void()> wake)
    : parts_(std::make_unique<Parts>(options, std::move(responder), std::move(wake))) {}
ChatController::~ChatController() { close(); }
void ChatController::close() { parts_->finish(); }

void ChatController::submit(Action action) {
  parts_->begin();
  parts_->dispatch(std::move(action));
}
void ChatController::post(Action action) { parts_->inbox.post(std::move(action)); }
void ChatController::interrupt() {
  parts_->inbox.post(Task([] {}));
}
void ChatController::stop_prompt_when(std::function<bool()> is_stopped) {
  parts_->is_ending = is_stopped;
  parts_->models.stop_prompt_when(
      [&inbox = parts_->inbox, is_stopped = std::move(is_stopped)] { return inbox.has_stop() || is_stopped(); });
}
void ChatController::publish_with(std::function<void()> publish) { parts_->publish = std::move(publish); }
void ChatController::turn(std::chrono::milliseconds timeout) { parts_->turn(timeout); }
bool ChatController::read(const std::function<void(const ConversationStore&)>& look) {
  parts_->begin();
  parts_->follow_title(kNow);
  return parts_->library.try_to(look);
}
const ChatState& ChatController::now() const { return parts_->state.now(); }
std::vector<Update> ChatController::take_updates() { return parts_->state.take_updates(); }
bool ChatController::busy() const { return parts_->busy(); }
Model* ChatController::model() const { return parts_->models.model(); }

}  // namespace warpchat
