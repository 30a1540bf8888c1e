// Each function is one statement or transaction; schema.cpp describes the tables.
#include "engine/store/conversation_store.h"

#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/store/schema.h"
#include "engine/store/store_file.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kTitleCharacters = 60;

// All fields of a message without a column of their own, as JSON. Empty: none.
std::string extra_of(Message message) {
  message.role.clear();
  message.content.clear();
  message.reasoning.clear();
  if (message == Message{}) return "";
  nlohmann::ordered_json extra = to_json(message);
  extra.erase("role");
  if (message.files.empty()) extra.erase("content");
  return extra.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

// Ignores unreadable data, so that the text remains accessible.
Message message_of_extra(const std::string& extra) {
  if (extra.empty()) return {};
  try {
    return message_from_json(parse_untrusted_json(extra));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return {};
  }
}

ErasedMeanwhile gone(const char* what) {
  return ErasedMeanwhile(std::string("the ") + what + " was erased in another window");
}

}  // namespace

StoreTime store_time_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string title_from(std::string_view message) {
  message = trimmed(message);
  message = trimmed(message.substr(0, message.find_first_of("\r\n")));
  size_t end = 0, n_characters = 0;
  for (; end < message.size(); ++end) {
    if (!continues_character(message[end]) && ++n_characters > kTitleCharacters) break;
  }
  if (end == message.size()) return std::string(message);
  const size_t word_end = message.find_last_of(" \t", end);
  if (word_end != std::string_view::npos && word_end > end / 2) end = word_end;
  return std::string(trimmed(message.substr(0, end))) + "…";
}

ConversationStore::Opened ConversationStore::open(const std::string& folder) {
  const StoreFile file(folder);  // locked until the store is ready
  Opened opened;
  const auto begin = [&] {
    try {
      opened.store.reset(new ConversationStore(Database(file.path())));
    } catch (const NoSharedMemory&) {
      opened.store.reset(new ConversationStore(Database(file.path()), Sharing::kAlone));
      if (!opened.notice.empty()) opened.notice += "; ";
      opened.notice += "the file system of " + file.path() +
                       " cannot share memory between programs, so one program at a time can use the conversations; set "
                       "XDG_DATA_HOME to a folder on a local disk to share them";
    }
  };
  try {
    begin();
    if (file.is_suspect()) opened.store->check_all();
  } catch (const DamagedDatabase&) {
    opened.store.reset();
    opened.notice = "the conversations in " + file.path() + " are damaged: they were set aside as " + file.set_aside() +
                    ", and a new store begins";
    begin();
  }
  file.trust();
  return opened;
}

std::unique_ptr<ConversationStore> ConversationStore::in_memory() {
  return std::unique_ptr<ConversationStore>(new ConversationStore(Database(Database::kInMemory)));
}

std::unique_ptr<ConversationStore> ConversationStore::copy_of_read_only(const std::string& folder) {
  const std::string path = store_path(folder);
  if (access(path.c_str(), F_OK) != 0 || can_write_to(folder)) return nullptr;
  return std::unique_ptr<ConversationStore>(new ConversationStore(Database::copy_in_memory(path)));
}

ConversationStore::ConversationStore(Database database, Sharing sharing) : database_(std::move(database)) {
  if (sharing == Sharing::kAlone) database_.run("PRAGMA locking_mode = EXCLUSIVE");  // the log then needs no memory
  database_.run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
  migrate(database_);
}

void ConversationStore::check_all() const {
  // SQLite's check includes the indexes from version 3.44 on, hence the order; other damage leaves the file unchanged.
  Transaction transaction(database_);
  rebuild_indexes(database_);
  check_pages(database_);
  transaction.commit();
}

template <class... Values>
void ConversationStore::change(std::string_view sql, const Values&... values) {
  database_.prepare(sql).with(values...).run();
  if (database_.changes() == 0) throw gone("conversation");
}

ConversationStore::Started ConversationStore::start(const NewConversation& conversation, const Message& first) {
  Transaction transaction(database_);
  database_
      .prepare(
          "INSERT INTO conversations(title, system_prompt, model, settings, drops_oldest, created, updated)"
          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)")
      .with(conversation.title, conversation.system_prompt, conversation.model, conversation.settings,
            int64_t{conversation.drops_oldest}, store_time_now())
      .run();
  Started started{database_.last_row(), 0};
  started.turn = extend(started.conversation, 0, first, TurnState::kComplete);
  transaction.commit();
  return started;
}

TurnId ConversationStore::add(ConversationId conversation, TurnId parent, const Message& message, TurnState state) {
  Transaction transaction(database_);
  const TurnId turn = extend(conversation, parent, message, state);
  transaction.commit();
  return turn;
}

