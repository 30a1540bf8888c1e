// Conversations on disk, shared by all processes of this program. A conversation is a tree of turns; one branch is
// shown. Every function commits before it returns, so that killing the program loses nothing. Several processes may use
// one store; an object is for one thread at a time. Errors name the file, the fault and a remedy.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/message.h"
#include "engine/store/conversation_filter.h"
#include "engine/store/database.h"

namespace warpchat {

using ConversationId = int64_t;  // from 1, never reused; 0: none
using TurnId = int64_t;          // from 1, never reused; 0: none
using StoreTime = int64_t;       // milliseconds since 1970

enum class TurnState : int64_t {
  kOpen = 0,      // streaming, or left by a killed program: partial text
  kComplete = 1,  // a message, or a finished answer
  kStopped = 2,   // a stopped or failed answer
};

struct Turn {
  TurnId id, parent;  // parent 0: a first message
  Message message;
  TurnState state;
  StoreTime created;
  bool operator==(const Turn&) const = default;
};

struct ConversationSummary {
  ConversationId id;
  std::string title, model;
  StoreTime created, updated;
  StoreTime trashed;    // 0: not in the trash
  uint32_t n_messages;  // on the shown branch
  Filing filing = {};
  bool operator==(const ConversationSummary&) const = default;
};

struct StoredConversation {
  ConversationSummary summary;
  std::string system_prompt;
  std::string settings;     // JSON; empty: none
  bool drops_oldest;        // drop the oldest turns if not all fit the context
  std::vector<Turn> turns;  // the shown branch, oldest first
};

// A conversation with all versions of its turns, for transfer between stores.
struct ConversationTree {
  std::string title;  // empty: derived from the first message
  std::string system_prompt, model;
  StoreTime created = 0, updated = 0;
  std::vector<Turn> turns;  // by id; parents before children
  TurnId shown = 0;         // last turn of the shown branch; 0: none
  bool drops_oldest = false;
  std::string settings = {};  // as in StoredConversation
  Filing filing = {};
  bool operator==(const ConversationTree&) const = default;
};
std::vector<Turn> shown_branch(const ConversationTree& tree);  // oldest first

struct SearchHit {
  ConversationSummary conversation;
  TurnId turn;          // newest with all words in content, reasoning and files; 0: the title has them
  std::string excerpt;  // context of the first word, on one line
  bool operator==(const SearchHit&) const = default;
};

StoreTime store_time_now();

// Title from a first message: its first non-empty line, at most 60 characters.
std::string title_from(std::string_view message);

// A conversation, or a turn of it, is no longer there.
class ErasedMeanwhile : public Error {
 public:
  using Error::Error;
};

class ConversationStore {
 public:
  struct Opened {
    std::unique_ptr<ConversationStore> store;
    std::string notice;  // for the user, if a damaged file was set aside or no other program can share it; else empty
  };
  // Opens the store in an existing folder; creates or migrates it if necessary. Reads little, however large the file:
  // damage is found when a page is needed, and throws DamagedDatabase. The next open() then checks the whole file and
  // sets it aside. Error if the folder is not writable, the file has a newer version, or another process holds it too
  // long.
  static Opened open(const std::string& folder);

  // A temporary store in this object's memory.
  static std::unique_ptr<ConversationStore> in_memory();

  // The same with all that is stored in a folder where nothing can be written, such as one of a read-only file system.
  // Null if the folder has no store, or may be written to. Error if it cannot be read.
  static std::unique_ptr<ConversationStore> copy_of_read_only(const std::string& folder);

  const std::string& path() const { return database_.path(); }

  // False after damage, or after another process has set the file aside: new data would be lost. Close and reopen it
  // then.
  bool is_sound() const { return database_.is_sound(); }

  // Changes whenever another process or object has modified the store.
  int64_t others_changes() const { return database_.integer("PRAGMA data_version"); }

  struct NewConversation {
    std::string title, system_prompt, model;
    bool drops_oldest = false;
    std::string settings = {};
  };
  struct Started {
    ConversationId conversation;
    TurnId turn;
  };
  Started start(const NewConversation& conversation, const Message& first);

  // Adds a turn below its parent (0: a first message), and shows the branch that it ends. Error if conversation or
  // parent no longer exist.
  TurnId add(ConversationId conversation, TurnId parent, const Message& message,
             TurnState state = TurnState::kComplete);

  // Open turns, see engine/store/answer_writer.h. Error if the turn was erased. append: extends content and reasoning,
  // and writes no more than that. rewrite: replaces all of it. end: replaces the turn's other fields,
  // unless the answer has none. reopen: continues a finished turn.
  void append(TurnId turn, std::string_view content, std::string_view reasoning = {});
  void rewrite(TurnId turn, const Message& answer);
  void end(TurnId turn, TurnState state, const Message& answer = {});
  void reopen(TurnId turn);
  void note_failure(TurnId question, const std::string& failure);  // of a user's turn; empty: none any more

