// What a store leaves on the disk: of an erased conversation nothing, of a growing answer no more than its new text.
// And what it does where another program holds it, or a link stands in its place.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "engine/store/answer_writer.h"
#include "engine/store/conversation_store.h"
#include "tests/store/store_folder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The parts of a word of `n` letters that the search indexes, with the word itself.
std::vector<std::string> parts_of(const std::string& word, size_t n) {
  std::vector<std::string> parts{word};
  for (size_t i = 0; i + n <= word.size(); ++i) parts.push_back(word.substr(i, n));
  return parts;
}

TEST(Erasing, LeavesNothingInFileIndexAndLog) {
  const StoreFolder folder;
  const std::string title = "XQTITLEQX", text = "zqxjkvbpwyg", thought = "QJZXVKPWB", answer = "JVQZKXWPY";
  const auto store = ConversationStore::open(folder.path()).store;
  for (int i = 0; i < 50; ++i) store->start({"other", "", ""}, {"user", "a letter about the sea and the weather"});
  const auto [id, question] = store->start({title, "", ""}, {"user", text});
  AnswerWriter writer(*store, id, question);
  Message said{.role = "assistant", .content = answer.substr(0, 4), .reasoning = thought};
  writer.follow(said, {});
  said.content = answer;
  writer.follow(said, AnswerWriter::Clock::time_point(milliseconds(2000)));
  writer.finish(said, TurnState::kComplete);
  store->throw_away(id);
  store->erase(id);
  ASSERT_TRUE(store->remove_erased_text());
  const std::string file = bytes_of(folder.file()), log = bytes_of(folder.file() + "-wal");
  EXPECT_EQ(log, "");
  for (const std::string& word : {title, text, thought, answer})
    for (const std::string& part : parts_of(word, 3)) EXPECT_EQ(file.find(part), std::string::npos) << part;
  EXPECT_EQ(store->search("weather").size(), 50u);
}

TEST(Erasing, SaysThatAReaderKeepsTheLog) {
  const StoreFolder folder;
  const auto store = ConversationStore::open(folder.path()).store;
  const auto [id, question] = store->start({"t", "", ""}, {"user", "question"});
  const Database reader(folder.file());
  reader.run("BEGIN");
  ASSERT_EQ(reader.integer("SELECT count(*) FROM turns"), 1);
  const ConversationStore::Patience none(*store, milliseconds(0));
  store->erase(id);
  EXPECT_FALSE(store->remove_erased_text());
}

TEST(GrowingAnswer, AppendsItsNewTextAlone) {
  const StoreFolder folder;
  const auto store = ConversationStore::open(folder.path()).store;
  const auto [id, question] = store->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store, id, question);
  const Database looks(folder.file());
  Message answer{.role = "assistant"};
  for (int second = 0; second < 4; ++second) {
    answer.content += std::string(1000, static_cast<char>('a' + second));
    answer.reasoning += "hm\n";
    writer.follow(answer, AnswerWriter::Clock::time_point(std::chrono::seconds(second)));
    EXPECT_EQ(store->load(id).turns.back().message, answer) << "as after a kill";
    EXPECT_EQ(looks.integer("SELECT length(text) FROM turns WHERE role = 'assistant'"), 1000) << "the first write";
    EXPECT_EQ(looks.integer("SELECT coalesce(sum(length(text)), 0) FROM pieces"), 1000 * second);
  }
  EXPECT_EQ(store->search("dddd").size(), 1u);
  writer.finish(answer, TurnState::kComplete);
  EXPECT_EQ(store->load(id).turns.back().message, answer);
  EXPECT_EQ(looks.integer("SELECT count(*) FROM pieces"), 0);
  EXPECT_EQ(store->tree(id).turns.back().message, answer);
}

TEST(GrowingAnswer, DoesNotWaitForAnotherProgram) {
  const StoreFolder folder;
  const auto store = ConversationStore::open(folder.path()).store;
  const auto [id, question] = store->start({"t", "", ""}, {"user", "question"});
  AnswerWriter writer(*store, id, question);
  const Database other(folder.file());
  {
    const Transaction held(other);
    writer.follow({"assistant", "one"}, {});
    EXPECT_EQ(writer.turn(), 0);
  }
  writer.follow({"assistant", "one two"}, AnswerWriter::Clock::time_point(milliseconds(1000)));
  EXPECT_EQ(store->load(id).turns.back().message.content, "one two");
  {
    const Transaction held(other);
    writer.follow({"assistant", "one two three"}, AnswerWriter::Clock::time_point(milliseconds(2000)));
  }
  EXPECT_EQ(store->load(id).turns.back().message.content, "one two");
  writer.finish({"assistant", "one two three"}, TurnState::kComplete);
  EXPECT_EQ(store->load(id).turns.back().message.content, "one two three");
}

// For as long as it lives, SQLite's calls of mmap for shared memory fail, as on some network file systems.
class NoSharedMappings {
 public:
  NoSharedMappings() : vfs_(sqlite3_vfs_find(nullptr)) {
    vfs_->xSetSystemCall(vfs_, "mmap", reinterpret_cast<sqlite3_syscall_ptr>(refuse));
  }
  ~NoSharedMappings() { vfs_->xSetSystemCall(vfs_, "mmap", nullptr); }

 private:
  static void* refuse(void*, size_t, int, int, int, off_t) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  sqlite3_vfs* const vfs_;
};

TEST(Sharing, WithoutSharedMemoryOneProgramAtATimeStores) {
  const StoreFolder folder;
  ConversationId id = 0;
  {
    const NoSharedMappings none;
    ConversationStore::Opened opened = ConversationStore::open(folder.path());
    EXPECT_THAT(opened.notice, HasSubstr("one program at a time"));
    id = opened.store->start({"t", "", ""}, {"user", "kept"}).conversation;
    opened.store->erase(opened.store->start({"u", "", ""}, {"user", "erased"}).conversation);
    EXPECT_TRUE(opened.store->remove_erased_text());
  }
  const ConversationStore::Opened opened = ConversationStore::open(folder.path());
  EXPECT_EQ(opened.notice, "");
  EXPECT_EQ(opened.store->load(id).turns.at(0).message.content, "kept");
}

TEST(Links, AreRefusedAndWhatTheyLeadToIsLeftAlone) {
  const StoreFolder folder;
  const std::string target = folder.path() + "/target";
  std::ofstream(target).close();
  chmod(target.c_str(), 0644);
  ASSERT_EQ(symlink(target.c_str(), folder.file().c_str()), 0);
  EXPECT_THAT(error_of([&] { ConversationStore::open(folder.path()); }), HasSubstr("it is a link"));
  EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::perms(0644));
  EXPECT_EQ(std::filesystem::file_size(target), 0u);
}

}  // namespace
}  // namespace warpchat
