// The commands for stored conversations: lists, search, loading, versions, the trash.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/chat/erased_lines.h"
#include "app/formats/conversation_query.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "app/platform/typed_path.h"
#include "app/terminal/answer_printer.h"
#include "app/terminal/conversation.h"
#include "app/terminal/conversation_list.h"
#include "app/terminal/conversation_text.h"
#include "app/terminal/marked_words.h"
#include "app/terminal/pager.h"
#include "engine/store/database.h"
#include "engine/store/search_words.h"
#include "engine/tool_calls.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr uint32_t kListed = 20;
constexpr size_t kShownOfQuery = 60;                          // bytes
constexpr size_t kShownOfMessage = 300, kMaxModelName = 100;  // bytes
constexpr int kRowsBesides = 7;  // of the screen: what is said about an opened conversation, and the prompt
constexpr int kMinRows = 3;      // of it that are shown

template <class List>
const ConversationSummary* find(const List& list, ConversationId id) {
  for (const ConversationSummary& conversation : list)
    if (conversation.id == id) return &conversation;
  return nullptr;
}

template <class List>
std::vector<ConversationId> ids_of(const List& list) {
  std::vector<ConversationId> ids;
  for (const ConversationSummary& conversation : list) ids.push_back(conversation.id);
  return ids;
}

}  // namespace

bool Conversation::look(const std::function<void(const ConversationStore&)>& at) {
  const bool seen = controller_.read(at);
  follow();
  return seen;
}

void Conversation::save(const std::string& title) {
  if (save_code(title)) return;
  if (open().id == 0) throw Error("there is no message yet");
  if (act(Rename{open().id, title})) say("title: " + printable(title, kShownOfMessage));
}

void Conversation::list(const std::string& wanted) {
  const ListRequest request = parse_list_request(wanted);
  const uint32_t limit = request.limit == 0 ? kListed : request.limit;
  std::vector<ConversationSummary> found;
  if (!look([&](const ConversationStore& store) { found = store.list(std::max(limit, limit + 1), request.filter); }))
    return;
  const bool has_more = found.size() > limit;
  if (has_more) found.pop_back();
  number(ids_of(found));
  const std::string filters = in_words(request.filter);
  if (!found.empty()) write_text(list_conversations(found));
  if (found.empty()) say(filters.empty() ? "no conversation is stored yet" : "no conversation is stored " + filters);
  if (has_more)
    say("(there are more; /list " + std::string(filters.empty() ? "" : "FILTER ") +
        std::to_string(uint64_t{limit} * 5) + " lists more of them)");
  if (!controller_.now().store_fault.empty())
    say("(conversations are lost when this program ends: " + controller_.now().store_fault + ")");
}

void Conversation::number(std::vector<ConversationId> ids) {
  listed_ = std::move(ids);
  searched_ = {};
}

// Without words it goes on with the last search, whose numbers go on, too.
void Conversation::search(const std::string& words) {
  if (words.empty() && searched_.words.empty())
    throw Error("/search needs words to find: /search WORDS; alone it shows more of the last search");
  if (!words.empty()) number({});
  const std::string wanted = words.empty() ? searched_.words : words;
  const auto limit = static_cast<uint32_t>(listed_.size()) + kListed;
  if (!act(Search{wanted, limit}) || !controller_.now().search) return;
  SearchResults found = *controller_.now().search;
  act(Search{});
  const auto is_listed = [&](const SearchHit& hit) { return std::ranges::count(listed_, hit.conversation.id) > 0; };
  std::vector<SearchHit> page = found.hits;
  std::erase_if(page, is_listed);
  const size_t first = listed_.size() + 1;
  for (const SearchHit& hit : page) listed_.push_back(hit.conversation.id);
  searched_ = std::move(found);
  if (page.empty())
    return say(words.empty() ? "there are no more conversations with " + printable(wanted, kShownOfQuery)
                             : "no conversation has " + printable(wanted, kShownOfQuery));
  if (wants_style())
    show_unpaged(marked_hits(page, first, searched_.sought, output_width()));
  else
    write_text(list_hits(page, first));
  if (searched_.has_more) say("(there are more; /search alone shows the next ones)");
}

// Without an earlier list, numbers are those that /list would show.
std::optional<ConversationId> Conversation::listed(const std::string& wanted) {
  std::optional<ConversationId> found;
  look([&](const ConversationStore& store) {
    if (listed_.empty()) listed_ = by_default(store, std::max<uint32_t>(kListed, parse_count(wanted)));
    found = find_conversation(store, listed_, wanted);
  });
  return found;
}

