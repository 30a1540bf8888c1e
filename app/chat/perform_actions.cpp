// What each action does, once nothing conflicts with it.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/chat/chat_controller_parts.h"
#include "app/chat/erased_lines.h"
#include "app/formats/prompts.h"
#include "app/formats/transfer.h"
#include "app/model_choice/model_book.h"
#include "app/model_choice/model_loading.h"
#include "app/model_choice/model_removal.h"
#include "app/platform/directories.h"
#include "app/settings/assistants.h"
#include "app/settings/kept_options.h"
#include "app/settings/settings_file.h"
#include "models/text_format.h"

namespace warpchat {

namespace {
constexpr std::chrono::milliseconds kBetweenProgress{100};
constexpr size_t kMaxToldName = 64;  // bytes
DefaultAssistant default_of(const Assistant& assistant) {
  const ChatOptions chosen = options_of(assistant);
  const bool has_prompt = assistant.settings.contains(kSystemPromptSetting);
  return {assistant.name, has_prompt ? std::optional(chosen.system_prompt) : std::nullopt, chosen};
}

}  // namespace

// --- The conversation ---

void ChatController::Parts::perform(Send& wish) {
  const bool is_blank = wish.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_blank && state.now().attachments.empty()) return;
  const Message message{.role = "user", .content = wish.text, .files = attachments.files()};
  const Question question{
      .n_kept = shown_chat().now().messages.size(), .added = message, .title = title_of_message(message)};
  if (!ask(shown_chat(), question)) return;
  attachments.clear();
  state.change(updates::TakeSend{});
}

void ChatController::Parts::perform(Stop&) {
  if (shown_chat().is_over()) attachments.cancel(), tools.stop_opening();
  shown_chat().halt();
}
void ChatController::Parts::perform(Regenerate& wish) {
  std::optional<Question> question = shown_chat().regenerate(wish.message);
  if (question) question->settings = wish.settings;
  ask_user(question);
}
void ChatController::Parts::perform(ContinueAnswer& wish) { ask_user(shown_chat().go_on(wish.message)); }
void ChatController::Parts::perform(DropOldest& wish) { shown_chat().branch.drop_oldest(wish.on); }

void ChatController::Parts::perform(Undo& wish) {
  const TurnId last = shown_chat().branch.last_turn();
  const auto& messages = shown_chat().now().messages;
  const auto taken = std::find_if(messages.rbegin(), messages.rend(), [](const auto& m) { return m.role == "user"; });
  if (taken == messages.rend()) return;
  const TurnId turn = taken->turn;
  const std::vector<AttachedFile> files = taken->files;
  if (!shown_chat().undo()) return;
  if (wish.returns_files) attachments.put_back(files, turn);
  if (last != 0) state.tell("your last message was taken back", {shown_chat().now().id}, last);
}

void ChatController::Parts::perform(DeleteTurn& wish) {
  Branch& branch = shown_chat().branch;
  const std::optional<size_t> message = branch.index_of(wish.message);
  if (!message) return refuse("this message no longer exists");
  const auto& messages = shown_chat().now().messages;
  const auto is_user = [&](size_t i) { return messages[i].role == "user"; };
  size_t begin = *message, end = *message + 1;
  while (begin > 0 && !is_user(begin)) --begin;
  while (end < messages.size() && !is_user(end)) ++end;
  const TurnId last = branch.last_turn();
  if (!branch.remove(begin, end)) return;
  state.tell("the message and its answer were deleted", {shown_chat().now().id}, last);
}

void ChatController::Parts::perform(EditMessage& wish) {
  const std::optional<size_t> i = shown_chat().branch.index_of(wish.message);
  if (!i) return refuse("this message no longer exists");
  if (wish.text.empty()) return refuse("the message is empty; type some text");
  if (shown_chat().now().messages[*i].role != "user")
    shown_chat().replace_answer(wish.message, wish.text);
  else if (!ask(shown_chat(), *shown_chat().edit(wish.message, wish.text)))
    return;
  state.change(updates::TakeSend{});
}

