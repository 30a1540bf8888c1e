// What each action does, once nothing conflicts with it.
#include <filesystem>

#include "app/desk/desk_parts.h"
#include "app/transfer.h"
#include "models/message.h"

namespace warpchat {

// --- The conversation ---

void Desk::Parts::take(Send& wish) {
  const bool is_blank = wish.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_blank && board.now().attachments.empty()) return;
  const Message message{.role = "user", .content = wish.text, .files = attachments.files()};
  const Question question{.n_kept = talk().now().messages.size(), .added = message, .title = title_of_message(message)};
  if (!ask(talk(), question)) return;
  attachments.clear();
  board.change(updates::TakeSend{});
}

void Desk::Parts::take(Stop&) {
  if (talk().is_over()) attachments.cancel();
  talk().halt();
}
void Desk::Parts::take(Regenerate& wish) { ask_user(talk().regenerate(wish.message)); }
void Desk::Parts::take(ContinueAnswer& wish) { ask_user(talk().go_on(wish.message)); }
void Desk::Parts::take(DropOldest& wish) { talk().branch.drop_oldest(wish.on); }
void Desk::Parts::take(Undo&) { talk().undo(); }

void Desk::Parts::take(EditMessage& wish) {
  const std::optional<size_t> i = talk().branch.index_of(wish.message);
  if (!i) return refuse("this message no longer exists");
  if (wish.text.empty()) return refuse("the message is empty; type some text");
  if (talk().now().messages[*i].role != "user")
    talk().replace_answer(wish.message, wish.text);
  else if (!ask(talk(), *talk().edit(wish.message, wish.text)))
    return;
  board.change(updates::TakeSend{});
}

void Desk::Parts::take(ShowVersion& wish) { talk().branch.show_version(wish.message, wish.turn); }
void Desk::Parts::take(SetSystemPrompt& wish) { talk().branch.set_system_prompt(wish.text); }
void Desk::Parts::take(AttachFile& wish) { attachments.add(wish.path); }
void Desk::Parts::take(DropAttachment& wish) { attachments.drop(wish.index); }
void Desk::Parts::take(CountTokens& wish) { models.count(wish); }

// --- Conversations ---

void Desk::Parts::take(NewConversation&) { show_new(); }

void Desk::Parts::take(OpenStored& wish) {
  library.try_to([&](ConversationStore&) { show_stored(wish.id); });
}

void Desk::Parts::take(Fork& wish) {
  const std::optional<size_t> i = talk().branch.index_of(wish.message);
  if (!i) return;
  ConversationTree tree = talk().branch.tree(*i + 1);
  tree.title += " (copy)";
  ConversationId copy = 0;
  if (!library.try_to([&](ConversationStore& store) { copy = store.insert(tree); })) return;
  library.refresh();
  library.try_to([&](ConversationStore&) { show_stored(copy); });
}

void Desk::Parts::take(Search& wish) { library.search(wish.words); }

void Desk::Parts::take(Rename& wish) {
  library.try_to([&](ConversationStore& store) { store.rename(wish.id, wish.title); });
  library.refresh();
  for (const auto& talk : talks) talk->branch.follow_title();
}

void Desk::Parts::take(ThrowAway& wish) {
  if (!library.try_to([&](ConversationStore& store) { store.throw_away(wish.id); })) return;
  if (talk().now().id == wish.id) show_new();
  library.refresh();
  board.tell("the conversation is in the trash", wish.id);
}

void Desk::Parts::take(TakeFromTrash& wish) {
  if (!library.try_to([&](ConversationStore& store) { store.take_from_trash(wish.id); })) return;
  library.refresh();
  forget_undo(wish.id);
  if (talk().now().messages.empty() && talk().is_over())
    library.try_to([&](ConversationStore&) { show_stored(wish.id); });
}

void Desk::Parts::take(EraseForEver& wish) {
  if (!library.try_to([&](ConversationStore& store) { store.erase(wish.id); })) return;
  forget_undo(wish.id);
  if (talk().now().id == wish.id) show_new();
  attachments.forget(wish.id);
  library.refresh();
}

void Desk::Parts::take(ExportConversation& wish) {
  const bool done = library.try_to([&](ConversationStore& store) {
    if (talk().now().messages.empty()) throw Error("there is no message to export yet");
    const bool stored = talk().branch.is_stored();
    export_conversation(stored ? store.tree(talk().now().id) : talk().branch.tree(talk().now().messages.size()),
                        wish.path, wish.replace);
  });
  if (done) board.tell("wrote " + wish.path);
}

void Desk::Parts::take(ImportConversation& wish) {
  std::vector<ConversationId> imported;
  if (!library.try_to([&](ConversationStore& store) { imported = import_conversations(store, wish.path); })) return;
  library.refresh();
  library.try_to([&](ConversationStore&) { show_stored(imported.back()); });
  if (imported.size() > 1) board.tell("imported " + counted(imported.size(), "conversation") + "; the newest is shown");
}

// --- Model, device, settings ---

void Desk::Parts::take(RefreshModels&) { look_for_choices(); }
void Desk::Parts::take(SearchHub& wish) {
  hub.look({wish.words, wish.now, options.offline, models.flags().device, memory_held()});
}
void Desk::Parts::take(LoadModel& wish) { models.load(wish); }
void Desk::Parts::take(CancelLoading&) { models.cancel(); }
void Desk::Parts::take(UnloadModel&) { models.unload(); }
void Desk::Parts::take(ChangeSettings& wish) { models.change_settings(wish.settings); }
void Desk::Parts::take(DismissNotice& wish) { board.change(updates::DropNotice{wish.id}); }
void Desk::Parts::take(WatchProfile& wish) { profile.set_on(wish.on, models.model(), models.endpoint()); }

void Desk::Parts::take(ExportProfile& wish) {
  const bool done = library.try_to([&](ConversationStore&) { profile.save(models.model(), wish.path); });
  if (done) board.tell("wrote " + wish.path + " and " + wish.path + ".md");
}

}  // namespace warpchat
