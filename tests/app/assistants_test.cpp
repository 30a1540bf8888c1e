// Assistants as files of their own, and out of other programs' files.
#include "app/settings/assistants.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "app/platform/named_files.h"
#include "app/settings/kept_options.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

class Assistants : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
    return folder_.path() + "/" + name;
  }
  static std::string error_of(const std::string& path, const std::string& name = "") {
    try {
      read_assistants(path, name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  StoreFolder folder_;
};

TEST_F(Assistants, AreFilesOfTheirOwn) {
  EXPECT_TRUE(assistant_names().empty());
  save_assistant({"Code reviewer", {{"system-prompt", "Find\nfaults."}, {"temp", 0.2}}});
  save_assistant({"ätest", {{"n-predict", 9}}});
  EXPECT_EQ(assistant_names(), (std::vector<std::string>{"Code reviewer", "ätest"}));
  EXPECT_EQ(description_of(load_assistant("Code reviewer")), "Find faults.  (temp 0.2)");
  EXPECT_EQ(options_of(load_assistant("ätest")).n_predict, 9);
  remove_assistant("ätest");
  EXPECT_EQ(assistant_names(), std::vector<std::string>{"Code reviewer"});
  EXPECT_THROW(remove_assistant("ätest"), Error);
  for (const char* name : {"", ".hidden", "-x", "../up", "a/b", "a\nb", "\xff"}) {
    EXPECT_FALSE(can_name_file(name));
    EXPECT_THROW(save_assistant({name}), Error) << name;
    EXPECT_THROW(load_assistant(name), Error) << name;
  }
}

TEST_F(Assistants, RankBetweenFlagsAndTheSettingsFile) {
  save_assistant({"one", {{"temp", 0.25}, {"model", "its.gguf"}, {"verbose", true}, {"colour", 1}}});
  SettingsFile::change("temp", 0.5);
  SettingsFile::change("min-p", 0.125);
  SettingsFile::change("endpoint", "http://box:1");
  const auto kept = [](const std::string& name) { return kept_options(SettingsFile::load(), name); };
  const auto parsed = [&](std::vector<std::string> arguments) {
    return std::get<ChatOptions>(*parse_options(std::move(arguments), kept).options);
  };
  const ChatOptions with = parsed({"--assistant", "one"});
  EXPECT_EQ(with.assistant_choices.temperature, 0.25f);
  EXPECT_EQ(with.kept_choices.temperature, 0.5f);
  EXPECT_EQ(with.kept_choices.min_p, 0.125f);
  EXPECT_EQ(with.model, "its.gguf");
  EXPECT_EQ(with.endpoint, "") << "the model is on this machine";
  EXPECT_TRUE(with.verbose);
  ASSERT_EQ(with.complaints.size(), 1u);
  EXPECT_NE(with.complaints[0].find("one.json: unknown setting 'colour'"), std::string::npos);
  EXPECT_EQ(parsed({"--assistant", "one", "-m", "mine.gguf"}).model, "mine.gguf");
  EXPECT_EQ(parsed({}).endpoint, "http://box:1");
  SettingsFile::change("assistant", "one");
  EXPECT_EQ(parsed({}).assistant, "one");
  EXPECT_EQ(parsed({}).model, "its.gguf");
  EXPECT_THROW(parsed({"--assistant", "two"}), Error);
  SettingsFile::change("assistant", "gone");
  EXPECT_EQ(parsed({}).assistant, "");
  EXPECT_EQ(parsed({}).complaints.size(), 1u) << "a default that is gone is no reason not to start";
  EXPECT_EQ(parsed({"--assistant", "one"}).assistant, "one");
}

TEST_F(Assistants, AModelfileBecomesOne) {
  const std::string path = file("reviewer.modelfile", R"(# mine
FROM qwen2.5:3b
PARAMETER temperature 0.3
parameter num_ctx 4096
PARAMETER num_predict -1
PARAMETER stop "<end>"
PARAMETER temperature hot
SYSTEM """
You review code.
Be short. """
MESSAGE user hello
LICENSE """
FROM nothing
"""
)");
  const ImportedAssistants imported = read_assistants(path, "");
  ASSERT_EQ(imported.assistants.size(), 1u);
  EXPECT_EQ(imported.assistants[0].name, "reviewer");
  EXPECT_EQ(imported.assistants[0].settings.dump(),
            R"({"model":"qwen2.5:3b","temp":0.3,"ctx-size":4096,"n-predict":-1,)"
            R"("system-prompt":"You review code.\nBe short."})");
  ASSERT_EQ(imported.notes.size(), 4u);
  EXPECT_NE(imported.notes[0].find("line 6: the parameter stop has no meaning here"), std::string::npos);
  EXPECT_NE(imported.notes[1].find("line 7: "), std::string::npos);
  EXPECT_NE(imported.notes[2].find("line 11: message has no meaning"), std::string::npos);
  EXPECT_NE(imported.notes[3].find("line 12: license has no meaning"), std::string::npos);
  EXPECT_EQ(read_assistants(path, "other").assistants[0].name, "other");
}

TEST_F(Assistants, ATemplateThatIsNotJinjaIsRefused) {
  EXPECT_NE(error_of(file("Modelfile", "FROM x\nTEMPLATE \"{{ .System }} {{ .Prompt }}\"\n"))
                .find("line 2: the template is not Jinja"),
            std::string::npos);
  const std::string jinja = "{% for m in messages %}{{ m.content }}{% endfor %}";
  const ImportedAssistants imported =
      read_assistants(file("Modelfile", "FROM x\nTEMPLATE \"\"\"" + jinja + "\"\"\"\n"), "");
  EXPECT_EQ(imported.assistants[0].settings["chat-template"], jinja);
}

TEST_F(Assistants, EachPresetBecomesOne) {
  const std::string path = file("presets.ini", R"(version = 1
[*]
temp = 0.5
[small]
c = 2048
; a comment
[large]
temp = 0.75
hf-repo = org/repo:Q4_K_M
top-nsigma = 2
)");
  const ImportedAssistants imported = read_assistants(path, "");
  ASSERT_EQ(imported.assistants.size(), 2u);
  EXPECT_EQ(imported.assistants[0].name + imported.assistants[0].settings.dump(),
            R"(small{"temp":0.5,"ctx-size":2048})");
  EXPECT_EQ(imported.assistants[1].name + imported.assistants[1].settings.dump(),
            R"(large{"temp":0.75,"model":"org/repo:Q4_K_M"})");
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_NE(imported.notes[0].find("line 10: "), std::string::npos);
  EXPECT_NE(error_of(path, "one").find("has 2 assistants; leave out --name"), std::string::npos);
}

TEST_F(Assistants, OtherFilesAreRefused) {
  EXPECT_NE(error_of(file("a.json", "{\"temp\": }")).find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of(file("a.txt", "hello\n")).find("is no assistant"), std::string::npos);
  EXPECT_NE(error_of(file("a.ini", "[x]\nhello\n")).find("line 2: 'hello' is no key = value"), std::string::npos);
  EXPECT_NE(error_of(file("a.ini", "[*]\ntemp = 1\n")).find("has no assistant"), std::string::npos);
  EXPECT_NE(error_of("/dev/null"), "");
  const ImportedAssistants own =
      read_assistants(file("x.json", R"({"name": "Mine", "temp": 0.5, "prompt": "no", "api-key": "sk-1"})"), "");
  EXPECT_EQ(own.assistants[0].name + own.assistants[0].settings.dump(), R"(Mine{"temp":0.5})");
  EXPECT_EQ(own.notes.size(), 2u);
}

}  // namespace
}  // namespace warpchat
