// Conversations on disk, shared by everything of this program that runs: each is a tree of turns of which one branch is
// shown. What returns has been committed, so that killing the program loses nothing of it. Several processes may use
// one store; an object belongs to one thread at a time. Error: one sentence with the file, what is wrong and what to
// do.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/message.h"
#include "engine/store/database.h"

namespace warpchat {

using ConversationId = int64_t;  // from 1, never used again; 0: none
using TurnId = int64_t;          // likewise
using StoreTime = int64_t;       // milliseconds since 1970

enum class TurnState : int64_t {
  kOpen = 0,      // being streamed, or left by a program that was killed: what is there of it
  kComplete = 1,  // a message, or an answer that came to its end
  kStopped = 2,   // an answer that was stopped or failed
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
  StoreTime trashed;    // 0: it is not in the trash
  uint32_t n_messages;  // of the branch that is shown
  bool operator==(const ConversationSummary&) const = default;
};

struct StoredConversation {
  ConversationSummary summary;
  std::string system_prompt;
  bool drops_oldest;        // the model is given the newest turns that fit, where not all do
  std::vector<Turn> turns;  // of the branch that is shown, oldest first
};

// A whole conversation with all versions of its turns, as it is carried from one store to another.
struct ConversationTree {
  std::string title;  // empty: none was given, it is to follow the first message
  std::string system_prompt, model;
  StoreTime created = 0, updated = 0;
  std::vector<Turn> turns;  // by id; a parent comes before its children
  TurnId shown = 0;         // the last turn of the branch that is shown; 0: none
  bool drops_oldest = false;
  bool operator==(const ConversationTree&) const = default;
};
std::vector<Turn> shown_branch(const ConversationTree& tree);  // oldest first

struct SearchHit {
  ConversationSummary conversation;
  TurnId turn;          // the newest with all words in content, reasoning and files; 0: they are in the title
  std::string excerpt;  // around the first word, on one line
  bool operator==(const SearchHit&) const = default;
};

StoreTime store_time_now();

// A title from a first message: its first line with text, at most 60 characters.
std::string title_from(std::string_view message);

class ConversationStore {
 public:
  struct Opened {
    std::unique_ptr<ConversationStore> store;
    std::string notice;  // what the user must be told: a damaged file was set aside; else empty
  };
  // The store in this folder, which exists; created if it is not there, migrated if it is older. Reads little, however
  // large the file: a page is found to be damaged when it is needed, which then throws DamagedDatabase, and the next
  // opening checks all of it and sets it aside. Error if the folder cannot be written, if the file is of a newer
  // version, or if another process holds it for too long.
  static Opened open(const std::string& folder);

  // One that is nowhere but in this object.
  static std::unique_ptr<ConversationStore> in_memory();

  const std::string& path() const { return database_.path(); }

  // False once damage was met in it or somebody has set it aside: what is added from then on will not be found. To be
  // closed, and opened again.
  bool is_sound() const { return database_.is_sound(); }

  // A number that is another one once another process or object has changed something here.
  int64_t others_changes() const { return database_.integer("PRAGMA data_version"); }

  struct NewConversation {
    std::string title, system_prompt, model;
    bool drops_oldest = false;
  };
  struct Started {
    ConversationId conversation;
    TurnId turn;
  };
  Started start(const NewConversation& conversation, const Message& first);

  // A turn below its parent (0: a first message, as when the first one is edited), which from now on ends the shown
  // branch. Error if conversation or parent are not there any more.
  TurnId add(ConversationId conversation, TurnId parent, const Message& message,
             TurnState state = TurnState::kComplete);

  // An open turn, engine/store/answer_writer.h. Error if it was erased meanwhile. append: to its content and its
  // reasoning. end: what the answer has beside these two takes the place of what the turn had, unless it has nothing.
  // reopen: of one that has ended, to be continued.
  void append(TurnId turn, std::string_view content, std::string_view reasoning = {});
  void end(TurnId turn, TurnState state, const Message& answer = {});
  void reopen(TurnId turn);

  // Whole conversations. insert: with the times that the tree has, below new ids.
  ConversationTree tree(ConversationId conversation) const;  // Error if it is not there
  ConversationId insert(const ConversationTree& tree);

  // Branches.
  std::vector<Turn> branch(TurnId last) const;                         // from the first message to this turn
  std::vector<TurnId> siblings(TurnId turn) const;                     // with the same parent, itself too, oldest first
  void show(ConversationId conversation, TurnId last);                 // the branch that ends here; 0: no message
  TurnId show_newest_below(ConversationId conversation, TurnId turn);  // that goes through it; returns where it ends

  // Conversations.
  StoredConversation load(ConversationId conversation) const;                 // Error if it is not there
  std::vector<ConversationSummary> list(uint32_t limit = 1000) const;         // latest first, without the trash
  std::vector<ConversationSummary> trash(uint32_t limit = 1000) const;        // last thrown away first
  std::vector<ConversationSummary> find_title(std::string_view title) const;  // those that have it; else contain it
  std::vector<SearchHit> search(std::string_view words, uint32_t limit = 100) const;  // all words; latest first
  void rename(ConversationId conversation, std::string_view title);
  void retitle(ConversationId conversation, std::string_view title);  // unless the user has renamed it
  void describe(ConversationId conversation, std::string_view system_prompt, std::string_view model);
  void drop_oldest(ConversationId conversation, bool on);
  void throw_away(ConversationId conversation);
  void take_from_trash(ConversationId conversation);
  void erase(ConversationId conversation);  // for ever

 private:
  static constexpr std::string_view kTurnColumns = "id, parent, role, text, reasoning, extra, state, created";
  explicit ConversationStore(const std::string& path);
  void check_all() const;  // reads all of it, and mends what can be; DamagedDatabase
  int64_t depth_of(ConversationId conversation, TurnId turn) const;                  // Error if it is not there
  static Turn read_turn(const Statement& row);                                       // of kTurnColumns
  TurnId insert_turn(ConversationId conversation, const Turn& turn, int64_t depth);  // under an id of its own
  TurnId extend(ConversationId conversation, TurnId parent, const Message& message, TurnState state);
  std::vector<ConversationSummary> summaries(std::string_view rest, std::string_view parameter, uint32_t limit) const;
  template <class... Values>
  void change(std::string_view sql, const Values&... values);

  Database database_;
};

}  // namespace warpchat
