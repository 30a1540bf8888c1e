// One thread that takes actions, follows the answer and looks at the store now and then. What changes the conversation
// stops the answer that streams, keeps what there is of it, and happens then.
#include "app/gui/chat_worker.h"

#include <atomic>
#include <deque>
#include <thread>
#include <utility>

#include "app/gui/worker/answering.h"
#include "app/gui/worker/attachments.h"
#include "app/gui/worker/board.h"
#include "app/gui/worker/branch.h"
#include "app/gui/worker/choices.h"
#include "app/gui/worker/inbox.h"
#include "app/gui/worker/library.h"
#include "app/gui/worker/model_desk.h"
#include "app/gui/worker/profile_watch.h"
#include "app/transfer.h"
#include "models/threads.h"

namespace warpchat::gui {

namespace {

constexpr std::chrono::milliseconds kBetweenEvents{20}, kBetweenLooks{1000};

template <class T, class... Kinds>
constexpr bool is_one_of = (std::is_same_v<T, Kinds> || ...);

}  // namespace

struct ChatWorker::Parts {
  Parts(const ChatOptions& chat_options, std::function<void()> wake)
      : options(chat_options),
        board(std::move(wake)),
        library(board),
        branch(board, library),
        answering(board, branch),
        models(board, options,
               {[this](Task task) { inbox.post(std::move(task)); }, [this](Task task) { at_rest(std::move(task)); },
                [this] { model_has_settled(); }}),
        attachments(board, models),
        profile(board) {}

  void run() {
    models.load_first();  // beside what follows
    look_for_choices();
    board.publish();
    library.open(!options.no_history);
    branch.start_new(options.system_prompt);
    board.publish();
    while (!ending) turn();
    answering.stop();
    while (answering.running()) answering.follow(kBetweenEvents);
    board.publish();
  }

  void turn() {
    const bool runs = answering.running();
    for (auto letter = inbox.take(runs ? std::chrono::milliseconds(0) : kBetweenLooks); letter && !ending;
         letter = inbox.take(std::chrono::milliseconds(0))) {
      carry_out(std::move(*letter));
      board.publish();
    }
    if (answering.running()) follow_answer();
    if (!answering.running()) carry_out_what_waited();
    is_outdated |= library.others_have_changed_it();
    if (is_outdated && board.now().phase == Phase::kIdle) {
      is_outdated = false;
      branch.reload();
    }
    if (board.now().phase == Phase::kIdle && inbox.empty()) measure_context();
    board.publish();
  }

  // Of a conversation that has been read from the store, when there is nothing else to do.
  void measure_context() {
    const OpenConversation& open = board.now().open;
    if (open.context_used != 0 || open.messages.empty() || models.session() == nullptr) return;
    const std::pair<uint64_t, const Model*> what{open.messages.back().key, models.model()};
    if (std::exchange(measured, what) == what) return;
    const uint32_t tokens = answering.prompt_tokens(*models.session(), models.options_for(open.system_prompt));
    if (tokens != 0) board.change(updates::set_context_used(tokens));
  }

  void follow_answer() {
    answering.follow(kBetweenEvents);
    if (answering.running())
      profile.look(*models.model());
    else
      profile.show(*models.model()), models.show_status();
  }

  void carry_out(Letter letter) {
    if (auto* task = std::get_if<Task>(&letter)) return (*task)();
    Action& action = std::get<Action>(letter);
    const bool jumps_queue = std::holds_alternative<Stop>(action) || std::holds_alternative<CancelLoading>(action);
    if (!deferred.empty() && !jumps_queue) return deferred.push_back(std::move(action));
    if (needs_rest(action)) {
      halt();
      if (answering.running()) return deferred.push_back(std::move(action));
    }
    std::visit([this](auto& wish) { take(wish); }, action);
  }

  void at_rest(Task task) {
    if (answering.running())
      rest_tasks.push_back(std::move(task));
    else
      task();
  }

  // Each may begin an answer.
  void carry_out_what_waited() {
    while (!answering.running() && !rest_tasks.empty()) {
      const Task task = std::move(rest_tasks.front());
      rest_tasks.pop_front();
      task();
    }
    std::deque<Action> actions = std::exchange(deferred, {});
    for (Action& action : actions) carry_out(std::move(action));
  }

  bool needs_rest(const Action& action) const {
    return std::visit(
        [this]<class T>(const T& wish) {
          if constexpr (is_one_of<T, ThrowAway, EraseForEver>) return wish.id == branch.now().id;
          return is_one_of<T, Send, Regenerate, EditMessage, ShowVersion, NewConversation, OpenStored,
                           ImportConversation, UnloadModel>;
        },
        action);
  }

  void halt() {
    answering.stop();
    if (board.now().phase != Phase::kWaiting) return;
    board.change(updates::set_phase(Phase::kIdle));
    branch.reload();  // the answer that was to be replaced
  }

  // The branch ends with a user's message.
  void answer() {
    if (models.is_loading() || models.session() == nullptr) {
      board.change(updates::set_phase(Phase::kWaiting));
      if (!models.is_loading()) board.tell("no model is loaded: pick one, and your message is answered");
      return;
    }
    profile.begin_answer(*models.model());
    answering.start(*models.session(), models.options_for(branch.now().system_prompt));
  }

  void model_has_settled() {
    if (models.model() != nullptr) {
      branch.set_model(models.model()->file.path());
      attachments.count();
      profile.begin_model(*models.model());
    }
    look_for_choices();
    if (board.now().phase == Phase::kWaiting && models.session() != nullptr) answer();  // it has not changed meanwhile
  }

