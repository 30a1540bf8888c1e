// Which conversations a store has already.
#include "engine/store/known_conversations.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

ConversationTree tree_of(const std::vector<std::string>& texts) {
  ConversationTree tree{.created = 5, .updated = 5};
  for (const std::string& text : texts) {
    const TurnId id = tree.shown + 1;
    tree.turns.push_back(
        {id, tree.shown, {.role = id % 2 == 1 ? "user" : "assistant", .content = text}, TurnState::kComplete, 5});
    tree.shown = id;
  }
  return tree;
}

TEST(KnownConversations, HaveTheSameMessages) {
  const auto store = ConversationStore::in_memory();
  const ConversationId ab = store->insert(tree_of({"a", "b"})), xb = store->insert(tree_of({"x", "b"}));
  KnownConversations known(*store);
  EXPECT_EQ(known.find(tree_of({"a", "b"})), ab);
  EXPECT_EQ(known.find(tree_of({"x", "b"})), xb);
  for (const auto& texts : {std::vector<std::string>{"a"}, {"y", "b"}, {"a", "c"}, {"a", "b", "c"}, {}})
    EXPECT_EQ(known.find(tree_of(texts)), 0) << texts.size();
  ConversationTree other_role = tree_of({"a", "b"}), with_file = other_role, titled = other_role;
  other_role.turns[1].message.role = "user";
  with_file.turns[0].message.files = {{"n", "t"}};
  titled.title = "another title";
  EXPECT_EQ(known.find(other_role), 0);
  EXPECT_EQ(known.find(with_file), 0);
  EXPECT_EQ(known.find(titled), ab);
}

TEST(KnownConversations, MoreBranchesAreNotKnown) {
  const auto store = ConversationStore::in_memory();
  ConversationTree more = tree_of({"a", "b"});
  const ConversationId one = store->insert(more);
  more.turns.push_back({3, 1, {.role = "assistant", .content = "c"}, TurnState::kComplete, 5});
  EXPECT_EQ(KnownConversations(*store).find(more), 0);
  const ConversationId two = store->insert(more);
  EXPECT_EQ(KnownConversations(*store).find(more), two);
  store->throw_away(one);
  EXPECT_EQ(KnownConversations(*store).find(tree_of({"a", "b"})), two);
  store->throw_away(two);
  EXPECT_EQ(KnownConversations(*store).find(more), 0);
}

TEST(ConversationStore, AStoppedInsertStoresNothing) {
  const auto store = ConversationStore::in_memory();
  const ConversationTree tree = tree_of(std::vector<std::string>(1000, "text"));
  int asked = 0;
  EXPECT_EQ(store->insert(tree, [&] { return ++asked == 3; }), 0);
  EXPECT_TRUE(store->list().empty());
  EXPECT_TRUE(store->search("text").empty());
  EXPECT_NE(store->insert(tree), 0);
}

}  // namespace
}  // namespace warpchat
