// The library of prompts as files, also those that people or other programs have written.
#include "app/formats/prompts.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "models/error.h"
#include "tests/store/store_folder.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

class Prompts : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }

  std::string path(const std::string& name) const { return folder_.path() + "/warpchat/prompts/" + name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(path(""));
    std::ofstream(path(name)) << bytes;
  }

 private:
  StoreFolder folder_;
};

TEST_F(Prompts, AreFilesOfTheirOwn) {
  EXPECT_TRUE(prompt_names().empty());
  save_prompt("Code review", "# Review\n\n{code}");
  save_prompt("ätest", "x\r\n");
  EXPECT_EQ(prompt_names(), (std::vector<std::string>{"Code review", "ätest"}));
  EXPECT_EQ(load_prompt("Code review").text, "# Review\n\n{code}");
  EXPECT_EQ(load_prompt("ätest").text, "x");
  std::ifstream file(path("Code review.md"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "# Review\n\n{code}\n");
  struct stat status = {};
  ASSERT_EQ(stat(path("Code review.md").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(description_of(load_prompt("Code review")), "# Review");
  save_prompt("apple", "x"), save_prompt("Bee", "x");
  EXPECT_EQ(prompt_names(), (std::vector<std::string>{"apple", "Bee", "Code review", "ätest"}));
  remove_prompt("apple"), remove_prompt("Bee"), remove_prompt("ätest");
  EXPECT_EQ(prompt_names(), std::vector<std::string>{"Code review"});
  EXPECT_NE(error_of([] {
              remove_prompt("Code reviev");
            }).find("there is no prompt 'Code reviev'; perhaps you mean Code review; "),
            std::string::npos);
  for (const char* name : {"", ".hidden", "-x", "../up", "a/b", "a\nb", "\xff"})
    EXPECT_NE(error_of([&] { save_prompt(name, "x"); }).find("cannot name the prompt"), std::string::npos) << name;
}

TEST_F(Prompts, WhatPeopleWriteIsReadAsItIs) {
  write("by hand.md", "\xEF\xBB\xBFOne {a}\r\ntwo\r\n\r\n");
  write("notes.txt", "no prompt");
  write(".hidden.md", "no prompt");
  EXPECT_EQ(prompt_names(), std::vector<std::string>{"by hand"});
  EXPECT_EQ(load_prompt("by hand").text, "One {a}\ntwo\n");
}

TEST_F(Prompts, AFileThatIsNoneSaysWhy) {
  write("empty.md", " \n");
  write("binary.md", std::string("a\0b", 3));
  write("latin.md", "gr\xfc\xdf");
  write("long.md", std::string(kMaxPromptBytes + 1, 'x'));
  std::string many;
  for (int i = 0; i < 60; ++i) many += "{a" + std::to_string(i) + "}";
  write("many.md", many);
  std::filesystem::create_directories(path("folder.md"));
  write("good.md", "good");
  const std::vector<LibraryPrompt> prompts = read_prompts();
  ASSERT_EQ(prompts.size(), 7u);
  const std::pair<const char*, const char*> kFaults[] = {
      {"binary", "it is a binary file"},     {"empty", "empty.md has no text; write the prompt into it"},
      {"folder", "it is a folder"},          {"good", ""},
      {"latin", "is not valid UTF-8"},       {"long", "the limit is 262,144 bytes"},
      {"many", "more than 50 placeholders"},
  };
  for (size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(prompts[i].name, kFaults[i].first);
    EXPECT_NE(prompts[i].fault.find(kFaults[i].second), std::string::npos) << prompts[i].fault;
    EXPECT_EQ(prompts[i].fault.empty(), prompts[i].name == "good");
    EXPECT_NE(description_of(prompts[i], 1000).find(kFaults[i].second), std::string::npos);
  }
}

TEST_F(Prompts, AListNamesNoFolder) {
  write("empty.md", "\n");
  EXPECT_EQ(description_of(read_prompt("empty"), 30), "empty.md has no text; write th...");
}

TEST_F(Prompts, WhatCannotBeStoredIsRefused) {
  EXPECT_EQ(error_of([] { save_prompt("x", " \n"); }), "a prompt needs a text");
  EXPECT_NE(error_of([] { save_prompt("x", std::string(kMaxPromptBytes, 'x')); }).find("the limit is"),
            std::string::npos);
  EXPECT_NE(error_of([] { save_prompt("x", "gr\xfc\xdf"); }).find("not valid UTF-8"), std::string::npos);
  EXPECT_FALSE(is_prompt("x"));
  save_prompt("x", std::string(kMaxPromptBytes - 1, 'x'));
  EXPECT_EQ(load_prompt("x").text.size(), kMaxPromptBytes - 1) << "what was stored can be read";
}

TEST_F(Prompts, TheLongestNameBeginsALine) {
  const std::vector<std::string> names = {"a=", "fix", "fix code"};
  const auto split = [&](std::string_view line) { return split_prompt_name(line, names); };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(split("fix  this"), Pair("fix", "this"));
  EXPECT_EQ(split("fix code this"), Pair("fix code", "this"));
  EXPECT_EQ(split("fix codes"), Pair("fix", "codes"));
  EXPECT_EQ(split("\"fix\" code"), Pair("fix", "code"));
  EXPECT_EQ(split(" a=\nx"), Pair("a=", "x"));
  EXPECT_EQ(split("fixed it"), Pair("fixed", "it"));
  EXPECT_EQ(split("fix"), Pair("fix", ""));
}

}  // namespace
}  // namespace warpchat