void ChatController::Parts::perform(ShowVersion& wish) {
  shown_chat().branch.show_version(wish.message, wish.turn);
  for (const ChatMessage& message : shown_chat().now().messages) attachments.drop_files_of(message.turn);
}
void ChatController::Parts::perform(SetSystemPrompt& wish) {
  if (!wish.for_new) return shown_chat().branch.set_system_prompt(wish.text);
  state.change(updates::SetDefaultSystemPrompt{wish.text});
  keep_in_settings_file("system-prompt",
                        wish.text.empty() ? std::nullopt : std::optional<nlohmann::ordered_json>(wish.text));
}
void ChatController::Parts::perform(AttachFile& wish) { attachments.add(wish.path); }
void ChatController::Parts::perform(DropAttachment& wish) { attachments.drop(wish.index); }
void ChatController::Parts::perform(CountTokens& wish) { models.count(wish); }

// --- Conversations ---

void ChatController::Parts::perform(NewConversation&) { show_new(); }

void ChatController::Parts::perform(OpenStored& wish) {
  library.try_to([&](ConversationStore&) { show_stored(wish.id); });
}

void ChatController::Parts::perform(Fork& wish) {
  ConversationTree tree;
  if (wish.conversation != 0) {
    if (!library.try_to([&](ConversationStore& store) { tree = store.tree(wish.conversation); })) return;
  } else {
    const std::optional<size_t> i = shown_chat().branch.index_of(wish.message);
    if (!i) return;
    tree = shown_chat().branch.tree(*i + 1);
  }
  tree.title += " (copy)";
  ConversationId copy = 0;
  if (!library.try_to([&](ConversationStore& store) { copy = store.insert(tree); })) return;
  library.refresh();
  library.try_to([&](ConversationStore&) { show_stored(copy); });
}

void ChatController::Parts::perform(Search& wish) { library.search(wish.words, wish.limit); }

void ChatController::Parts::perform(Rename& wish) {
  library.try_to([&](ConversationStore& store) { store.rename(wish.id, wish.title); });
  library.refresh();
  for (const auto& chat : chats) chat->branch.follow_title();
}

void ChatController::Parts::perform(FileConversations& wish) {
  if (!library.try_to([&](ConversationStore& store) { store.file(wish.ids, wish.change); })) return;
  library.refresh();
  if (wish.change.archived == true)
    state.tell_archived(
        (wish.ids.size() == 1 ? "the conversation is" : counted(wish.ids.size(), "conversation") + " are") +
            std::string(" in the archive"),
        wish.ids);
}

void ChatController::Parts::perform(ListConversations& wish) { library.list(wish.order, wish.limit); }

void ChatController::Parts::perform(ThrowAway& wish) {
  std::vector<ConversationId> thrown;
  library.try_to([&](ConversationStore& store) {
    for (const ConversationId id : wish.ids) store.throw_away(id), thrown.push_back(id);
  });
  if (thrown.empty()) return;
  if (std::ranges::count(thrown, shown_chat().now().id) > 0) show_new();
  library.refresh();
  const bool is_one = thrown.size() == 1;
  state.tell(
      (is_one ? "the conversation is" : counted(thrown.size(), "conversation") + " are") + std::string(" in the trash"),
      std::move(thrown));
}

void ChatController::Parts::perform(TakeFromTrash& wish) {
  if (!library.try_to([&](ConversationStore& store) {
        for (const ConversationId id : wish.ids) store.take_from_trash(id);
      }))
    return;
  library.refresh();
  for (const ConversationId id : wish.ids) forget_undo(id);
  if (wish.ids.size() == 1 && shown_chat().now().messages.empty() && shown_chat().is_over())
    library.try_to([&](ConversationStore&) { show_stored(wish.ids.front()); });
}

