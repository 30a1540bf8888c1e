// Homes that are missing, variables with a tilde, files without end, and what is left of an erased conversation.
#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "app/chat/erased_lines.h"
#include "app/model_choice/model_lookup.h"
#include "app/model_choice/model_places.h"
#include "app/platform/directories.h"
#include "app/platform/history.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/text_input.h"
#include "tests/store/store_folder.h"
#include "tests/support/error_of.h"
#include "tests/support/variable.h"

namespace warpchat {
namespace {

using testing::HasSubstr;

TEST(Home, ComesFromTheListOfUsersWhereTheVariableIsNoPath) {
  const passwd* user = getpwuid(getuid());
  if (user == nullptr) GTEST_SKIP() << "this user is not in the list of users";
  const std::string listed = user->pw_dir;
  const Variable data("XDG_DATA_HOME", std::nullopt);
  for (const std::optional<std::string>& home : {std::optional<std::string>(), {""}, {"relative/home"}}) {
    const Variable set("HOME", home);
    EXPECT_EQ(find_home(), listed);
    EXPECT_EQ(data_directory(), listed + "/.local/share/warpchat");
  }
  const Variable set("HOME", "/home/of/mine");
  EXPECT_EQ(data_directory(), "/home/of/mine/.local/share/warpchat");
}

TEST(Home, ATildeInAVariableOfModelsIsThere) {
  const Variable home("HOME", "/home/of/mine"), llama("LLAMA_CACHE", "~/llama"), hf("HF_HOME", "~");
  {
    const Variable hub("HF_HUB_CACHE", "~/hub");
    EXPECT_EQ(hub_cache_directory(), "/home/of/mine/hub");
  }
  const Variable hub("HF_HUB_CACHE", std::nullopt);
  EXPECT_EQ(hub_cache_directory(), "/home/of/mine/hub");
  bool has_llama = false;
  for (const ModelFolder& folder : model_places().folders) {
    EXPECT_EQ(folder.path.find('~'), std::string::npos) << folder.path;
    has_llama |= folder.path == "/home/of/mine/llama";
  }
  EXPECT_TRUE(has_llama);
}

TEST(TextInput, AFileWithoutEndIsRefused) {
  EXPECT_EQ(error_of([] { read_file("/dev/zero"); }), "cannot read /dev/zero: it is a device; name a file with text");
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(ErasedLines, AreThoseOfTheConversation) {
  ConversationTree tree{.title = "Bread", .system_prompt = "You are a baker."};
  tree.turns = {{1, 0, {.role = "user", .content = "How long?\nAnd why?"}, TurnState::kComplete, 0},
                {2, 1, {.role = "assistant", .content = "An hour."}, TurnState::kComplete, 0},
                {3, 0, {.role = "user", .content = "another version"}, TurnState::kComplete, 0}};
  for (const char* line : {"\"\"\"How long?\nAnd why?\"\"\"", "\"\"\"\nHow long?\nAnd why?\n\"\"\"", "another version",
                           " another version ", "/save Bread", "/set system You are a baker.", "/edit another version"})
    EXPECT_TRUE(was_typed_for(tree, line)) << line;
  for (const char* line : {"How long?", "Breads", "/help", "/save Rye Breads", "a longer version"})
    EXPECT_FALSE(was_typed_for(tree, line)) << line;

  const StoreFolder folder;
  const std::string file = folder.path() + "/history";
  {
    History history(file);
    for (const char* line : {"kept", "How long?\nAnd why?", "/save Bread", "kept, too\nin two lines"})
      history.add(line);
  }
  erase_typed_lines(file, tree);
  EXPECT_EQ(History(file).lines(), (std::vector<std::string>{"kept", "kept, too\nin two lines"}));
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  erase_typed_lines(folder.path() + "/none", tree);
}

TEST(History, ALinkInItsPlaceIsNotFollowed) {
  const StoreFolder folder;
  const std::string target = folder.path() + "/target", link = folder.path() + "/history";
  std::ofstream(target).close();
  chmod(target.c_str(), 0644);
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  History(link).add("a secret");
  struct stat status = {};
  ASSERT_EQ(stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  EXPECT_EQ(status.st_size, 0);
}

TEST(LastModel, ALinkInItsPlaceIsReplaced) {
  const StoreFolder folder;
  const std::string target = folder.path() + "/target", link = folder.path() + "/last_model";
  std::ofstream(target) << "untouched";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  remember_model("/models/a.gguf", folder.path());
  EXPECT_EQ(read_file(target), "untouched");
  EXPECT_EQ(read_file(link), "/models/a.gguf\n");
}

TEST(OutputFile, HasTheUmasksPermissionsAndReplacesALink) {
  const StoreFolder folder;
  const std::string target = folder.path() + "/target", link = folder.path() + "/link";
  std::ofstream(target) << "before";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  const mode_t before = umask(027);
  write_file(link, "after");
  write_file(folder.path() + "/own", "key", OutputFile::Readers::kOwner);
  umask(before);
  std::string text;
  std::getline(std::ifstream(target) >> std::ws, text);
  EXPECT_EQ(text, "before");
  struct stat status = {};
  ASSERT_EQ(lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  ASSERT_EQ(stat((folder.path() + "/own").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) n_files += entry.exists();
  EXPECT_EQ(n_files, 3u) << "no temporary file stays";
}

TEST(OutputFile, AnExportIsForItsOwnerAndMayGoToADevice) {
  const StoreFolder folder;
  const std::string link = folder.path() + "/device", file = folder.path() + "/file";
  ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
  for (const std::string& path : {link, file}) write_file(path, "text", OutputFile::Readers::kOwnerOrDevice);
  struct stat status = {};
  ASSERT_EQ(lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(OutputFile, SeveralAtOnceLeaveNothingWhereASignalEndsTheProgram) {
  const StoreFolder folder;
  const std::string first = folder.path() + "/first", second = folder.path() + "/second";
  const auto be_ended = [&] {
    install_signal_handlers();
    const OutputFile one(first), other(second);
    OutputFile(folder.path() + "/third").finish();
    raise(SIGTERM);
  };
  EXPECT_EXIT(be_ended(), testing::KilledBySignal(SIGTERM), "");
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::ElementsAre("third"));
}

}  // namespace
}  // namespace warpchat