std::vector<ConversationId> Conversation::all_listed(const std::string& wanted) {
  std::vector<ConversationId> found;
  look([&](const ConversationStore& store) {
    if (listed_.empty()) listed_ = by_default(store, kListed);
    found = find_conversations(store, listed_, wanted);
  });
  return found;
}

std::string Conversation::titles_of(const std::vector<ConversationId>& ids) {
  if (ids.size() != 1) return counted(ids.size(), "conversation");
  std::string title;
  look([&](const ConversationStore& store) { title = store.load(ids.front()).summary.title; });
  return printable(title, kShownOfMessage);
}

void Conversation::load(const std::string& wanted) {
  const std::optional<ConversationId> id = listed(wanted);
  if (!id) return;
  if (find(controller_.now().trash, *id) != nullptr)
    throw Error("that conversation is in the trash; /restore brings it back");
  const auto hit = std::ranges::find(searched_.hits, *id, [](const SearchHit& found) { return found.conversation.id; });
  const SearchHit found = hit != searched_.hits.end() ? *hit : SearchHit{};
  if (!act(OpenStored{*id})) return;
  marked_ = found.conversation.id != 0 ? searched_.sought : "";
  show_opened(found);
}

std::optional<ConversationId> Conversation::find_resumed(const std::string& wanted) {
  FoundConversation found;
  const bool is_read =
      controller_.read([&](const ConversationStore& store) { found = warpchat::find_resumed(store, wanted); });
  if (!found.fault.empty()) throw Error(found.fault);
  return is_read ? std::optional(found.id) : std::nullopt;
}

// Settings stay, except the system message, which belongs to the conversation.
void Conversation::show_opened(const SearchHit& found) {
  versions_.clear();
  refused_.clear();
  if (found.conversation.id == 0) marked_.clear();
  if (!messages().empty()) show_end(found);
  say("\"" + printable(open().title, kShownOfMessage) + "\", " + counted(messages().size(), "message"));
  if (!open().system_prompt.empty()) say("system message: " + excerpt(open().system_prompt, {}, kShownOfMessage));
  tell_other_model();
  if (!messages().empty() && messages().back().role == "user")
    say("(your last message has no answer yet: /regen answers it)");
  else if (!messages().empty() && messages().back().status == MessageStatus::kStopped)
    say("(the last answer was stopped; /continue resumes it)");
}

void Conversation::tell_other_model() {
  const std::optional<ModelOffer>& offer = controller_.now().offer;
  if (!offer) return;
  say("another model answered: " + (offer->is_gone            ? offer->model + ", which is not on this machine"
                                    : offer->endpoint.empty() ? "/model " + offer->model + " loads it"
                                                              : offer->model + " at " + open().model.endpoint +
                                                                    "; /model " + offer->endpoint + " connects"));
}

std::string Conversation::shown(const ChatMessage& message, const AnswerLook& look) const {
  const std::string text = message_text(message, look, has_interrupt);
  return !has_undone(message.tool_calls) ? text : text + "(" + calls_in_words(message.tool_calls) + ")\n\n";
}

// Where another model answers than before.
std::string Conversation::model_line(size_t message) const {
  const std::string& model = messages()[message].model;
  if (messages()[message].role != "assistant" || model.empty()) return "";
  for (size_t i = message; i-- > 0;) {
    if (messages()[i].role != "assistant" || messages()[i].model.empty()) continue;
    if (messages()[i].model == model) return "";
    return "(answered by " + printable(messages()[message].model_name, kMaxModelName) + ")\n";
  }
  return "";
}

void Conversation::show_all() {
  if (messages().empty()) throw Error("there is no message yet");
  AnswerLook look = answer_look(look_.hide_thinking, /*in_conversation=*/true);
  look.movable = false;
  std::string text;
  for (size_t i = 0; i < messages().size() && !has_interrupt(); ++i) text += model_line(i) + shown(messages()[i], look);
  if (!has_interrupt()) show_paged(with_marks(text), terminal_);
  if (take_interrupt()) say("(stopped; /history shows all of it)");
}

std::string Conversation::with_marks(const std::string& laid_out) const {
  return wants_style() && !marked_.empty() ? mark_words(laid_out, marked_) : laid_out;
}

