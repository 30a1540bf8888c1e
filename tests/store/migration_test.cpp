// Stores of the schema whose messages had only a text: nothing is lost, reasoning is split off, everything is found.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "engine/store/conversation_store.h"
#include "engine/store/schema.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

constexpr int kTextsAlone = 2;  // the schema's version

struct OldTurn {
  std::string role, text;
  TurnState state = TurnState::kComplete;
};

// One conversation; each turn follows the one before it.
void write_old_store(const StoreFolder& folder, const std::vector<OldTurn>& turns) {
  const Database old(folder.file());
  old.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  for (int version = 0; version < kTextsAlone; ++version) old.run(schema_steps()[static_cast<size_t>(version)]);
  old.run("BEGIN; INSERT INTO conversations(title, created, updated) VALUES ('from before', 1, 1)");
  for (size_t i = 0; i < turns.size(); ++i)
    old.prepare(
           "INSERT INTO turns(conversation, parent, depth, role, text, state, created)"
           " VALUES (1, nullif(?1, 0), ?1 + 1, ?2, ?3, ?4, 7)")
        .with(static_cast<int64_t>(i), turns[i].role, turns[i].text, static_cast<int64_t>(turns[i].state))
        .run();
  old.run("UPDATE conversations SET head = (SELECT max(id) FROM turns); PRAGMA user_version = 2; COMMIT");
}

std::vector<Turn> turns_of(const StoreFolder& folder) {
  ConversationStore::Opened opened = ConversationStore::open(folder.path());
  EXPECT_EQ(opened.notice, "");
  return opened.store->load(1).turns;
}

const std::string kOldTexts[] = {
    "",
    "plain",
    "<think>\nhm\n</think>\n\nyes",
    " \t\r\n<think> \t\r\nhm \t\r\n</think> \t\r\nyes\n",
    "<think>\n\n</think>\n\nyes",
    "<think></think>",
    "<think>",
    "<think>\nnever ended \n",
    "<think>a</think>b</think>c",
    "<think>a<think>b</think>\r\n\r\n c",
    "so <think>a</think>",
    "<thinking>a</thinking>",
    "<THINK>a</THINK>",
    "<think>日本語\n</think>\n\nÜber \xf0\x9f\x91\xa9",
    "<think>zero\0in it\n</think>\n\nand\0here"s,
    "zero\0alone"s,
    "<think>\xff\xfe no \xe6 text\n</think>\n\n\xe6\x97 either\xff",
    "<think>\xc2\xa0no blank of ours\xc2\xa0</think>\xc2\xa0yes",
    "<think>" + std::string(100'000, 'x') + "</think>" + std::string(100'000, 'y'),
};

TEST(Migration, PartsThoughtsAsPartReasoningDoes) {
  const StoreFolder folder;
  std::vector<OldTurn> old;
  for (const std::string& text : kOldTexts)
    for (const char* role : {"user", "assistant"})
      for (const TurnState state : {TurnState::kOpen, TurnState::kComplete, TurnState::kStopped})
        old.push_back({role, text, state});
  write_old_store(folder, old);
  const std::vector<Turn> turns = turns_of(folder);
  ASSERT_EQ(turns.size(), old.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    Message expected{.role = old[i].role, .content = old[i].text};
    if (old[i].role == "assistant") part_reasoning(expected);
    EXPECT_TRUE(turns[i].message == expected) << i << ": " << old[i].text.substr(0, 50);
    EXPECT_EQ(turns[i].state, old[i].state);
    EXPECT_EQ(turns[i].created, 7);
  }
}

TEST(Migration, RandomTextsArePartedAlike) {
  const std::string kPieces[] = {"<think>", "</think>", "\n", " ", "\t", "\r", "a", "é", "\0"s, "\xff", "<", "think>"};
  std::mt19937 generator(11);
  std::vector<OldTurn> old;
  for (int i = 0; i < 2000; ++i) {
    std::string text = generator() % 2 == 0 ? "<think>" : "";
    for (size_t n = generator() % 8; n-- > 0;) text += kPieces[generator() % std::size(kPieces)];
    old.push_back({"assistant", text});
  }
  const StoreFolder folder;
  write_old_store(folder, old);
  const std::vector<Turn> turns = turns_of(folder);
  ASSERT_EQ(turns.size(), old.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    Message expected{.role = "assistant", .content = old[i].text};
    part_reasoning(expected);
    ASSERT_EQ(turns[i].message, expected) << testing::PrintToString(old[i].text);
  }
}