  // What there is to choose from depends on the memory that is left, so it is looked for anew after each load.
  void look_for_choices() {
    if (std::exchange(looks_for_choices, true)) return;
    uint64_t held = 0;
    if (models.model() != nullptr)
      for (const MemoryUse& use : models.model()->decoder->steps().memory()) held += use.bytes;
    choices.look({models.flags(), held}, [this](Choices found) {
      inbox.post(Task([this, found = std::move(found)] {
        looks_for_choices = false;
        board.change(updates::set_models(found.models));
        board.change(updates::set_devices(found.devices));
      }));
    });
  }

  void take(Send& wish) {
    const bool is_blank = wish.text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (is_blank && board.now().attachments.empty()) return;
    const std::string title = title_from(is_blank ? board.now().attachments.front().name : wish.text);
    board.change(updates::take_send());
    branch.add("user", attachments.put_before(wish.text), title);
    answer();
  }

  void take(Stop&) { halt(); }

  void take(Regenerate& wish) {
    const std::optional<size_t> i = branch.index_of(wish.message);
    if (!i) return;
    branch.cut(branch.messages()[*i].role == "user" ? *i + 1 : *i);
    if (!branch.messages().empty() && branch.messages().back().role == "user") answer();
  }

  void take(EditMessage& wish) {
    const std::optional<size_t> i = branch.index_of(wish.message);
    if (!i || wish.text.empty()) return;
    const std::string role = branch.messages()[*i].role;
    branch.cut(*i);
    branch.add(role, wish.text, title_from(wish.text));
    if (role == "user") answer();
  }

  void take(ShowVersion& wish) { branch.show_version(wish.message, wish.turn); }
  void take(SetSystemPrompt& wish) { branch.set_system_prompt(wish.text); }
  void take(AttachFile& wish) { attachments.add(wish.path); }
  void take(DropAttachment& wish) { attachments.drop(wish.index); }
  void take(CountTokens& wish) { models.count(wish); }

  void take(NewConversation&) { branch.start_new(options.system_prompt); }
  void take(OpenStored& wish) { branch.open(wish.id); }
  void take(Search& wish) { library.search(wish.words); }

  void take(Rename& wish) {
    library.try_to([&](ConversationStore& store) { store.rename(wish.id, wish.title); });
    library.refresh();
    branch.reload();
  }

  void take(ThrowAway& wish) {
    if (!library.try_to([&](ConversationStore& store) { store.throw_away(wish.id); })) return;
    if (branch.now().id == wish.id) branch.start_new(options.system_prompt);
    library.refresh();
    board.tell("the conversation is in the trash", wish.id);
  }

  void take(TakeFromTrash& wish) {
    if (!library.try_to([&](ConversationStore& store) { store.take_from_trash(wish.id); })) return;
    library.refresh();
    forget_undo(wish.id);
    if (branch.messages().empty() && !answering.running()) branch.open(wish.id);
  }

  void forget_undo(ConversationId id) {
    const std::vector<NoticeItem> notices = board.now().notices;
    for (const NoticeItem& notice : notices)
      if (notice.restores == id) board.change(updates::dismiss_notice(notice.id));
  }

  void take(EraseForEver& wish) {
    if (!library.try_to([&](ConversationStore& store) { store.erase(wish.id); })) return;
    forget_undo(wish.id);
    if (branch.now().id == wish.id) branch.start_new(options.system_prompt);
    library.refresh();
  }

  void take(ExportConversation& wish) {
    const bool done = library.try_to([&](ConversationStore& store) {
      if (branch.now().id == 0) throw Error("there is no message to export yet");
      export_conversation(store, branch.now().id, wish.path);
    });
    if (done) board.tell("wrote " + wish.path);
  }

  void take(ImportConversation& wish) {
    ConversationId imported = 0;
    if (!library.try_to([&](ConversationStore& store) { imported = import_conversation(store, wish.path); })) return;
    library.refresh();
    branch.open(imported);
  }

  void take(RefreshModels&) { look_for_choices(); }
  void take(LoadModel& wish) { models.load(wish); }
  void take(CancelLoading&) { models.cancel(); }
  void take(UnloadModel&) { models.unload(); }
  void take(ChangeSettings& wish) { models.change_settings(wish.settings); }
  void take(DismissNotice& wish) { board.change(updates::dismiss_notice(wish.id)); }
  void take(WatchProfile& wish) { profile.set_on(wish.on, models.model()); }

  void take(ExportProfile& wish) {
    const bool done = library.try_to([&](ConversationStore&) { profile.save(models.model(), wish.path); });
    if (done) board.tell("wrote " + wish.path + " and " + wish.path + ".md");
  }

  const ChatOptions options;
  Inbox inbox;
  std::atomic<bool> ending = false;
  Board board;
  Library library;
  Branch branch;
  Answering answering;
  ModelDesk models;
  Attachments attachments;
  ProfileWatch profile;
  ChoiceFinder choices;
  bool looks_for_choices = false;
  std::pair<uint64_t, const Model*> measured;  // last message and model that the context was measured with
  bool is_outdated = false;                    // others have changed the store since the open conversation was read
  std::deque<Action> deferred;                 // until the answer has stopped
  std::deque<Task> rest_tasks;                 // until it has ended
  std::thread thread;
};

ChatWorker::ChatWorker(const ChatOptions& options, std::function<void()> wake)
    : parts_(std::make_unique<Parts>(options, std::move(wake))) {
  parts_->thread = start_thread("for the conversation", [this] { parts_->run(); });
}

ChatWorker::~ChatWorker() {
  parts_->ending = true;
  parts_->inbox.post(Task([] {}));
  parts_->thread.join();
}

void ChatWorker::post(Action action) { parts_->inbox.post(std::move(action)); }

std::vector<Update> ChatWorker::take_updates() { return parts_->board.take(); }

}  // namespace warpchat::gui