void ChatController::Parts::perform(EraseForEver& wish) {
  const bool done = library.try_to([&](ConversationStore& store) {
    const ConversationTree tree = store.tree(wish.id);
    store.erase(wish.id);
    keeps_erased_text = true;
    erase_typed_lines(line_history_file(), tree);
  });
  if (!done) return;
  forget_undo(wish.id);
  if (shown_chat().now().id == wish.id) show_new();
  attachments.forget(wish.id);
  library.refresh();
}

// Once for all that were erased together: it reads the whole search index.
void ChatController::Parts::remove_erased_text() {
  if (!std::exchange(keeps_erased_text, false)) return;
  library.try_to([&](ConversationStore& store) {
    if (store.remove_erased_text()) return;
    state.tell_error("the conversation is deleted, but its text stays in " + store.path() +
                     "-wal while another program reads there; close all of them to remove it");
  });
}

void ChatController::Parts::perform(ExportConversation& wish) {
  if (wish.all || !wish.ids.empty()) return export_several(wish);
  const bool done = library.try_to([&](ConversationStore& store) {
    if (shown_chat().now().messages.empty()) throw Error("there is no message to export yet");
    const bool stored = shown_chat().branch.is_stored();
    export_conversation(
        stored ? store.tree(shown_chat().now().id) : shown_chat().branch.tree(shown_chat().now().messages.size()),
        wish.path, wish.replace);
  });
  if (done) state.tell("wrote " + wish.path);
}

// Shows the progress of what is done on this thread, so that other actions wait: updates are published meanwhile.
std::function<void(double)> ChatController::Parts::progress_of(const std::string& path, bool is_export,
                                                               const std::function<void(double)>& progress) {
  RunningImport running{std::filesystem::path(path).filename().string(), 0, is_export};
  state.change(updates::SetImporting{running});
  publish();
  return [this, running, progress, shown_at = std::chrono::steady_clock::now()](double fraction) mutable {
    progress(fraction);
    if (std::chrono::steady_clock::now() - shown_at < kBetweenProgress) return;
    running.fraction = fraction;
    state.change(updates::SetImporting{running});
    publish();
    shown_at = std::chrono::steady_clock::now();
  };
}

void ChatController::Parts::export_several(ExportConversation& wish) {
  const auto progress = progress_of(wish.path, /*is_export=*/true, wish.progress);
  size_t n_written = 0;
  const bool done = library.try_to([&](ConversationStore& store) {
    if (wish.all)
      for (const ConversationSummary& conversation : store.list(std::numeric_limits<uint32_t>::max()))
        wish.ids.push_back(conversation.id);
    if (wish.ids.empty()) throw Error("there is no conversation to export yet");
    n_written = export_conversations(store, wish.ids, wish.path, wish.replace, progress,
                                     [this] { return inbox.has_import_stop() || is_ending(); });
  });
  state.change(updates::SetImporting{std::nullopt});
  if (!done) return;
  state.tell(n_written == 0 ? "the export was stopped; nothing was written"
                            : "wrote " + counted(n_written, "conversation") + " to " + wish.path);
}

void ChatController::Parts::perform(ImportConversation& wish) {
  const std::string file = std::filesystem::path(wish.path).filename().string();
  const auto progress = progress_of(wish.path, /*is_export=*/false, wish.progress);
  Imported imported;
  const bool done = library.try_to([&](ConversationStore& store) {
    import_conversations(store, wish.path, imported, progress,
                         [this] { return inbox.has_import_stop() || is_ending(); });
  });
  state.change(updates::SetImporting{std::nullopt});
  library.refresh();
  if (done && imported.newest != 0) library.try_to([&](ConversationStore&) { show_stored(imported.newest); });
  tell_imported(imported, file, done);
}