void Conversation::show_end(const SearchHit& found) {
  AnswerLook look = answer_look(look_.hide_thinking, /*in_conversation=*/true);
  look.movable = false;
  const TerminalSize size = terminal_size();
  const int room = std::max(size.rows - kRowsBesides, kMinRows);
  std::string text;
  int rows = 0;
  size_t first = messages().size();
  while (first > 0 && rows < room && !has_interrupt()) {
    --first;
    const std::string before = model_line(first) + shown(messages()[first], look);
    rows += rows_of(before, size.columns);
    text.insert(0, before);
  }
  const size_t whole = text.size();
  text = last_rows(text, size.columns, room);
  if (found.turn != 0 && !has_words_of(text, marked_)) {
    show_found(found, look, std::max(room / 2, kMinRows));
    text = last_rows(text, size.columns, std::max(room / 2, kMinRows));
  }
  if (first > 0 || text.size() < whole)
    say("(the end of " + counted(messages().size(), "message") + "; /history shows all)");
  if (!has_interrupt()) show_paged(with_marks(text), terminal_);
  if (take_interrupt()) say("(stopped; /history shows all of it)");
}

// What a search has found may be far before the end.
void Conversation::show_found(const SearchHit& found, const AnswerLook& look, int rows) {
  const auto message = std::ranges::find(messages(), found.turn, &ChatMessage::turn);
  if (message == messages().end()) return say("(the words are in another version; /versions lists them)");
  const std::string text = rows_around_words(shown(*message, look), marked_, terminal_size().columns, rows);
  if (has_interrupt()) return;
  const bool is_user = message->role == "user";
  const auto n = std::count_if(messages().begin(), message + 1, [](const ChatMessage& m) { return m.role == "user"; });
  const std::string where =
      (is_user ? "your message " : "the answer to your message ") + grouped(static_cast<uint64_t>(n));
  if (text.empty())
    return say("(the words are in " + std::string(is_user ? "a file of " : "a thought of ") + where + ")");
  say("(" + where + " has the words)");
  show_unpaged(with_marks(text));
}

void Conversation::throw_away(const std::string& wanted) {
  if (wanted.empty() && open().id == 0) throw Error("there is no message yet; /delete N deletes another conversation");
  const std::vector<ConversationId> ids = wanted.empty() ? std::vector{open().id} : all_listed(wanted);
  std::vector<ConversationId> thrown;
  for (const ConversationId id : ids) {
    if (take_interrupt() || !act(ThrowAway{{id}})) break;
    thrown.push_back(id);
  }
  if (thrown.empty()) return;
  trash_.clear();
  say("moved to the trash: " + titles_of(thrown) + "\n" +
      (thrown.size() == 1 ? "/restore brings it back"
                          : "/restore 1-" + std::to_string(thrown.size()) + " brings them back"));
}

void Conversation::list_trash() {
  const std::vector<ConversationSummary>& trash = controller_.now().trash;
  trash_ = ids_of(trash);
  trash.empty() ? say("the trash is empty") : write_text(list_conversations(trash));
}

// It stays in the trash.
void Conversation::show_trashed(const std::string& numbers) {
  AnswerLook look = answer_look(look_.hide_thinking, /*in_conversation=*/true);
  look.movable = false;
  std::string text;
  for (const ConversationSummary& conversation : trashed(numbers)) {
    text += "\"" + printable(conversation.title, kShownOfMessage) + "\", " +
            counted(conversation.n_messages, "message") + "\n\n";
    look_at_turns(conversation.id, [&](const ChatMessage& message) { text += shown(message, look); });
  }
  if (!has_interrupt()) show_paged(text, terminal_);
  if (take_interrupt()) return;
  say("(/restore " + numbers + " takes it out of the trash)");
}

void Conversation::look_at_turns(ConversationId id, const std::function<void(const ChatMessage&)>& at) {
  look([&](const ConversationStore& store) {
    for (const Turn& turn : store.load(id).turns) {
      if (has_interrupt()) return;
      ChatMessage message;
      static_cast<Message&>(message) = turn.message;
      at(message);
    }
  });
}

// Without an earlier /trash, numbers are those that it would show.
std::vector<ConversationSummary> Conversation::trashed(const std::string& numbers) {
  if (trash_.empty()) trash_ = ids_of(controller_.now().trash);
  if (trash_.empty()) throw Error("the trash is empty");
  const std::vector<uint32_t> wanted = numbers.empty() ? std::vector<uint32_t>{1} : parse_numbers(numbers);
  if (wanted.empty() || wanted.back() > trash_.size())
    throw Error("the trash has no number '" + printable(numbers, 60) + "'; it has " +
                counted(trash_.size(), "conversation") + "; /trash lists them");
  std::vector<ConversationSummary> all;
  for (const uint32_t n : wanted) {
    const ConversationSummary* found = find(controller_.now().trash, trash_[n - 1]);
    if (found == nullptr) throw Error("that conversation is no longer in the trash; /trash lists the others");
    all.push_back(*found);
  }
  return all;
}

