// The worker with a damaged, missing, failing or shared store.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/store/database.h"
#include "tests/gui/worker_window.h"

namespace warpchat::gui {
namespace {

class ChatWorkerStoreTest : public WorkerTest {};

TEST_F(ChatWorkerStoreTest, ADamagedStoreIsSetAsideAndTheUserTold) {
  std::filesystem::create_directories(home_.data());
  std::ofstream(home_.store_file()) << std::string(8192, 'x');
  WorkerWindow window(brief());
  window.ask("hello");
  EXPECT_NE(window.error().find("set aside"), std::string::npos) << window.error();
  EXPECT_EQ(window.state().store_fault, "");
  EXPECT_EQ(stored(window.open().id).size(), 2u);
}

TEST_F(ChatWorkerStoreTest, WithoutAStoreOneChatsOn) {
  const struct {
    const char* name;
    std::function<void(const Home&)> spoil;
  } cases[] = {
      {"no folder", [](const Home& home) { std::ofstream(home.data()) << "a file in its place"; }},
      {"newer version",
       [](const Home& home) {
         std::filesystem::create_directories(home.data());
         Database(home.store_file()).run("PRAGMA user_version = 99");
       }},
  };
  for (const auto& [name, spoil] : cases) {
    const Home home;
    spoil(home);
    WorkerWindow window(brief());
    window.ask("hello");
    EXPECT_EQ(window.messages().size(), 2u) << name;
    EXPECT_NE(window.state().store_fault, "") << name;
    EXPECT_TRUE(window.error().starts_with(window.state().store_fault)) << name;
    window.post(Regenerate{window.messages()[1].key});
    window.until([&] { return window.messages().size() == 2 && window.messages()[1].siblings.size() == 2; }, name);
    EXPECT_EQ(window.state().conversations.size(), 1u) << name;
  }
}

TEST_F(ChatWorkerStoreTest, NoHistoryLeavesNothingOnDisk) {
  ChatOptions options = brief();
  options.no_history = true;
  WorkerWindow window(options);
  window.ask("hello");
  EXPECT_EQ(window.state().store_fault, "--no-history was given");
  EXPECT_EQ(window.error(), "");
  EXPECT_EQ(window.state().conversations.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(home_.store_file()));
}

TEST_F(ChatWorkerStoreTest, WhatCouldNotBeStoredIsStoredOnceThatWorksAgain) {
  WorkerWindow window(brief());
  window.ask("one");
  const ConversationId id = window.open().id;
  const Database other(home_.store_file());
  other.run("CREATE TRIGGER full BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'no room'); END");
  window.ask("two");
  EXPECT_NE(window.state().store_fault.find("no room"), std::string::npos) << window.state().store_fault;
  EXPECT_EQ(window.messages().size(), 4u) << "it was answered all the same";
  EXPECT_EQ(stored(id).size(), 2u);
  window.ask("three");
  other.run("DROP TRIGGER full");
  window.ask("four");
  EXPECT_EQ(window.state().store_fault, "");
  const std::vector<Turn> turns = stored(id);
  ASSERT_EQ(turns.size(), 8u);
  for (size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i].message.content, window.messages()[i].content);
}

TEST_F(ChatWorkerStoreTest, AnAnswerWhoseEndCouldNotBeStoredIsCompletedLater) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until([&] { return window.messages().size() == 2 && window.messages()[1].turn != 0; }, "it is being stored");
  const ConversationId id = window.open().id;
  const Database other(home_.store_file());
  other.run("CREATE TRIGGER full BEFORE UPDATE ON turns BEGIN SELECT RAISE(ABORT, 'no room'); END");
  window.until_streams(window.messages()[1].tokens.size() + 5);
  window.post(Stop{});
  window.until_idle();
  EXPECT_NE(window.state().store_fault, "");
  other.run("DROP TRIGGER full");
  window.post(SetSystemPrompt{"be brief"});
  window.post(Send{"more"});
  window.until([&] { return window.messages().size() == 4; }, "the next answer");
  const std::vector<Turn> turns = stored(id);
  ASSERT_GE(turns.size(), 3u);
  EXPECT_EQ(turns[1].message.content, window.messages()[1].content);
  EXPECT_EQ(turns[1].state, TurnState::kStopped);
}

// Overwrites all pages but the first, so that any open connection meets the damage.
void damage(const std::string& path) {
  {
    const Database database(path);
    database.run("CREATE TABLE other(x); INSERT INTO other VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(std::filesystem::file_size(path) - 4096, 0x5a);
}

TEST_F(ChatWorkerStoreTest, AConversationGoesOnInANewStoreWhenItsOwnIsDamaged) {
  WorkerWindow window(brief());
  window.ask("one");
  window.ask("two");
  damage(home_.store_file());
  window.ask("three");
  EXPECT_NE(window.error().find("set aside as"), std::string::npos) << window.error();
  EXPECT_NE(window.error().find("continues in the new file"), std::string::npos) << window.error();
  EXPECT_EQ(window.state().store_fault, "");
  window.ask("four");
  const std::vector<Turn> turns = stored(window.open().id);
  ASSERT_EQ(turns.size(), 8u);
  for (size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i].message.content, window.messages()[i].content);
  EXPECT_EQ(window.state().conversations.size(), 1u);
}

TEST_F(ChatWorkerStoreTest, AnAnswerGoesOnInANewStoreWhenItsOwnIsDamaged) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until([&] { return window.messages().size() == 2 && window.messages()[1].turn != 0; }, "it is being stored");
  damage(home_.store_file());
  window.until([&] { return !window.error().empty(); }, "the damage is met");
  window.until([&] { return window.messages()[1].turn != 0; }, "it is stored again");
  window.post(Stop{});
  window.until_idle();
  const std::vector<Turn> turns = stored(window.open().id);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].message.content, "go on");
  EXPECT_EQ(turns[1].message.content, window.messages()[1].content);
  EXPECT_EQ(turns[1].state, TurnState::kStopped);
}

TEST_F(ChatWorkerStoreTest, TwoWindowsShareAStore) {
  WorkerWindow one(brief()), other(brief());
  one.ask("hello");
  const ConversationId id = one.open().id;
  other.until([&] { return other.state().conversations.size() == 1; }, "the other sees it");
  other.post(OpenStored{id});
  other.until([&] { return other.messages().size() == 2; }, "the other opens it");
  const uint64_t key = other.messages()[0].key;
  one.ask("and on");
  other.until([&] { return other.messages().size() == 4; }, "the other follows");
  EXPECT_EQ(other.messages()[0].key, key);
  EXPECT_EQ(other.messages()[3].content, one.messages()[3].content);
  one.post(Rename{id, "ours"});
  other.until([&] { return other.open().title == "ours"; }, "the other sees its title");
}

TEST_F(ChatWorkerStoreTest, WhatAnotherWindowErasesIsKeptWhereItIsOpen) {
  WorkerWindow one(brief()), other(brief());
  one.ask("hello");
  const ConversationId id = one.open().id;
  other.until([&] { return other.state().conversations.size() == 1; }, "the other sees it");
  other.post(ThrowAway{{id}});
  other.post(EraseForEver{id});
  other.until([&] { return other.state().conversations.empty() && other.state().trash.empty(); }, "it is erased");
  one.until([&] { return one.open().id == 0; }, "the first window knows");
  EXPECT_EQ(one.messages().size(), 2u);
  one.ask("are you there");
  EXPECT_NE(one.open().id, id);
  EXPECT_EQ(stored(one.open().id).size(), 4u);
}

}  // namespace
}  // namespace warpchat::gui
