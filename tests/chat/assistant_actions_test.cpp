// What a front end does with assistants: it lists, saves, renames, removes, imports and exports them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/settings/assistants.h"
#include "app/settings/settings_file.h"
#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

class AssistantActions : public ::testing::Test {
 protected:
  // Its fault; empty: it is saved.
  std::string save(const std::string& from, const std::string& name, const TypedSettings& settings) {
    bench.submit(SaveAssistant{from, name, settings, ++request_});
    bench.settle();
    EXPECT_EQ(bench.state().assistants.request, request_);
    return bench.state().assistants.fault;
  }
  // "reviewer: Be brief.  (temp 0.25)", ...
  std::string listed() {
    bench.submit(ListAssistants{}), bench.settle();
    EXPECT_TRUE(bench.replayed == bench.state());
    std::string all;
    for (const AssistantChoice& assistant : bench.state().assistants.all)
      all += (all.empty() ? "" : ", ") + assistant.name + ": " + assistant.about;
    return all;
  }
  std::string notice() const { return bench.state().notices.empty() ? "" : bench.state().notices.back().text; }
  Bench bench;

 private:
  uint64_t request_ = 0;
};

const TypedSettings kReviewer = {{"system-prompt", "Be brief."}, {"temp", "0.25"}, {"think", "off"}};

TEST_F(AssistantActions, OneIsMadeAndChanged) {
  EXPECT_EQ(save("", "reviewer", kReviewer), "");
  EXPECT_EQ(listed(), "reviewer: Be brief.  (temp 0.25, think false)");
  EXPECT_EQ(bench.state().assistants.all[0].settings, kReviewer) << "as it was typed";
  EXPECT_EQ(save("reviewer", "reviewer", {{"n-predict", "9"}}), "");
  EXPECT_EQ(listed(), "reviewer: (n-predict 9)");
}

TEST_F(AssistantActions, WhatDoesNotCountIsRefused) {
  EXPECT_EQ(save("", "reviewer", kReviewer), "");
  for (const auto& [name, settings, fault] : std::vector<std::tuple<std::string, TypedSettings, std::string>>{
           {"other", {{"temp", "hot"}}, "temp takes a number"},
           {"other", {{"colour", "red"}}, "unknown setting 'colour'"},
           {"other", {{"prompt", "hi"}}, "prompt is no setting that stays"},
           {"other", {{"assistant", "reviewer"}}, "an assistant has no assistant"},
           {"other", {}, "an assistant needs a setting"},
           {"a/b", kReviewer, "cannot name the assistant"},
           {"", kReviewer, "cannot name the assistant"},
           {"reviewer", kReviewer, "there is an assistant 'reviewer' already; choose another name"}})
    EXPECT_NE(save("", name, settings).find(fault), std::string::npos) << bench.state().assistants.fault;
  EXPECT_EQ(save("", "other", kReviewer), "");
  EXPECT_NE(save("other", "reviewer", {{"temp", "1"}}), "") << "another has the name";
  EXPECT_EQ(listed(), "other: Be brief.  (temp 0.25, think false), reviewer: Be brief.  (temp 0.25, think false)");
}

TEST_F(AssistantActions, ItsConversationsFollow) {
  save("", "reviewer", kReviewer);
  bench.submit(SetAssistant{"reviewer"}), bench.ask("one");
  const ConversationId first = bench.state().open.id;
  EXPECT_EQ(settings_of(bench.state()).sampling.temperature, 0.25f);
  save("reviewer", "reviewer", {{"temp", "0.5"}});
  EXPECT_EQ(settings_of(bench.state()).sampling.temperature, 0.5f) << "at once";
  EXPECT_EQ(bench.state().open.system_prompt, "Be brief.") << "that is the conversation's own";
  bench.submit(NewConversation{}), bench.submit(SetAssistant{"reviewer"}), bench.ask("two");
  SettingsFile::change("assistant", "reviewer");
  EXPECT_EQ(save("reviewer", "critic", {{"temp", "0.75"}}), "");
  EXPECT_EQ(listed(), "critic: (temp 0.75)");
  EXPECT_EQ(bench.state().open.assistant, "critic");
  EXPECT_EQ(SettingsFile::load().values()["assistant"], "critic") << "the default";
  bench.submit(OpenStored{first}), bench.settle();
  EXPECT_EQ(bench.state().open.assistant, "critic") << "those in the store, too";
  EXPECT_EQ(settings_of(bench.state()).sampling.temperature, 0.75f);
  bench.submit(RemoveAssistant{"critic"}), bench.settle();
  EXPECT_EQ(bench.state().open.assistant, "");
  EXPECT_EQ(notice(), "the assistant critic was removed");
  EXPECT_EQ(listed(), "");
}