TurnId ConversationStore::insert_turn(ConversationId conversation, const Turn& turn, int64_t depth) {
  database_
      .prepare(
          "INSERT INTO turns(conversation, parent, depth, role, text, reasoning, extra, state, created)"
          " VALUES (?1, nullif(?2, 0), ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
      .with(conversation, turn.parent, depth, turn.message.role, turn.message.content, turn.message.reasoning,
            extra_of(turn.message), static_cast<int64_t>(turn.state), turn.created)
      .run();
  return database_.last_row();
}

TurnId ConversationStore::extend(ConversationId conversation, TurnId parent, const Message& message, TurnState state) {
  const int64_t depth = parent == 0 ? 1 : depth_of(conversation, parent) + 1;
  const TurnId turn = insert_turn(conversation, {0, parent, message, state, store_time_now()}, depth);
  change("UPDATE conversations SET head = ?2, updated = ?3 WHERE id = ?1", conversation, turn, store_time_now());
  return turn;
}

int64_t ConversationStore::depth_of(ConversationId conversation, TurnId turn) const {
  Statement found = database_.prepare("SELECT depth FROM turns WHERE id = ?1 AND conversation = ?2");
  if (!found.with(turn, conversation).step()) throw gone("message");
  return found.integer(0);
}

void ConversationStore::append(TurnId turn, std::string_view content, std::string_view reasoning) {
  database_
      .prepare("INSERT INTO pieces(turn, text, reasoning) SELECT id, ?2, ?3 FROM turns WHERE id = ?1 AND state = 0")
      .with(turn, content, reasoning)
      .run();
  if (database_.changes() == 0) throw gone("answer");
}

void ConversationStore::rewrite(TurnId turn, const Message& answer) {
  Transaction transaction(database_);
  database_.prepare("UPDATE turns SET text = ?2, reasoning = ?3, extra = ?4 WHERE id = ?1 AND state = 0")
      .with(turn, answer.content, answer.reasoning, extra_of(answer))
      .run();
  if (database_.changes() == 0) throw gone("answer");
  database_.prepare("DELETE FROM pieces WHERE turn = ?1").with(turn).run();
  transaction.commit();
}

void ConversationStore::end(TurnId turn, TurnState state, const Message& answer) {
  Transaction transaction(database_);
  database_
      .prepare(
          "UPDATE turns SET state = ?2, extra = coalesce(nullif(?3, ''), extra), text = whole.text,"
          " reasoning = whole.reasoning FROM (SELECT text, reasoning FROM open_texts WHERE id = ?1) AS whole"
          " WHERE id = ?1 AND state = 0")
      .with(turn, static_cast<int64_t>(state), extra_of(answer))
      .run();
  if (database_.changes() == 0) throw gone("answer");
  database_.prepare("DELETE FROM pieces WHERE turn = ?1").with(turn).run();
  transaction.commit();
}

void ConversationStore::reopen(TurnId turn) {
  database_.prepare("UPDATE turns SET state = 0 WHERE id = ?1").with(turn).run();
  if (database_.changes() == 0) throw gone("answer");
}

void ConversationStore::note_failure(TurnId question, const std::string& failure) {
  Statement row = database_.prepare("SELECT extra FROM turns WHERE id = ?1 AND state <> 0");
  if (!row.with(question).step()) throw gone("message");
  Message message = message_of_extra(row.text(0));
  message.failure = failure;
  database_.prepare("UPDATE turns SET extra = ?2 WHERE id = ?1").with(question, extra_of(message)).run();
}

Turn ConversationStore::read_turn(const Statement& row) {
  Message message = message_of_extra(row.text(5));
  message.role = row.text(2);
  message.content = row.text(3);
  message.reasoning = row.text(4);
  return {.id = row.integer(0),
          .parent = row.integer(1),
          .message = std::move(message),
          .state = static_cast<TurnState>(row.integer(6)),
          .created = row.integer(7)};
}

std::vector<Turn> ConversationStore::branch(TurnId last) const {
  Statement row = database_.prepare(
      "WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM turns WHERE id = ?1"
      "  UNION ALL SELECT turns.id, turns.parent FROM turns JOIN up ON turns.id = up.parent)"
      " SELECT " +
      std::string(kTurnColumns) + " FROM whole_turns WHERE id IN (SELECT id FROM up) ORDER BY depth");
  row.with(last);
  std::vector<Turn> turns;
  while (row.step()) turns.push_back(read_turn(row));
  return turns;
}

std::vector<TurnId> ConversationStore::siblings(TurnId turn) const {
  Statement row = database_.prepare(
      "SELECT other.id FROM turns AS own JOIN turns AS other"
      " ON other.conversation = own.conversation AND other.parent IS own.parent WHERE own.id = ?1 ORDER BY other.id");
  row.with(turn);
  std::vector<TurnId> turns;
  while (row.step()) turns.push_back(row.integer(0));
  return turns;
}

void ConversationStore::show(ConversationId conversation, TurnId last) {
  if (last != 0) depth_of(conversation, last);
  change("UPDATE conversations SET head = nullif(?2, 0) WHERE id = ?1", conversation, last);
}

void ConversationStore::copy_below(ConversationId conversation, TurnId parent, const std::vector<TurnId>& turns) {
  Transaction transaction(database_);
  for (const TurnId turn : turns) {
    const int64_t depth = parent == 0 ? 1 : depth_of(conversation, parent) + 1;
    database_
        .prepare(
            "INSERT INTO turns(conversation, parent, depth, role, text, reasoning, extra, state, created)"
            " SELECT conversation, nullif(?3, 0), ?4, role, text, reasoning, extra, iif(state = 0, 2, state), created"
            " FROM whole_turns WHERE id = ?1 AND conversation = ?2")
        .with(turn, conversation, parent, depth)
        .run();
    if (database_.changes() == 0) throw gone("message");
    parent = database_.last_row();
  }
  show(conversation, parent);
  transaction.commit();
}

// Child ids are larger than their parent's, so the largest id on the path is its end.
TurnId ConversationStore::show_newest_below(ConversationId conversation, TurnId turn) {
  Transaction transaction(database_);
  Statement found = database_.prepare(
      "WITH RECURSIVE down(id) AS (SELECT ?1"
      "  UNION ALL SELECT (SELECT max(turns.id) FROM turns WHERE turns.parent = down.id) FROM down WHERE id IS NOT "
      "NULL)"
      " SELECT max(id) FROM down");
  const TurnId last = found.with(turn).step() ? found.integer(0) : turn;
  show(conversation, last);
  transaction.commit();
  return last;
}

StoredConversation ConversationStore::load(ConversationId conversation) const {
  std::optional<ConversationSummary> found = summary(conversation);
  Statement row =
      database_.prepare("SELECT system_prompt, settings, drops_oldest, head FROM conversations WHERE id = ?1");
  if (!found || !row.with(conversation).step()) throw gone("conversation");
  return {.summary = std::move(*found),
          .system_prompt = row.text(0),
          .settings = row.text(1),
          .drops_oldest = row.integer(2) != 0,
          .turns = branch(row.integer(3))};
}

void ConversationStore::rename(ConversationId conversation, std::string_view title) {
  change("UPDATE conversations SET title = ?2, renamed = 1 WHERE id = ?1", conversation, title);
}

void ConversationStore::retitle(ConversationId conversation, std::string_view title) {
  change("UPDATE conversations SET title = CASE renamed WHEN 0 THEN ?2 ELSE title END WHERE id = ?1", conversation,
         title);
}

void ConversationStore::describe(ConversationId conversation, std::string_view system_prompt, std::string_view model) {
  change("UPDATE conversations SET system_prompt = ?2, model = ?3 WHERE id = ?1", conversation, system_prompt, model);
}

void ConversationStore::set_settings(ConversationId conversation, std::string_view settings) {
  change("UPDATE conversations SET settings = ?2 WHERE id = ?1", conversation, settings);
}

void ConversationStore::rename_assistant(std::string_view from, std::string_view to) {
  database_
      .prepare(
          "UPDATE conversations SET settings = json_set(settings, '$.assistant', ?2) "
          "WHERE CASE WHEN json_valid(settings) THEN json_extract(settings, '$.assistant') = ?1 ELSE 0 END")
      .with(from, to)
      .run();
}

void ConversationStore::drop_oldest(ConversationId conversation, bool on) {
  change("UPDATE conversations SET drops_oldest = ?2 WHERE id = ?1", conversation, int64_t{on});
}

void ConversationStore::throw_away(ConversationId conversation) {
  change("UPDATE conversations SET trashed = ?2 WHERE id = ?1", conversation, store_time_now());
}

void ConversationStore::take_from_trash(ConversationId conversation) {
  change("UPDATE conversations SET trashed = ?2 WHERE id = ?1", conversation, nullptr);
}

bool ConversationStore::is_in_trash(ConversationId conversation) const {
  Statement row = database_.prepare("SELECT trashed IS NOT NULL FROM conversations WHERE id = ?1");
  return row.with(conversation).step() && row.integer(0) != 0;
}

void ConversationStore::erase(ConversationId conversation) {
  change("DELETE FROM conversations WHERE id = ?1", conversation);
}

bool ConversationStore::remove_erased_text() {
  // The indexes keep deleted words until their parts are merged.
  Transaction transaction(database_);
  database_.run(
      "INSERT INTO text_index(text_index) VALUES ('optimize');"
      "INSERT INTO title_index(title_index) VALUES ('optimize')");
  transaction.commit();
  return database_.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0;
}

}  // namespace warpchat