void ChatController::Parts::tell_imported(const Imported& imported, const std::string& file, bool is_done) {
  const std::string n = counted(imported.ids.size(), "conversation");
  const bool is_stopped = inbox.has_import_stop();
  if (is_stopped)
    state.tell_import("the import was stopped; " + (imported.ids.empty() ? "nothing" : n) + " imported until then",
                      imported.ids);
  else if (!imported.ids.empty())
    state.tell_import("imported " + n + (is_done && imported.ids.size() > 1 ? "; the newest is shown" : ""),
                      imported.ids);
  if (!is_done) return;
  if (imported.n_known > 0)
    state.tell(counted(imported.n_known, "conversation") + " of this file " + (imported.n_known == 1 ? "is" : "are") +
               " here already and " + (imported.n_known == 1 ? "was" : "were") + " not imported again");
  if (!imported.left_out.empty()) state.tell(file + ": " + imported.left_out);
}

void ChatController::Parts::perform(StopImport&) {}  // there is none, or it has read this in the inbox

void ChatController::Parts::perform(TakeBackImport& wish) {
  const bool done = library.try_to([&](ConversationStore& store) {
    for (const ConversationId id : wish.conversations) store.throw_away(id);
  });
  if (std::ranges::find(wish.conversations, shown_chat().now().id) != wish.conversations.end()) show_new();
  library.refresh();
  if (done) state.tell("the import was taken back; the trash has its conversations");
}

// --- Model, device, settings ---

void ChatController::Parts::perform(RefreshModels&) {
  look_for_choices();
  endpoints.post(ListEndpoints{});
}
void ChatController::Parts::perform(SearchHub& wish) {
  hub.look({wish.words, wish.now, options.offline, models.flags().device, memory_held()});
}
void ChatController::Parts::perform(ConnectServer& wish) {
  state.change(updates::SetServed{{.request = wish.request, .endpoint = wish.endpoint, .running = true}});
  wish.flags_key = models.key_in_flags(wish.endpoint);
  endpoints.post(std::move(wish));
}
void ChatController::Parts::perform(RenameEndpoint& wish) { endpoints.post(std::move(wish)); }
void ChatController::Parts::perform(SetDefaultModel& wish) { endpoints.post(std::move(wish)); }
void ChatController::Parts::perform(RemoveEndpoint& wish) {
  if (state.now().served.endpoint == wish.name)
    state.change(updates::SetServed{{.request = state.now().served.request}});
  endpoints.post(std::move(wish));
}
void ChatController::Parts::perform(RemoveModel& wish) {
  tell_errors([&] {
    const std::vector<FoundModel> listed = find_model_files(model_places());
    const FoundModel* model = find_listed(listed, wish.path);
    if (model == nullptr) throw Error(printable(wish.path, 200) + " is not among the models any more");
    const RemovalPlan plan = plan_removal(*model);
    remove_model(plan);
    state.tell(printable(model->name, 200) + (plan.files.empty() ? " is no longer listed" : " was removed"));
  });
  look_for_choices();
}
void ChatController::Parts::perform(AddModelFolder& wish) {
  tell_errors([&] { add_model_folder(wish.path); });
  look_for_choices();
}
void ChatController::Parts::perform(LoadModel& wish) { load_chosen(wish); }
void ChatController::Parts::perform(CancelLoading&) { models.cancel(); }
void ChatController::Parts::perform(UnloadModel&) { models.unload(); }

// A flag gives way to what the user says while the program runs.
void ChatController::Parts::perform(SetChoice& wish) {
  const auto all = answer_choices();
  const auto choice = std::ranges::find(all, wish.name, &NamedChoice::name);
  if (choice == all.end()) return;
  std::visit(
      [&](auto member) {
        const auto& value = wish.value.*member;
        updates::SetRunChoices run{state.now().flags, state.now().defaults, state.now().default_seed_is_drawn};
        if (wish.for_new)
          run.defaults.*member = value;
        else
          (run.flags.*member).reset();
        if (wish.for_new && wish.name == kSeedName) run.default_seed_is_drawn = false;
        if (!(run.flags == state.now().flags && run.defaults == state.now().defaults)) state.change(run);
        if (wish.for_new) return keep_in_settings_file(wish.name, json_of(wish.value, *choice));
        AnswerChoices changed = shown_chat().now().choices;
        changed.*member = value;
        shown_chat().branch.set_choices(changed);
      },
      choice->field);
}

