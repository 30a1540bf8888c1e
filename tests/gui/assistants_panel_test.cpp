// The panel of assistants and the box of a conversation's model, drawn without a display.
#include "app/gui/panels/assistants_panel.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include "app/gui/window/model_offer_bar.h"
#include "app/gui/window/sidebar.h"
#include "tests/gui/headless_ui.h"

namespace warpchat::gui {
namespace {

struct AssistantsPanelTest : testing::Test {
  AssistantsPanelTest() {
    h.state.assistants.all = {{"critic", "(temp 1)", {{"temp", "1"}, {"ctx-size", "2048"}}, ""},
                              {"reviewer", "Be brief.", {{"system-prompt", "Be brief."}, {"think", "off"}}, ""}};
    panel.toggle(h.f);
    EXPECT_EQ(wishes<ListAssistants>(h.actions).size(), 1u);
    frame();
  }
  void frame(std::vector<InputEvent> events = {}) {
    h.frame([this] { panel.draw(h.f); }, std::move(events));
  }
  void click(const std::string& widget) {
    ASSERT_TRUE(h.has(widget)) << widget;
    h.click([this] { panel.draw(h.f); }, widget);
  }
  void type(const std::string& field, const std::string& text) {
    h.ui.set_focus(field);
    frame({KeyPress{GLFW_KEY_A, GLFW_MOD_CONTROL}});
    frame({TypedText{text}});
  }
  HeadlessUi h{900, 900};
  AssistantsPanel panel;
};

TEST_F(AssistantsPanelTest, ARowChoosesIt) {
  click("assistant_row:reviewer");
  const auto chosen = wishes<SetAssistant>(h.actions);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].name, "reviewer");
  EXPECT_FALSE(panel.is_open());
  panel.toggle(h.f), frame();
  click("assistant_row:");
  EXPECT_EQ(wishes<SetAssistant>(h.actions).at(0).name, "");
}

TEST_F(AssistantsPanelTest, OneIsEdited) {
  click("assistant_edit:critic");
  for (const char* field : {"assistant_name", "assistant_prompt", "assistant_model", "assistant_endpoint"})
    EXPECT_TRUE(h.has(field)) << field;
  type("assistant_name", "judge");
  type("assistant_prompt", "Judge.");
  type("assistant_setting:temp", "0.5");
  type("assistant_setting:top-k", " 7 ");
  type("assistant_other", "threads");
  frame({KeyPress{GLFW_KEY_ENTER, 0}});
  frame();
  EXPECT_EQ(h.ui.focus(), "assistant_setting:threads");
  frame({TypedText{"2"}});
  click("assistant_save");
  const auto saved = wishes<SaveAssistant>(h.actions);
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].from + " " + saved[0].name, "critic judge");
  EXPECT_EQ(saved[0].settings,
            (TypedSettings{
                {"system-prompt", "Judge."}, {"temp", "0.5"}, {"top-k", "7"}, {"ctx-size", "2048"}, {"threads", "2"}}));
  click("assistant_save");
  EXPECT_TRUE(wishes<SaveAssistant>(h.actions).empty()) << "once";
  h.state.assistants.request = saved[0].request;
  h.state.assistants.fault = "temp takes a number, found hot";
  frame();
  EXPECT_TRUE(h.has("assistant_fault"));
  click("assistant_save");
  h.state.assistants.request = wishes<SaveAssistant>(h.actions).at(0).request;
  h.state.assistants.fault.clear();
  frame(), frame();
  EXPECT_FALSE(h.has("assistant_save")) << "it is saved";
  EXPECT_TRUE(h.has("assistant_row:reviewer"));
}

TEST_F(AssistantsPanelTest, ACopyIsANewOne) {
  EXPECT_EQ(name_of_copy(h.state.assistants, "reviewer"), "reviewer copy");
  h.state.assistants.all.push_back({"reviewer copy", "", {}, ""});
  EXPECT_EQ(name_of_copy(h.state.assistants, "reviewer"), "reviewer copy 2");
  click("assistant_copy:reviewer");
  click("assistant_save");
  const auto saved = wishes<SaveAssistant>(h.actions);
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].from + "|" + saved[0].name, "|reviewer copy 2");
  EXPECT_EQ(saved[0].settings, h.state.assistants.all[1].settings);
}

TEST_F(AssistantsPanelTest, OneIsMadeOfThisChat) {
  h.state.open.system_prompt = "Be kind.";
  h.state.open.choices.temperature = 0.25f;
  h.state.model = LoadedModel{.path = "qwen", .name = "qwen", .endpoint = "http://box:1"};
  h.state.endpoints = {{.path = "box", .name = "box", .kind = ModelChoice::Kind::kEndpoint, .about = "http://box:1"}};
  click("assistants_from_chat");
  EXPECT_EQ(h.ui.focus(), "assistant_name");
  frame({TypedText{"kind"}});
  frame({KeyPress{GLFW_KEY_ENTER, 0}});
  const auto saved = wishes<SaveAssistant>(h.actions);
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].settings,
            (TypedSettings{{"system-prompt", "Be kind."}, {"model", "qwen"}, {"endpoint", "box"}, {"temp", "0.25"}}));
}

