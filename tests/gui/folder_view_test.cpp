// The meaning of a typed path, in a test folder.
#include "app/gui/panels/folder_view.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "app/gui/panels/file_browser.h"

namespace warpchat::gui {
namespace {

namespace fs = std::filesystem;

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "warpchat_folder_XXXXXX";
    home_ = mkdtemp(name.data());
    if (const char* home = std::getenv("HOME")) before_ = home;
    setenv("HOME", home_.c_str(), 1);
    fs::create_directories(home_ + "/docs/Inner");
    fs::create_directories(home_ + "/downloads");
    for (const char* file : {"docs/b.txt", "docs/A.txt", "docs/a.txt", "docs/Zoë 日.txt", "docs/Zoë 本.txt"})
      std::ofstream(home_ + "/" + file) << "four";
  }
  void TearDown() override {
    setenv("HOME", before_.c_str(), 1);
    fs::remove_all(home_);
  }
  std::string completed_from(const std::string& typed) const {
    const FolderView view = look_at(typed, home_ + "/");
    std::vector<size_t> all(view.entries.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return completed(view, all);
  }

  std::string home_, before_;
};

TEST_F(FolderTest, FoldersComeFirstEachByName) {
  const FolderView view = look_at("~/docs/", "/");
  std::vector<std::string> names;
  for (const FolderEntry& entry : view.entries) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Inner", "A.txt", "a.txt", "b.txt", "Zoë 日.txt", "Zoë 本.txt"}));
  EXPECT_TRUE(view.entries[0].is_folder);
  EXPECT_EQ(view.entries[1], (FolderEntry{"A.txt", false, 4}));
  EXPECT_EQ(view.fault, "");
}

TEST_F(FolderTest, APathIsTakenApart) {
  using Kind = FolderView::Kind;
  const FolderView file = look_at("docs/b.txt", home_ + "/");
  EXPECT_EQ(file.path, home_ + "/docs/b.txt");
  EXPECT_EQ(file.folder, home_ + "/docs/");
  EXPECT_EQ(file.begin, "b.txt");
  EXPECT_EQ(file.kind, Kind::kFile);
  EXPECT_EQ(look_at("~/docs", "/").kind, Kind::kFolder);
  EXPECT_EQ(look_at(" '" + home_ + "/docs/b.txt' ", "/").kind, Kind::kFile) << "as a shell or file manager writes it";
  EXPECT_EQ(look_at("file://" + home_ + "/docs/b.txt", "/").kind, Kind::kFile);
  const FolderView nothing = look_at("~/no/such/file", "/");
  EXPECT_EQ(nothing.kind, Kind::kNothing);
  EXPECT_EQ(nothing.fault, "No such folder: ~/no/such/");
}

TEST_F(FolderTest, TabCompletes) {
  EXPECT_EQ(completed_from("do"), "~/do");
  EXPECT_EQ(completed_from("doc"), "~/docs/");
  EXPECT_EQ(completed_from("~/docs/b"), "~/docs/b.txt");
  EXPECT_EQ(completed_from("~/docs/B"), "~/docs/b.txt");
  EXPECT_EQ(completed_from("~/docs/zo"), "~/docs/Zoë ") << "never a part of a character";
  EXPECT_EQ(completed_from("~/docs/x"), "~/docs/x");
}

TEST_F(FolderTest, TheHomeDirectoryIsShort) {
  EXPECT_EQ(in_short(home_), "~");
  EXPECT_EQ(in_short(home_ + "/a"), "~/a");
  EXPECT_EQ(in_short(home_ + "er/a"), home_ + "er/a");
  EXPECT_EQ(in_short("/etc/"), "/etc/");
}

TEST_F(FolderTest, TheUsualFoldersAreThoseThatAreThere) {
  fs::create_directories(home_ + "/Downloads");
  EXPECT_EQ(usual_folders(), (std::vector<std::string>{home_ + "/", home_ + "/Downloads/"}));
}

TEST(FileFilter, EndingsAreAlikeInSmallAndCapitalLetters) {
  const FileFilter markdown{"Markdown", {".md", ".markdown"}}, all{"All", {}};
  EXPECT_TRUE(has_extension("a.MD", markdown));
  EXPECT_TRUE(has_extension("a.markdown", markdown));
  EXPECT_FALSE(has_extension(".md", markdown));
  EXPECT_FALSE(has_extension("a.json", markdown));
  EXPECT_TRUE(has_extension("a.json", all));
}

}  // namespace
}  // namespace warpchat::gui