void ChatController::Parts::perform(SetAssistant& wish) {
  if (wish.name.empty() && !wish.for_new) return shown_chat().branch.set_assistant("", {});
  tell_errors([&] {
    const Assistant assistant = wish.name.empty() ? Assistant() : load_assistant(wish.name);
    const ChatOptions wanted = options_of(assistant);
    for (const std::string& complaint : wanted.complaints) state.tell_error(complaint);
    if (wish.for_new) {
      state.change(updates::SetDefaultAssistant{default_of(assistant)});
      return keep_in_settings_file(kAssistantSetting,
                                   wish.name.empty() ? std::nullopt : std::optional<nlohmann::ordered_json>(wish.name));
    }
    shown_chat().branch.set_assistant(assistant.name, wanted);
    if (assistant.settings.contains(kSystemPromptSetting)) shown_chat().branch.set_system_prompt(wanted.system_prompt);
    if (!wanted.endpoint.empty()) return load_chosen({.path = wanted.model, .endpoint = wanted.endpoint});
    if (wanted.model.empty()) return;
    const std::string file = find_model_file(wanted.model);
    if (!state.now().model || state.now().model->path != file) load_chosen({.path = file});
  });
}

void ChatController::Parts::list_assistants(const SaveAssistant& saved, const std::string& fault) {
  AssistantList list = state.now().assistants;
  ++list.revision;
  if (saved.request != 0) list.request = saved.request, list.fault = fault;
  list.all.clear();
  for (const std::string& name : assistant_names()) {
    try {
      const Assistant assistant = load_assistant(name);
      std::string complaint;
      for (const auto& [key, value] : assistant.settings.items())
        if (complaint.empty()) complaint = complaint_about(key, value);
      list.all.push_back({name, description_of(assistant), typed_settings(assistant), complaint});
    } catch (const Error& error) {
      list.all.push_back({.name = name, .fault = error.what()});
    }
  }
  state.change(updates::SetAssistants{std::move(list)});
}

// In the conversations that are held, and in new ones; those in the store have its name alone. assistant: as it is now;
// without a name: it was removed.
void ChatController::Parts::follow_assistant(const std::string& from, const Assistant& assistant) {
  if (from.empty()) return;
  const DefaultAssistant now = default_of(assistant);
  for (const auto& chat : chats)
    if (chat->now().assistant == from) chat->branch.set_assistant(now.name, now.choices);
  if (state.now().default_assistant.name == from) state.change(updates::SetDefaultAssistant{now});
}

void ChatController::Parts::perform(ListAssistants&) { list_assistants(); }

void ChatController::Parts::perform(SaveAssistant& wish) {
  try {
    const Assistant assistant = assistant_of(wish.name, wish.settings);
    replace_assistant(wish.from, assistant);
    if (!wish.from.empty() && wish.from != wish.name)
      library.try_to([&](ConversationStore& store) { store.rename_assistant(wish.from, wish.name); });
    follow_assistant(wish.from, assistant);
    list_assistants(wish);
  } catch (const Error& error) {
    list_assistants(wish, error.what());
  }
}

void ChatController::Parts::perform(RemoveAssistant& wish) {
  tell_errors([&] {
    remove_assistant(wish.name);
    follow_assistant(wish.name, {});
    state.tell("the assistant " + printable(wish.name, kMaxToldName) + " was removed");
    follow_in_settings_file(wish.name, std::nullopt);
  });
  list_assistants();
}

