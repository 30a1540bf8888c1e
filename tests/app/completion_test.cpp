// Tab on existing files, and the meaning of a typed path.
#include "app/terminal/editor/completion.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/platform/typed_path.h"

namespace warpchat {
namespace {

// A home with a folder of files.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/warpchat_files_XXXXXX";
    home_ = mkdtemp(name);
    setenv("HOME", home_.c_str(), 1);
    std::filesystem::create_directories(home_ + "/my papers");
    for (const char* file :
         {"notes.txt", "notes two.txt", ".hidden", "bad\xff", "line\nbreak", "my papers/one.md", "it's 5\" wide.txt"})
      std::ofstream(home_ + "/" + file) << "x";
  }
  void TearDown() override {
    std::filesystem::remove_all(home_);
    old_home_.empty() ? unsetenv("HOME") : setenv("HOME", old_home_.c_str(), 1);
  }
  std::vector<std::string> shown(const std::string& typed) const {
    std::vector<std::string> names;
    for (const Candidate& candidate : completion(typed).candidates) names.push_back(candidate.shown);
    return names;
  }
  static Completion completion(const std::string& typed) {
    return complete_line(typed, [](SlashArgument, std::string_view) { return std::vector<std::string>(); });
  }

  std::string home_;
  const std::string old_home_ = std::getenv("HOME") ? std::getenv("HOME") : "";
};

using Names = std::vector<std::string>;

TEST_F(Files, AreListedAsTheyCanBeTyped) {
  EXPECT_EQ(shown("/read ~/"), (Names{"it's 5\" wide.txt", "my papers/", "notes two.txt", "notes.txt"}));
  EXPECT_EQ(shown("/import " + home_ + "/n"), (Names{"notes two.txt", "notes.txt"}));
  EXPECT_EQ(shown("/read ~/."), (Names{".hidden"}));
  EXPECT_EQ(shown("/model ~/no"), (Names{"notes two.txt", "notes.txt"}));
  EXPECT_EQ(shown("/read ~/none/"), Names());
  EXPECT_EQ(shown("/show ~/"), Names());
}

TEST_F(Files, AreWrittenAsTheyWereBegun) {
  EXPECT_EQ(completion("/read ~").common_prefix(), "~/");
  EXPECT_EQ(completion("/read ~/my").common_prefix(), "~/my papers/");
  EXPECT_EQ(completion("/read \"~/my").common_prefix(), "\"~/my papers/");
  EXPECT_EQ(completion("/read \"~/notes t").common_prefix(), "\"~/notes two.txt\"");
  EXPECT_EQ(completion("/read '~/my papers/o").common_prefix(), "'~/my papers/one.md'");
  EXPECT_EQ(completion("/read ~/my papers/").common_prefix(), "~/my papers/one.md");
}

TEST_F(Files, AreMeantInEverySpelling) {
  const std::string two = home_ + "/notes two.txt", odd = home_ + "/it's 5\" wide.txt";
  for (const std::string& spelling :
       {two, " " + two + "\n", std::string("~/notes two.txt"), "\"" + two + "\"", "'" + two + "'",
        std::string("\"~/notes two.txt\""), std::string("~/notes\\ two.txt"), home_ + "/notes\\ two.txt",
        home_ + "/'notes two.txt'", "file://" + home_ + "/notes%20two.txt"})
    EXPECT_EQ(typed_path(spelling), two) << spelling;
  for (const std::string& spelling : {odd, "'" + home_ + "/it'\\''s 5\" wide.txt'",
                                      home_ + "/it\\'s\\ 5\\\"\\ wide.txt", "\"" + home_ + "/it's 5\\\" wide.txt\""})
    EXPECT_EQ(typed_path(spelling), odd) << spelling;
  EXPECT_EQ(typed_path("~user/x"), "~user/x");
  EXPECT_EQ(typed_path("new file.md"), "new file.md");
  EXPECT_EQ(typed_path("it's new.md"), "it's new.md");
  EXPECT_EQ(typed_path("file:///tmp/100%.md"), "/tmp/100%.md");
  EXPECT_EQ(typed_path("  "), "");
}

}  // namespace
}  // namespace warpchat
