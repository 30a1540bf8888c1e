// Files that are old, new, damaged, read-only or full, and two processes at once.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "engine/store/conversation_store.h"
#include "engine/store/database.h"
#include "engine/store/schema.h"
#include "tests/store/store_folder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::unique_ptr<ConversationStore> open_quietly(const StoreFolder& folder) {
  ConversationStore::Opened opened = ConversationStore::open(folder.path());
  EXPECT_EQ(opened.notice, "");
  return std::move(opened.store);
}

TEST(StoreFile, IsItsOwnersOnly) {
  const StoreFolder folder;
  std::ofstream(folder.file()).close();
  chmod(folder.file().c_str(), 0644);  // an empty file that others may read
  const auto store = open_quietly(folder);
  store->start({"t", "", ""}, {"user", "x"});
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600)) << entry.path();
    ++n_files;
  }
  EXPECT_EQ(n_files, 4u);  // the database, its -wal and -shm, the lock
}

TEST(StoreFile, AFileOfVersionOneIsMigrated) {
  const StoreFolder folder;
  {
    const Database old(folder.file());
    old.run(schema_steps()[0]);
    old.run(
        "INSERT INTO conversations(title, created, updated, head) VALUES ('from before', 1, 1, 2);"
        "INSERT INTO turns(conversation, parent, depth, role, text, state, created)"
        "  VALUES (1, NULL, 1, 'user', 'an old question', 1, 1), (1, 1, 2, 'assistant', 'half an ans', 0, 1);"
        "PRAGMA user_version = 1");
  }
  const auto store = open_quietly(folder);
  EXPECT_EQ(store->search("old question").size(), 1u);
  EXPECT_EQ(store->search("half").size(), 1u);
  EXPECT_EQ(store->search("before").size(), 1u);
  ASSERT_EQ(store->load(1).turns.size(), 2u);
  EXPECT_EQ(store->load(1).turns[1].state, TurnState::kOpen);
  store->erase(1);
  EXPECT_EQ(store->search("old question").size(), 0u);
}

TEST(StoreFile, ANewerSchemaIsRefusedAndLeftAlone) {
  const StoreFolder folder;
  Database(folder.file()).run("CREATE TABLE future(x); PRAGMA user_version = 99");
  EXPECT_THAT(error_of([&] { ConversationStore::open(folder.path()); }),
              HasSubstr("a newer version of this program wrote it (schema 99, this one knows " +
                        std::to_string(schema_steps().size()) + "); update the program"));
  EXPECT_EQ(Database(folder.file()).integer("SELECT count(*) FROM future"), 0);
}

struct DamageCase {
  const char* name;
  size_t from, bytes;  // overwritten with 0x5a
  bool cut;            // whether the rest of the file is cut off
};
constexpr DamageCase kDamages[] = {
    {"no_database_at_all", 0, 4096, true},
    {"header", 0, 100, false},
    {"the_schemas_page", 100, 3900, false},
    {"second_half_missing", 5 * 4096, 0, true},
};

void fill(const StoreFolder& folder) {
  const auto store = open_quietly(folder);
  for (int i = 0; i < 50; ++i)
    store->start({"t", "", ""}, {"user", std::string(1000, static_cast<char>('a' + i % 26))});
}

void damage(const StoreFolder& folder, size_t from, size_t bytes) {
  std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(from));
  file << std::string(bytes, 0x5a);
}

void expect_set_aside(const StoreFolder& folder, const std::string& name) {
  ConversationStore::Opened opened = ConversationStore::open(folder.path());
  EXPECT_THAT(opened.notice, HasSubstr("set aside as " + folder.file() + ".damaged-")) << name;
  EXPECT_TRUE(opened.store->list().empty()) << name;
  opened.store->start({"after", "", ""}, {"user", "x"});
  EXPECT_EQ(open_quietly(folder)->list().size(), 1u) << name;
  size_t n_aside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    n_aside += entry.path().string().find("db.damaged-") != std::string::npos;
  EXPECT_GE(n_aside, 1u) << name;
  EXPECT_FALSE(std::filesystem::exists(damage_mark(folder.file()))) << name;
}

