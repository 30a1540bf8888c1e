// Folders and patterns in a folder of the test's own.
#include "app/formats/found_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "models/error.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;

class FoundFilesTest : public testing::Test {
 protected:
  FoundFilesTest() : root_((fs::temp_directory_path() / "warpchat_found_XXXXXX").string()) {
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
  }
  ~FoundFilesTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text = "text\n") const {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return root_ + "/" + name; }

  // The names that are found, and in brackets those that are skipped.
  std::string names(const std::string& wanted) const {
    const std::optional<FoundFiles> found = find_files(path(wanted));
    if (!found) return "no folder or pattern";
    std::string text;
    for (const std::string& file : found->paths) text += (text.empty() ? "" : " ") + file.substr(root_.size() + 1);
    for (const std::string& file : found->skipped) text += " [" + file.substr(root_.size() + 1) + "]";
    return text;
  }
  std::string fault(const std::string& wanted) const {
    try {
      find_files(path(wanted));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::string root_;
};

TEST_F(FoundFilesTest, OfFoldersAndPatterns) {
  for (const char* name : {"src/a.cpp", "src/a.h", "src/deep/b.cpp", "src/deep/er/c.cpp", "src/.git/config.cpp",
                           "src/.hidden.cpp", "docs/x.md", "odd/[1].txt", "odd/1.txt"})
    write(name);
  write("src/logo.png", std::string("\x89PNG\0\1", 6));
  write("src/latin.cpp", "\xe9t\xe9");
  write("src/manual.pdf", "%PDF-1.4\n\xe2\xe3\xcf\xd3\n");
  fs::create_directory_symlink(root_ + "/src", root_ + "/src/deep/loop");
  mkfifo(path("src/pipe.cpp").c_str(), 0600);  // opening it would wait for ever
  const std::pair<const char*, const char*> cases[] = {
      {"src/a.cpp", "no folder or pattern"},
      {"nothing", "no folder or pattern"},
      {"src", "src/a.cpp src/a.h src/deep/b.cpp src/deep/er/c.cpp src/manual.pdf [src/latin.cpp] [src/logo.png]"},
      {"src/*.cpp", "src/a.cpp [src/latin.cpp]"},
      {"src/a.?", "src/a.h"},
      {"*/a.[ch]*", "src/a.cpp src/a.h"},
      {"**/*.cpp", "src/a.cpp src/deep/b.cpp src/deep/er/c.cpp [src/latin.cpp]"},
      {"**/**/c.cpp", "src/deep/er/c.cpp"},
      {"src/**/deep/*.cpp", "src/deep/b.cpp"},
      {"src/deep/**", "src/deep/b.cpp src/deep/er/c.cpp"},
      {"src/.h*", "src/.hidden.cpp"},
      {"odd/[1].txt", "no folder or pattern"},  // a file is called so
      {"odd/[0-9].txt", "odd/1.txt"},
  };
  for (const auto& [wanted, found] : cases) EXPECT_EQ(names(wanted), found) << wanted;
}

TEST_F(FoundFilesTest, SaysWhyThereAreNone) {
  write("empty/logo.png", std::string("\x89PNG\0\1", 6));
  EXPECT_EQ(fault("empty"), "no text file is in or matches " + path("empty"));
  EXPECT_EQ(fault("*.q"), "no text file is in or matches " + path("*.q"));
  for (int i = 0; i < 1001; ++i) write("many/" + std::to_string(i));
  EXPECT_EQ(fault("many"), path("many") + " has more than 1,000 files; name a part of it, such as 'src/*.cpp'");
  write("large/a", std::string(3 << 20, 'a'));
  write("large/b", std::string(3 << 20, 'b'));
  EXPECT_EQ(fault("large"), "the text files of " + path("large") + " have more than 4.2 MB; name fewer of them");
}

TEST_F(FoundFilesTest, ACharacterMayBeCutWhereTheLookEnds) {
  write("long/text", std::string(8191, 'a') + "é" + std::string(100, 'a'));
  EXPECT_EQ(names("long"), "long/text");
}

TEST(AboutSkippedFiles, NamesTenAndCountsMore) {
  FoundFiles found{.skipped = {"a.png", "b.png"}};
  EXPECT_EQ(found.about_skipped(),
            (std::vector<std::string>{"skipped a.png, which is no text", "skipped b.png, which is no text"}));
  found.skipped.assign(11, "c.png");
  EXPECT_EQ(found.about_skipped(), std::vector<std::string>{"skipped 11 files that are no text, such as c.png"});
}

}  // namespace
}  // namespace warpchat