TEST_F(AssistantActions, NewConversationsBeginWithTheirs) {
  save("", "reviewer", kReviewer);
  bench.submit(SetSystemPrompt{"Be kind.", /*for_new=*/true}), bench.submit(SetAssistant{"reviewer", /*for_new=*/true});
  bench.settle();
  EXPECT_EQ(bench.state().open.assistant, "") << "the open one keeps what it has";
  EXPECT_EQ(SettingsFile::load().values()["assistant"], "reviewer");
  const auto begin_new = [&] { bench.submit(NewConversation{}), bench.settle(); };
  begin_new();
  EXPECT_EQ(bench.state().open.assistant, "reviewer");
  EXPECT_EQ(bench.state().open.system_prompt, "Be brief.");
  EXPECT_EQ(settings_of(bench.state()).sampling.temperature, 0.25f);
  save("reviewer", "critic", {{"temp", "0.5"}}), begin_new();
  EXPECT_EQ(bench.state().open.assistant, "critic") << "they follow a change";
  EXPECT_EQ(bench.state().open.system_prompt, "Be kind.") << "it has none of its own any more";
  EXPECT_EQ(settings_of(bench.state()).sampling.temperature, 0.5f);
  bench.submit(RemoveAssistant{"critic"}), begin_new();
  EXPECT_EQ(bench.state().open.assistant, "");
  EXPECT_FALSE(SettingsFile::load().values().contains("assistant")) << "or every start would complain";
  save("", "reviewer", kReviewer), bench.submit(SetAssistant{"reviewer", true}), bench.submit(SetAssistant{"", true});
  begin_new();
  EXPECT_EQ(bench.state().open.assistant, "");
  EXPECT_FALSE(SettingsFile::load().values().contains("assistant"));
  bench.submit(SetAssistant{"nobody", true}), bench.settle();
  EXPECT_NE(notice().find("there is no assistant 'nobody'"), std::string::npos);
}

TEST_F(AssistantActions, OneThatNoConversationHasIsRenamed) {
  save("", "reviewer", kReviewer), bench.ask("one");
  EXPECT_EQ(save("reviewer", "critic", kReviewer), "");
  for (const NoticeItem& told : bench.state().notices) EXPECT_FALSE(told.is_error) << told.text;
}

// A run may have been started with another one than the settings file names.
TEST_F(AssistantActions, ARemovalLeavesAnotherDefault) {
  save("", "reviewer", kReviewer), save("", "critic", kReviewer);
  bench.submit(SetAssistant{"reviewer", /*for_new=*/true}), bench.settle();
  SettingsFile::change("assistant", "critic");
  bench.submit(RemoveAssistant{"reviewer"}), bench.settle();
  EXPECT_EQ(SettingsFile::load().values().value("assistant", ""), "critic");
}

TEST_F(AssistantActions, OneIsMadeOfTheOpenConversation) {
  save("", "reviewer", kReviewer);
  bench.submit(SetAssistant{"reviewer"});
  AnswerChoices choices;
  choices.top_k = 7, choices.temperature = 1.5f;
  bench.submit(SetChoice{"top-k", choices}), bench.submit(SetChoice{"temp", choices}), bench.settle();
  const TypedSettings wanted = {{"system-prompt", "Be brief."},
                                {"model", "/models/scripted.gguf"},
                                {"temp", "1.5"},
                                {"top-k", "7"},
                                {"think", "off"}};
  EXPECT_EQ(settings_of_chat(bench.state()).size(), wanted.size());
  for (const auto& setting : wanted)
    EXPECT_EQ(std::ranges::count(settings_of_chat(bench.state()), setting), 1) << setting.first;
  EXPECT_EQ(save("", "of this chat", settings_of_chat(bench.state())), "");
}

TEST_F(AssistantActions, FilesAreReadAndWritten) {
  save("", "reviewer", kReviewer);
  bench.submit(ExportAssistant{"reviewer", bench.path("reviewer.json")}), bench.settle();
  EXPECT_EQ(notice(), "wrote " + bench.path("reviewer.json"));
  bench.submit(ExportAssistant{"reviewer", bench.path("reviewer.json")}), bench.settle();
  EXPECT_EQ(notice(), bench.path("reviewer.json") + " already exists; choose another name");
  bench.submit(ExportAssistant{"gone", bench.path("gone.json")}), bench.settle();
  EXPECT_NE(notice().find("there is no assistant 'gone'"), std::string::npos);
  bench.submit(ImportAssistants{bench.path("reviewer.json")}), bench.settle();
  EXPECT_EQ(notice(), "imported the assistant reviewer 2") << "nothing is overwritten";
  std::ofstream(bench.path("presets.ini")) << "[small]\nctx-size = 2048\n[large]\nctx-size = 8192\ncolour = red\n";
  bench.submit(ImportAssistants{bench.path("presets.ini")}), bench.settle();
  EXPECT_EQ(notice(), "imported the assistants small, large");
  EXPECT_NE(bench.state().notices.at(bench.state().notices.size() - 2).text.find("line 5: "), std::string::npos);
  bench.submit(ImportAssistants{bench.path("none.json")}), bench.settle();
  EXPECT_TRUE(bench.state().notices.back().is_error);
  EXPECT_EQ(assistant_names(), (std::vector<std::string>{"large", "reviewer", "reviewer 2", "small"}));
}

TEST_F(AssistantActions, ADamagedFileIsListedWithItsFault) {
  save("", "reviewer", kReviewer);
  std::ofstream(file_of_assistant("broken")) << "{";
  std::ofstream(file_of_assistant("odd")) << R"({"temp": 0.5, "colour": 1})";
  listed();
  ASSERT_EQ(bench.state().assistants.all.size(), 3u);
  EXPECT_NE(bench.state().assistants.all[0].fault.find("broken.json is damaged"), std::string::npos);
  EXPECT_NE(bench.state().assistants.all[1].fault.find("unknown setting 'colour'"), std::string::npos);
  EXPECT_EQ(bench.state().assistants.all[2].fault, "");
}

}  // namespace
}  // namespace warpchat