TEST(StoreFile, ADamagedFileIsSetAside) {
  for (const DamageCase& row : kDamages) {
    const StoreFolder folder;
    fill(folder);
    damage(folder, row.from, row.bytes);
    if (row.cut) std::filesystem::resize_file(folder.file(), row.from + row.bytes);
    expect_set_aside(folder, row.name);
  }
}

// Uses every store function; returns the first error.
std::string use(ConversationStore& store) {
  return error_of([&] {
    for (const ConversationSummary& c : store.list()) store.load(c.id);
    store.search("aaaaaaaa");
    const auto [id, question] = store.start({"t", "", ""}, {"user", "zzzzzzzz"});
    const TurnId answer = store.add(id, question, {"assistant", std::string(5000, 'y')}, TurnState::kOpen);
    store.end(answer, TurnState::kComplete);
  });
}

// For any damaged page, everything works without it, or an error says so and the next opening sets the file aside.
// Damage in the pages that describe tables is found by the first opening.
TEST(StoreFile, ADamagedPageIsMetAndThenTheFileIsSetAside) {
  const StoreFolder whole;
  fill(whole);
  const size_t n_pages = std::filesystem::file_size(whole.file()) / 4096;
  size_t n_met = 0, n_met_by_opening = 0;
  for (size_t page = 1; page < n_pages; page += 3) {
    SCOPED_TRACE("page " + std::to_string(page));
    const StoreFolder folder;
    std::filesystem::copy_file(whole.file(), folder.file());
    damage(folder, page * 4096, 4096);
    ConversationStore::Opened opened = ConversationStore::open(folder.path());
    if (!opened.notice.empty()) {
      EXPECT_THAT(opened.notice, HasSubstr("set aside as " + folder.file() + ".damaged-"));
      ++n_met_by_opening;
      continue;
    }
    const std::string met = use(*opened.store);
    EXPECT_THAT(met, AnyOf("no error", HasSubstr("the file is damaged; the next start")));
    EXPECT_EQ(opened.store->is_sound(), met == "no error");
    if (met == "no error") continue;
    ++n_met;
    opened.store.reset();
    expect_set_aside(folder, "page " + std::to_string(page));
  }
  EXPECT_GT(n_met, 5u);
  EXPECT_LT(n_met_by_opening, 3u);
}

TEST(StoreFile, DamageOfTheSearchAloneIsMended) {
  const StoreFolder folder;
  fill(folder);
  Database(folder.file()).run("UPDATE text_index_data SET block = x'5a' WHERE id > 100");
  {
    const auto store = open_quietly(folder);
    EXPECT_THAT(error_of([&] { store->search("aaaaaaaa"); }), HasSubstr("the file is damaged; the next start"));
    EXPECT_FALSE(store->is_sound());
  }
  const auto store = open_quietly(folder);
  EXPECT_TRUE(store->is_sound());
  EXPECT_EQ(store->search("aaaaaaaa").size(), 2u);
  EXPECT_EQ(use(*store), "no error");
}

uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  uint64_t bytes = 0;
  for (std::string word; io >> word;)
    if (word == "rchar:") io >> bytes;
  return bytes;
}

TEST(StoreFile, OpeningALargeOneReadsLittle) {
  constexpr uint64_t kText = 1 << 20, kTexts = 64;
  const StoreFolder folder;
  const auto conversation = open_quietly(folder)->start({"t", "", ""}, {"user", "x"}).conversation;
  {
    const Database database(folder.file());  // open turns are not indexed
    for (uint64_t i = 0; i < kTexts; ++i)
      database
          .prepare(
              "INSERT INTO turns(conversation, depth, role, text, state, created) VALUES (?1, 1, 'user', ?2, 0, 1)")
          .with(conversation, std::string(kText, static_cast<char>('a' + i % 26)))
          .run();
  }
  ASSERT_GT(std::filesystem::file_size(folder.file()), kTexts * kText);
  const uint64_t before = bytes_read();
  ASSERT_GT(before, 0u);
  const auto store = open_quietly(folder);
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_LT(bytes_read() - before, uint64_t{1} << 20);
}

