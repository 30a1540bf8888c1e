// The settings file and the flags are two ways to the same options.
#include "app/settings/kept_options.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/settings/assistants.h"
#include "app/settings/chat_settings.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

class KeptSettings : public ::testing::Test {
 protected:
  KeptSettings() { setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); }
  ~KeptSettings() override { unsetenv("XDG_CONFIG_HOME"); }

  std::string path() const { return folder_.path() + "/warpchat/config.json"; }
  void write(const std::string& text) {
    std::filesystem::create_directories(folder_.path() + "/warpchat");
    std::ofstream(path()) << text;
  }
  std::string text() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static ChatOptions options_of(std::vector<std::string> arguments) {
    const auto kept = [](const std::string& assistant) { return kept_options(SettingsFile::load(), assistant); };
    return std::get<ChatOptions>(*parse_options(std::move(arguments), kept).options);
  }

 private:
  StoreFolder folder_;
};

// A value that each key accepts, other than its default. A key of a new kind has to be added.
ordered_json sample_value(const SettingsKey& key) {
  switch (key.kind) {
    case SettingsKey::Kind::kSwitch:
      return true;
    case SettingsKey::Kind::kNumber:
      return 1;
    case SettingsKey::Kind::kJson:
      return {{"name", "x"}};
    case SettingsKey::Kind::kText:
      break;
  }
  if (key.name == "device" || key.name == "cache-type-k" || key.name == "cache-type-v" || key.name == "launch")
    return key.name == "device" ? "cpu" : key.name == "launch" ? "graph" : "f32";
  if (key.name == "assistant") return "some";
  if (key.name == "chat-template") return "chatml";
  if (key.name == "chat-template-file") return "/dev/null";
  return "some text";
}

TEST_F(KeptSettings, EachKeyCountsAsItsFlagDoes) {
  save_assistant({"some"});
  const std::vector<SettingsKey> keys = settings_keys();
  EXPECT_GT(keys.size(), 30u);
  for (const SettingsKey& key : keys) {
    const ordered_json value = sample_value(key);
    const std::string typed = value.is_string() ? value.get<std::string>() : value.dump();
    SettingsFile::change(key.name, value_for_key(key, typed));
    ChatOptions kept = options_of({});
    EXPECT_EQ(kept.complaints, std::vector<std::string>()) << key.name;
    EXPECT_EQ(kept.kept, std::set<std::string>{key.name});
    kept.kept.clear(), kept.kept_system_prompt.clear();
    static_cast<AnswerChoices&>(kept) = std::exchange(kept.kept_choices, {});
    std::vector<std::string> flag = {"--" + key.name};
    if (key.kind != SettingsKey::Kind::kSwitch) flag.push_back(typed);
    SettingsFile::change(key.name, std::nullopt);
    EXPECT_EQ(kept, options_of(flag)) << key.name;
    EXPECT_FALSE(kept == options_of({})) << key.name << " changes nothing";
  }
  EXPECT_EQ(text(), "{}\n");
}

TEST_F(KeptSettings, EachSwitchCanBeTurnedOffAgain) {
  for (const SettingsKey& key : settings_keys()) {
    if (key.kind != SettingsKey::Kind::kSwitch) continue;
    SettingsFile::change(key.name, true);
    const bool has_opposite = key.name == "think" || key.name == "titles";
    const ChatOptions off = options_of({has_opposite ? "--no-" + key.name : "--" + key.name + "=false"});
    SettingsFile::change(key.name, std::nullopt);
    if (has_opposite) {
      EXPECT_EQ(key.name == "think" ? off.think : off.titles, false);
    } else {
      EXPECT_EQ(off, options_of({})) << key.name;
    }
  }
}

struct FaultCase {
  const char *key, *value, *complaint;
};
constexpr FaultCase kOptionFaults[] = {
    {"temp", "\"hot\"", "temp takes a number, found \"hot\""},
    {"temp", "200", "temp takes a number from 0 to 100, found '200'"},
    {"top-k", "0.5", "top-k takes a whole number from 0 on, found '0.5'"},
    {"top-k", "1e300", "top-k takes a whole number from 0 on, found '1e+300'"},
    {"verbose", "1", "verbose takes true or false, found 1"},
    {"system-prompt", "[]", "system-prompt takes a text in quotes, found []"},
    {"chat-template-kwargs", "\"{}\"", "chat-template-kwargs takes an object such as {\"name\": 1}, found \"{}\""},
    {"launch", "\"fast\"", "unknown launch mode 'fast'"},
    {"device", "\"gpu\"", "gpu"},
    {"chat-template-file", "\"/nowhere\"", "/nowhere"},
    {"prompt", "\"hi\"", "prompt is no setting that stays; it belongs to one run"},
    {"no-think", "true", "use \"think\": false"},
    {"top-l", "1", "unknown setting 'top-l'; perhaps you mean top-k"},
    {"api-key", "\"sk-1\"", "secrets are not kept here"},
    {"hf_token", "\"hf_1\"", "secrets are not kept here"},
};