  // Whole conversations. insert: keeps the tree's times, assigns new ids.
  ConversationTree tree(ConversationId conversation) const;  // Error if missing
  // is_stopped is asked now and then; true: nothing is stored, and the result is 0.
  ConversationId insert(
      const ConversationTree& tree, const std::function<bool()>& is_stopped = [] { return false; });

  // The last shown message of each conversation that is not in the trash, in any order.
  struct LastMessage {
    ConversationId conversation;
    uint32_t n_messages;  // on the shown branch, including it
    std::string content;
  };
  void for_each_last_message(const std::function<void(const LastMessage&)>& look) const;
  size_t n_turns(ConversationId conversation) const;  // on all branches

  // Branches.
  std::vector<Turn> branch(TurnId last) const;          // from the first message to this turn
  std::vector<TurnId> siblings(TurnId turn) const;      // with the same parent, including itself, oldest first
  void show(ConversationId conversation, TurnId last);  // shows the branch that ends here; 0: no message
  // Copies turns, each below the one before, and the first below this parent (0: a first message); shows their branch.
  void copy_below(ConversationId conversation, TurnId parent, const std::vector<TurnId>& turns);
  TurnId show_newest_below(ConversationId conversation, TurnId turn);  // newest branch through it; returns its end

  // Conversations.
  StoredConversation load(ConversationId conversation) const;                     // Error if missing
  std::optional<ConversationSummary> summary(ConversationId conversation) const;  // nullopt: missing
  std::vector<ConversationSummary> list(uint32_t limit = 1000, const ConversationFilter& filter = {}) const;
  std::vector<ConversationSummary> trash(uint32_t limit = 1000) const;        // most recently trashed first
  std::vector<ConversationSummary> find_title(std::string_view title) const;  // equal titles; else containing it
  std::vector<SearchHit> search(std::string_view words, const ConversationFilter& filter = {},
                                uint32_t limit = 100) const;  // with all words; latest first

  // Folders and tags, by name.
  std::vector<NameCount> folders() const;
  std::vector<NameCount> tags() const;
  void file(const std::vector<ConversationId>& conversations, const FilingChange& change);  // all of them, or none

  void rename(ConversationId conversation, std::string_view title);
  void retitle(ConversationId conversation, std::string_view title);  // unless renamed by the user
  void describe(ConversationId conversation, std::string_view system_prompt, std::string_view model);
  void set_settings(ConversationId conversation, std::string_view settings);
  // In the settings of all conversations that have "assistant": FROM, if there are any.
  void rename_assistant(std::string_view from, std::string_view to);
  void drop_oldest(ConversationId conversation, bool on);
  void throw_away(ConversationId conversation);
  void take_from_trash(ConversationId conversation);
  bool is_in_trash(ConversationId conversation) const;  // false for one that was erased
  void erase(ConversationId conversation);  // permanent; remove_erased_text() then leaves nothing on the disk
  // Overwrites what erased conversations have left in the search indexes and the log, which takes a while in a large
  // store. False if another program reads the log, which then still has it until all have closed the file.
  bool remove_erased_text();

  // While it lives, changes wait no longer than this for another program's lock, and then throw BusyDatabase.
  class Patience {
   public:
    Patience(const ConversationStore& store, std::chrono::milliseconds patience) : database_(store.database_) {
      database_.set_patience(patience);
    }
    ~Patience() { database_.set_patience(Database::kPatience); }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

   private:
    const Database& database_;
  };

 private:
  static constexpr std::string_view kTurnColumns = "id, parent, role, text, reasoning, extra, state, created";
  enum class Sharing { kShared, kAlone };  // kAlone: no other program can open it meanwhile
  explicit ConversationStore(Database database, Sharing sharing = Sharing::kShared);
  void check_all() const;  // reads all of it, and repairs indexes; DamagedDatabase
  int64_t depth_of(ConversationId conversation, TurnId turn) const;                  // Error if missing
  static Turn read_turn(const Statement& row);                                       // from kTurnColumns
  TurnId insert_turn(ConversationId conversation, const Turn& turn, int64_t depth);  // with a new id
  TurnId extend(ConversationId conversation, TurnId parent, const Message& message, TurnState state);
  std::vector<ConversationSummary> summaries(std::string_view rest, std::string_view first, std::string_view second,
                                             uint32_t limit) const;
  std::vector<NameCount> names(const char* sql) const;
  template <class... Values>
  void change(std::string_view sql, const Values&... values);

  Database database_;
};

}  // namespace warpchat