TEST(StoreFile, AFullDiskIsOneSentence) {
  const StoreFolder folder;
  const Database database(folder.file());
  database.run("CREATE TABLE t(x); PRAGMA max_page_count = 2");
  const std::string sentence =
      error_of([&] { database.prepare("INSERT INTO t VALUES (?1)").with(std::string(100000, 'x')).run(); });
  EXPECT_EQ(sentence, "cannot write to " + folder.file() + ": the disk is full; free some space");
}

// The function's result becomes the child's exit code.
template <class Function>
int in_child(const Function& function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct ReadOnlyCase {
  const char* name;
  mode_t folder, file;
  const char* sentence;
};
constexpr ReadOnlyCase kReadOnly[] = {
    {"folder", 0555, 0666, "check its permissions"},
    {"file", 0777, 0444, "check the permissions"},
};
TEST(StoreFile, ReadOnlyIsOneSentence) {
  for (const ReadOnlyCase& row : kReadOnly) {
    const StoreFolder folder;
    open_quietly(folder)->start({"t", "", ""}, {"user", "x"});
    std::filesystem::remove(folder.file() + ".lock");
    chmod(folder.file().c_str(), row.file);
    chmod(folder.path().c_str(), row.folder);
    const int result = in_child([&] {
      if (geteuid() == 0 && setuid(65534) != 0) return 2;  // root may write to any file
      const std::string sentence = error_of([&] {
        ConversationStore::open(folder.path()).store->start({"t", "", ""}, {"user", "x"});
      });
      if (sentence.find(row.sentence) != std::string::npos) return 0;
      fprintf(stderr, "%s: %s\n", row.name, sentence.c_str());
      return 1;
    });
    EXPECT_EQ(result, 0) << row.name;
    chmod(folder.path().c_str(), 0700);
    EXPECT_EQ(open_quietly(folder)->list().size(), 1u) << row.name;
  }
}

TEST(StoreFile, TwoProcessesWriteAtOnce) {
  constexpr int kEach = 40;
  const StoreFolder folder;
  int begin[2];
  ASSERT_EQ(pipe(begin), 0);
  const auto write_all = [&](const std::string& writer) {
    char byte;
    if (read(begin[0], &byte, 1) != 1) return 2;
    try {
      const auto store = ConversationStore::open(folder.path()).store;  // both processes also create it
      for (int i = 0; i < kEach; ++i) {
        const auto [id, question] = store->start({writer, "", ""}, {"user", writer + " asks"});
        const TurnId answer = store->add(id, question, {"assistant", "an"}, TurnState::kOpen);
        store->append(answer, "swer");
        store->end(answer, TurnState::kComplete);
      }
      return 0;
    } catch (const std::exception& error) {
      fprintf(stderr, "%s: %s\n", writer.c_str(), error.what());
      return 1;
    }
  };
  pid_t children[2];
  for (int i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] == 0) _exit(write_all(i == 0 ? "first" : "second"));
  }
  ASSERT_EQ(write(begin[1], "go", 2), 2);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto store = open_quietly(folder);
  EXPECT_EQ(store->list().size(), 2u * kEach);
  EXPECT_EQ(store->search("first asks").size(), size_t{kEach});
  for (const ConversationSummary& conversation : store->list()) EXPECT_EQ(conversation.n_messages, 2u);
  const Database database(folder.file());
  Statement check = database.prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  EXPECT_EQ(check.text(0), "ok");
}

}  // namespace
}  // namespace warpchat