TEST(Migration, WhatWasFoundIsFound) {
  const StoreFolder folder;
  write_old_store(folder, {{"user", "why is grass green"},
                           {"assistant", "<think>\nchlorophyll perhaps\n</think>\n\nBecause of a pigment"},
                           {"user", "really"},
                           {"assistant", "<think>\nhalf a thou", TurnState::kOpen}});
  const auto store = ConversationStore::open(folder.path()).store;
  struct Row {
    const char* words;
    TurnId turn;
  };
  constexpr Row kRows[] = {{"grass", 1}, {"chlorophyll", 2}, {"pigment chlorophyll", 2}, {"re", 3},      {"wh", 1},
                           {"thou", 4},  {"before", 0},      {"chlorophyll grass", -1},  {"<think>", -1}};
  for (const Row& row : kRows) {
    const std::vector<SearchHit> hits = store->search(row.words);
    EXPECT_EQ(hits.empty() ? -1 : hits[0].turn, row.turn) << row.words;
  }
  EXPECT_EQ(store->list()[0].n_messages, 4u);
  EXPECT_EQ(store->search("perhaps")[0].excerpt, "Because of a pigment chlorophyll perhaps");
  store->erase(1);
  EXPECT_TRUE(store->search("chlorophyll").empty());
  const Database database(folder.file());
  EXPECT_EQ(database.integer("SELECT count(*) FROM text_index WHERE text_index MATCH 'chlorophyll'"), 0);
}

TEST(Migration, MendsAnIndexThatIsDamaged) {
  const StoreFolder folder;
  write_old_store(folder, {{"user", "why"}, {"assistant", "<think>\nchlorophyll\n</think>\n\nbecause"}});
  Database(folder.file()).run("UPDATE text_index_data SET block = x'5a'");
  EXPECT_EQ(turns_of(folder).size(), 2u);
  EXPECT_EQ(ConversationStore::open(folder.path()).store->search("chlorophyll").size(), 1u);
}

// A kill at any moment leaves the old store or the new one, complete.
TEST(Migration, IsWholeOrNotAtAllWhenKilled) {
  const StoreFolder whole;
  std::vector<OldTurn> old;
  for (int i = 0; i < 1000; ++i)
    old.push_back({"assistant", "<think>\n" + std::to_string(i * 7919) + std::string(300, 'x') + "\n</think>\n\nyes"});
  write_old_store(whole, old);
  std::mt19937 generator(5);
  int n_unfinished = 0;
  for (int round = 0; round < 12; ++round) {
    const StoreFolder folder;
    std::filesystem::copy_file(whole.file(), folder.file());
    const pid_t child = fork();
    if (child == 0) {
      ConversationStore::open(folder.path());
      _exit(0);
    }
    usleep(generator() % 60'000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    n_unfinished += Database(folder.file()).integer("PRAGMA user_version") == kTextsAlone;
    const auto store = ConversationStore::open(folder.path()).store;
    const StoredConversation stored = store->load(1);
    ASSERT_EQ(stored.turns.size(), old.size());
    for (size_t i = 0; i < old.size(); ++i)
      ASSERT_EQ(stored.turns[i].message.reasoning, std::to_string(i * 7919) + std::string(300, 'x'));
    EXPECT_EQ(store->search(std::to_string(999 * 7919)).size(), 1u);
    const Database database(folder.file());
    Statement check = database.prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.step());
    EXPECT_EQ(check.text(0), "ok");
  }
  RecordProperty("killed_before_the_end", n_unfinished);
}

}  // namespace
}  // namespace warpchat