void Conversation::take_from_trash(const std::string& numbers) {
  const std::vector<ConversationSummary> wanted = trashed(numbers);
  const ConversationId before = open().id;
  std::vector<ConversationId> restored;
  for (const ConversationSummary& conversation : wanted) {
    if (take_interrupt() || !act(TakeFromTrash{{conversation.id}})) break;
    restored.push_back(conversation.id);
  }
  if (restored.empty()) return;
  say("restored: " + titles_of(restored));
  if (open().id != before) return show_opened();
  number(restored);
  say(restored.size() == 1 ? "(/load 1 opens it)" : "(/load N opens one)");
}

// Also from the lines that were typed for it.
bool Conversation::erase_one(ConversationId id) {
  ConversationTree tree;
  if (!look([&](const ConversationStore& store) { tree = store.tree(id); }) || !act(EraseForEver{id})) return false;
  history_.forget([&](std::string_view line) { return was_typed_for(tree, line); });
  return true;
}

void Conversation::erase(const std::string& numbers) {
  const std::vector<ConversationSummary> wanted = trashed(numbers);
  size_t n_erased = 0;
  while (n_erased < wanted.size() && !take_interrupt() && erase_one(wanted[n_erased].id)) ++n_erased;
  if (n_erased == 0) return;
  trash_.clear();
  say("deleted for good: " +
      (n_erased > 1 ? counted(n_erased, "conversation") : printable(wanted.front().title, kShownOfMessage)));
}

void Conversation::versions(const std::string& number) {
  if (open().id == 0) throw Error("there is no message yet");
  if (number.empty() || versions_.empty()) {
    VersionList list;
    if (!look([&](const ConversationStore& store) { list = list_versions(shown_tree(store)); })) return;
    versions_ = list.turns;
    if (versions_.empty()) return say("every message has one version; /regen and /edit make others");
    if (number.empty()) return write_text(list.lines);
  }
  const uint32_t n = parse_count(number);
  if (n < 1 || n > versions_.size())
    throw Error("no version has the number '" + printable(number, 60) + "'; the last one is " +
                grouped(versions_.size()) + "; /versions shows them");
  if (!act(ShowVersion{.message = 0, .turn = versions_[n - 1]})) return;
  show_end();
  say("now shown: " + counted(messages().size(), "message"));
}

// The whole tree, with the branch that is shown.
ConversationTree Conversation::shown_tree(const ConversationStore& store) const {
  ConversationTree tree = store.tree(open().id);
  tree.shown = messages().empty() ? 0 : messages().back().turn;
  return tree;
}

// What was imported becomes the list, so that its numbers take it back.
void Conversation::import_from(const std::string& path) {
  const uint64_t notice_before = controller_.now().notices.empty() ? 0 : controller_.now().notices.back().id;
  {
    const auto spinner = std::make_shared<Spinner>("importing " + printable(path, 60));
    controller_.submit(ImportConversation{path, [spinner](double part) { spinner->set_progress(part); }});
  }
  const bool stopped = take_interrupt();  // before following, which takes it for something else
  const bool is_done = follow();
  std::vector<ConversationId> imported;
  for (const NoticeItem& notice : controller_.now().notices)
    if (notice.id > notice_before && !notice.imported.empty()) imported = notice.imported;
  const size_t n = imported.size();
  if (n == 0) return stopped ? say("(stopped; nothing was imported)") : is_done ? show_opened() : void();
  number(std::move(imported));
  if (is_done) show_opened();
  if (stopped) say("(stopped; " + counted(n, "conversation") + (n == 1 ? " was" : " were") + " imported)");
  if (stopped || !is_done || n > 1)
    say("(/delete " + (n == 1 ? "1" : "1-" + std::to_string(n)) + " takes the import back)");
}

// "all FILE" exports all conversations.
void Conversation::export_to(const std::string& argument) {
  constexpr std::string_view kAll = "all ";
  if (!argument.starts_with(kAll)) {
    act(ExportConversation{typed_path(argument)});
    return;
  }
  const std::string path = typed_path(std::string(trimmed(std::string_view(argument).substr(kAll.size()))));
  {
    const auto spinner = std::make_shared<Spinner>("exporting to " + printable(path, 60));
    controller_.submit(ExportConversation{
        .path = path, .all = true, .progress = [spinner](double part) { spinner->set_progress(part); }});
  }
  take_interrupt();  // before following, which takes it for something else
  follow();
}

}  // namespace warpchat