TEST_F(AssistantsPanelTest, RemovingAsksFirst) {
  click("assistant_remove:critic");
  EXPECT_TRUE(wishes<RemoveAssistant>(h.actions).empty());
  click("assistant_keep");
  EXPECT_TRUE(h.has("assistant_row:critic"));
  click("assistant_remove:critic");
  EXPECT_TRUE(panel.close(h.f)) << "Esc takes the question back";
  EXPECT_TRUE(panel.is_open());
  frame();
  click("assistant_remove:critic");
  click("assistant_really_remove");
  EXPECT_EQ(wishes<RemoveAssistant>(h.actions).at(0).name, "critic");
}

TEST_F(AssistantsPanelTest, FilesAreAskedFor) {
  click("assistant_export:reviewer");
  EXPECT_EQ(panel.take_export(), "reviewer");
  EXPECT_EQ(panel.take_export(), "");
  panel.toggle(h.f), frame();
  click("assistants_import");
  EXPECT_EQ(h.commands, std::vector<Command>{Command::kImportAssistants});
}

TEST_F(AssistantsPanelTest, EscapeClosesWhatIsInFront) {
  click("assistants_new");
  EXPECT_TRUE(panel.close(h.f));
  EXPECT_TRUE(panel.is_open());
  EXPECT_TRUE(panel.close(h.f));
  EXPECT_FALSE(panel.is_open());
  EXPECT_FALSE(panel.close(h.f));
}

struct OfferTest : testing::Test {
  Rect draw() {
    Rect rest;
    h.frame([&] {
      rest = h.whole();
      draw_model_offer(h.f, rest);
    });
    return rest;
  }
  void click() {
    h.click(
        [&] {
          Rect rest = h.whole();
          draw_model_offer(h.f, rest);
        },
        "use_offered_model");
  }
  HeadlessUi h;
};

TEST_F(OfferTest, LoadsTheModel) {
  h.state.offer = ModelOffer{"own", "/models/own.gguf", "", false};
  EXPECT_EQ(draw().height, h.whole().height) << "not over an empty conversation";
  h.state.open.messages.resize(2);
  EXPECT_LT(draw().height, h.whole().height);
  click();
  const auto loads = wishes<LoadModel>(h.actions);
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].path, "/models/own.gguf");
  EXPECT_EQ(loads[0].endpoint, "");
}

TEST_F(OfferTest, ConnectsToTheServer) {
  h.state.open.messages.resize(2);
  h.state.offer = ModelOffer{"qwen", "org/qwen", "box", false};
  draw();
  click();
  const auto loads = wishes<LoadModel>(h.actions);
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].path + " " + loads[0].endpoint, "org/qwen box");
}

TEST_F(OfferTest, AsksForAnotherInPlaceOfOneThatIsGone) {
  h.state.open.messages.resize(2);
  h.state.offer = ModelOffer{"own", "/models/own.gguf", "", true};
  draw();
  click();
  EXPECT_EQ(h.commands, std::vector<Command>{Command::kModels});
  EXPECT_TRUE(wishes<LoadModel>(h.actions).empty());
}

TEST_F(OfferTest, SaysWhatHappens) {
  const LoadedModel loaded{.path = "/tiny.gguf", .name = "tiny"};
  EXPECT_EQ(offer_text({"own", "/own.gguf", "", false}, loaded).sentence,
            "This chat was held with own. Your next message is answered by tiny.");
  EXPECT_EQ(offer_text({"own", "/own.gguf", "", false}, loaded).button, "Load own");
  EXPECT_EQ(offer_text({"own", "/own.gguf", "", true}, std::nullopt).sentence,
            "This chat was held with own, which is not on this machine any more.");
  EXPECT_EQ(offer_text({"own", "/own.gguf", "", true}, loaded).button, "Choose a model");
  EXPECT_EQ(offer_text({"qwen", "org/qwen", "http://box:8000/v1", false}, loaded).sentence,
            "This chat was held with qwen at box:8000. Your next message is answered by tiny.");
  EXPECT_EQ(offer_text({"qwen", "org/qwen", "box", false}, loaded).button, "Connect to box");
}

// A long name leaves room for the sentence and stays within the box.
TEST_F(OfferTest, ALongNameIsShortened) {
  h.state.open.messages.resize(2);
  const std::string name(190, 'x');
  h.state.offer = ModelOffer{name, "/" + name + ".gguf", "", false};
  draw();
  const Rect box = h.rect_of("model_offer"), button = h.rect_of("use_offered_model");
  EXPECT_GE(button.x, box.x + box.width / 2 - 20);
  EXPECT_LE(button.right(), box.right());
}

TEST(HitsPanel, MoreAreAskedFor) {
  HeadlessUi h;
  Sidebar sidebar;
  const auto draw = [&] { sidebar.draw(h.f, {0, 0, 264, 600}); };
  h.ui.set_focus("search");
  h.frame(draw, {TypedText{"x"}});
  h.actions.drain();
  h.state.search = SearchResults{.words = "x", .sought = "x", .limit = kListedHits, .has_more = false};
  h.state.search->hits.resize(2);
  h.frame(draw);
  EXPECT_FALSE(h.has("hits_more"));
  h.state.search->has_more = true;
  h.frame(draw);
  h.click(draw, "hits_more");
  const auto searches = wishes<Search>(h.actions);
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].limit, 2 * kListedHits);
}

}  // namespace
}  // namespace warpchat::gui