TEST_F(KeptSettings, AWrongKeyOrValueIsNamedAndTheRestCounts) {
  for (const FaultCase& fault : kOptionFaults) {
    write("{\"min-p\": 0.25, \"" + std::string(fault.key) + "\": " + fault.value + ", \"n-predict\": 3}");
    const ChatOptions options = options_of({});
    ASSERT_EQ(options.complaints.size(), 1u) << fault.key;
    EXPECT_TRUE(options.complaints[0].starts_with(path() + ": ")) << options.complaints[0];
    EXPECT_NE(options.complaints[0].find(fault.complaint), std::string::npos) << options.complaints[0];
    EXPECT_EQ(options.complaints[0].find("sk-1"), std::string::npos);
    EXPECT_EQ(options.kept_choices.min_p, 0.25f) << fault.key;
    EXPECT_EQ(options.kept_choices.n_predict, 3);
  }
}

TEST_F(KeptSettings, AFileWithoutAnObjectIsIgnoredAndNeverWrittenOver) {
  for (const auto& [broken, line] :
       std::initializer_list<std::pair<const char*, const char*>>{{"{\"temp\": 1,\n\"top-k\": }\n", ", line 2: "},
                                                                  {"[1]", ", line 1: "},
                                                                  {"\n\n{\"a\": \"\xff\"}", ", line 3: "}}) {
    write(broken);
    const ChatOptions options = options_of({"-n", "2"});
    ASSERT_EQ(options.complaints.size(), 1u);
    EXPECT_TRUE(options.complaints[0].starts_with(path() + line)) << options.complaints[0];
    EXPECT_EQ(options.n_predict, 2);
    EXPECT_TRUE(options.kept.empty());
    EXPECT_THROW(SettingsFile::change("temp", 0.5), Error);
    EXPECT_EQ(text(), broken);
  }
  write(" \n");
  SettingsFile::change("temp", 0.5);
  EXPECT_EQ(text(), "{\n  \"temp\": 0.5\n}\n");
}

TEST_F(KeptSettings, WritingKeepsOtherKeysTheirOrderAndALink) {
  const std::string elsewhere = std::filesystem::path(path()).parent_path().parent_path() / "dotfiles.json";
  write("");
  std::filesystem::remove(path());
  std::ofstream(elsewhere) << R"({"zebra": [1, 2], "temp": 1, "apple": null})";
  std::filesystem::create_symlink(elsewhere, path());
  SettingsFile::change("top-k", 5);
  SettingsFile::change("temp", std::nullopt);
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(ordered_json::parse(text()).dump(), R"({"zebra":[1,2],"apple":null,"top-k":5})");
}

TEST_F(KeptSettings, NoChangeOfSeveralWritersIsLost) {
  const std::vector<std::string> keys = {"temp", "top-p", "min-p", "seed"};
  std::vector<std::thread> writers;
  for (const std::string& key : keys)
    writers.emplace_back([key] {
      for (int i = 0; i <= 5; ++i) SettingsFile::change(key, i);
    });
  for (std::thread& writer : writers) writer.join();
  for (const std::string& key : keys) EXPECT_EQ(ordered_json::parse(text())[key], 5) << key;
}

TEST_F(KeptSettings, FlagsDecideWhereTheSettingsExcludeThem) {
  write(R"({"endpoint": "http://box:1", "model": "served", "device": "cpu", "ctx-size": 512, "offline": true})");
  EXPECT_EQ(options_of({}).endpoint, "http://box:1");
  EXPECT_EQ(options_of({}).model, "served");
  EXPECT_EQ(options_of({}).device, "") << "of models on this machine";
  EXPECT_FALSE(options_of({}).offline);
  EXPECT_EQ(options_of({"--endpoint", "http://other:1"}).model, "") << "the model is another server's";
  EXPECT_EQ(options_of({"-m", "other"}).endpoint, "http://box:1");
  for (const std::vector<std::string>& here : {std::vector<std::string>{"-m", "x.gguf"}, {"--device", "cpu"}}) {
    EXPECT_EQ(options_of(here).endpoint, "") << here[0];
    EXPECT_EQ(options_of(here).context, 512);
  }
  write(R"({"chat-template": "chatml"})");
  EXPECT_EQ(options_of({"--chat-template-file", "x"}).chat_template, "");
  write(R"({"temp": 0.25, "seed": 4})");
  EXPECT_EQ(settings_from(options_of({}), {}).session.sampling.temperature, 0.25f);
  EXPECT_EQ(settings_from(options_of({"--temp", "0.5"}), {}).session.sampling.temperature, 0.5f);
  EXPECT_EQ(settings_from(options_of({"--temp", "0.5"}), {}).session.sampling.seed, 4u);
}

}  // namespace
}  // namespace warpchat
