// Reads and inserts whole conversations.
#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "engine/store/conversation_store.h"

namespace warpchat {

namespace {

constexpr size_t kTurnsBetweenStops = 64;

}

std::vector<Turn> shown_branch(const ConversationTree& tree) {
  std::vector<Turn> branch;
  TurnId next = tree.shown;
  for (auto turn = tree.turns.rbegin(); turn != tree.turns.rend(); ++turn) {
    if (turn->id != next) continue;
    branch.push_back(*turn);
    next = turn->parent;
  }
  std::reverse(branch.begin(), branch.end());
  return branch;
}

void ConversationStore::for_each_last_message(const std::function<void(const LastMessage&)>& look) const {
  Statement row = database_.prepare(
      "SELECT c.id, t.depth, t.text FROM conversations AS c JOIN whole_turns AS t ON t.id = c.head"
      " WHERE c.trashed IS NULL");
  while (row.step()) look({row.integer(0), static_cast<uint32_t>(row.integer(1)), row.text(2)});
}

size_t ConversationStore::n_turns(ConversationId conversation) const {
  Statement row = database_.prepare("SELECT count(*) FROM turns WHERE conversation = ?1");
  return row.with(conversation).step() ? static_cast<size_t>(row.integer(0)) : 0;
}

ConversationTree ConversationStore::tree(ConversationId conversation) const {
  const StoredConversation stored = load(conversation);
  ConversationTree tree{.title = stored.summary.title,
                        .system_prompt = stored.system_prompt,
                        .model = stored.summary.model,
                        .created = stored.summary.created,
                        .updated = stored.summary.updated,
                        .shown = stored.turns.empty() ? 0 : stored.turns.back().id,
                        .drops_oldest = stored.drops_oldest,
                        .settings = stored.settings,
                        .filing = stored.summary.filing};
  Statement row = database_.prepare("SELECT " + std::string(kTurnColumns) +
                                    " FROM whole_turns WHERE conversation = ?1 ORDER BY id");
  row.with(conversation);
  while (row.step()) tree.turns.push_back(read_turn(row));
  return tree;
}

ConversationId ConversationStore::insert(const ConversationTree& tree, const std::function<bool()>& is_stopped) {
  struct Place {
    TurnId id;
    int64_t depth;
  };
  const std::string title = !tree.title.empty()  ? tree.title
                            : tree.turns.empty() ? ""
                                                 : title_from(tree.turns[0].message.content);
  Transaction transaction(database_);
  database_
      .prepare(
          "INSERT INTO conversations(title, renamed, system_prompt, model, settings, drops_oldest, created, updated,"
          " pinned, archived, folder) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
      .with(title, int64_t{!tree.title.empty()}, tree.system_prompt, tree.model, tree.settings,
            int64_t{tree.drops_oldest}, tree.created, tree.updated, int64_t{tree.filing.pinned},
            int64_t{tree.filing.archived}, tree.filing.folder)
      .run();
  const ConversationId conversation = database_.last_row();
  for (const std::string& tag : tree.filing.tags)
    database_.prepare("INSERT OR IGNORE INTO tags(conversation, tag) VALUES (?1, ?2)").with(conversation, tag).run();
  std::unordered_map<TurnId, Place> places{{0, {0, 0}}};
  for (const Turn& turn : tree.turns) {
    if (places.size() % kTurnsBetweenStops == 0 && is_stopped()) return 0;
    assert(places.contains(turn.parent));
    const Place parent = places.at(turn.parent);
    Turn here = turn;
    here.parent = parent.id;
    places[turn.id] = {insert_turn(conversation, here, parent.depth + 1), parent.depth + 1};
  }
  show(conversation, places.at(tree.shown).id);
  transaction.commit();
  return conversation;
}

}  // namespace warpchat