void ChatController::Parts::perform(ImportAssistants& wish) {
  tell_errors([&] {
    ImportedAssistants imported = read_assistants(wish.path, "");
    std::string names;
    for (Assistant& assistant : imported.assistants) {
      assistant.name = free_assistant_name(assistant.name);
      save_assistant(assistant);
      names += (names.empty() ? "" : ", ") + printable(assistant.name, kMaxToldName);
    }
    for (const std::string& note : imported.notes) state.tell(note);
    state.tell("imported the assistant" + std::string(imported.assistants.size() == 1 ? " " : "s ") + names);
  });
  list_assistants();
}

void ChatController::Parts::perform(ExportAssistant& wish) {
  tell_errors([&] {
    export_assistant(load_assistant(wish.name), wish.path, wish.replace);
    state.tell("wrote " + wish.path);
  });
}

void ChatController::Parts::perform(ListPrompts&) { state.change(updates::SetPrompts{read_prompts(), false}); }

void ChatController::Parts::perform(SavePrompt& wish) {
  tell_errors([&] {
    replace_prompt(wish.replaces, wish.name, wish.text);
    state.tell("saved as the prompt '" + printable(wish.name) + "'");
    state.change(updates::SetPrompts{read_prompts(), true});
  });
}

void ChatController::Parts::perform(RemovePrompt& wish) {
  tell_errors([&] {
    remove_prompt(wish.name);
    state.tell("the prompt '" + printable(wish.name) + "' was removed");
  });
  state.change(updates::SetPrompts{read_prompts(), false});
}

void ChatController::Parts::perform(SetTitles& wish) {
  if (wish.on == state.now().titles) return;
  state.change(updates::SetTitles{wish.on});
  keep_in_settings_file("titles", wish.on);
}

// What could not be kept still counts in this run.
void ChatController::Parts::keep_in_settings_file(std::string_view key,
                                                  const std::optional<nlohmann::ordered_json>& value) {
  if (const std::string fault = SettingsFile::keep(key, value); !fault.empty()) state.tell_error(fault);
}

// The permission comes first, since the next call may be of the same tool.
void ChatController::Parts::perform(DecideCall& wish) {
  for (const auto& chat : chats) {
    if (chat->now().messages.empty() || chat->now().messages.back().key != wish.message) continue;
    const ToolCall* asked = asked_call(chat->now().messages.back());
    if (asked == nullptr || asked->id != wish.call) return;
    if (wish.permission != Permission::kAsk) {
      tools.set(*chat->approval, asked->name, wish.permission);
      tools.list();
    }
    return chat->answering.decide(wish.is_allowed);
  }
}

void ChatController::Parts::perform(ListTools&) { tools.list(models.responder().get()); }

void ChatController::Parts::perform(SetToolPermission& wish) {
  if (!tools.set(*shown_chat().approval, wish.tool, wish.permission))
    return state.tell_error("there is no tool " + printable(wish.tool, kMaxToldName));
  tools.list();
}

void ChatController::Parts::perform(ReadToolServers& wish) {
  tell_errors([&] { tools.read_servers(wish.path); });
}

void ChatController::Parts::perform(AddToolServers& wish) {
  tell_errors([&] { tools.add_servers(wish.is_wanted); });
}

void ChatController::Parts::perform(OpenFolder& wish) {
  tell_errors([&] { tools.open_folder(wish.path); });
  tools.list();
}

void ChatController::Parts::perform(DismissNotice& wish) { state.change(updates::DropNotice{wish.id}); }
void ChatController::Parts::perform(WatchProfile& wish) { profile.set_on(wish.on, models.model(), models.endpoint()); }

void ChatController::Parts::perform(ExportProfile& wish) {
  const bool done = library.try_to([&](ConversationStore&) { profile.save(models.model(), wish.path); });
  if (done) state.tell("wrote " + wish.path + " and " + wish.path + ".md");
}

}  // namespace warpchat
