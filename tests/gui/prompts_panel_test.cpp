// The library of prompts in the window, drawn without a display.
#include "app/gui/panels/prompts_panel.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include "app/gui/window/palette_rows.h"
#include "tests/gui/headless_ui.h"

namespace warpchat::gui {
namespace {

struct PromptsPanelTest : testing::Test {
  PromptsPanelTest() {
    h.state.prompts = {
        {"greet", "Hello!"}, {"broken", "", "broken.md has no text"}, {"translate", "Into {language=French}: {text}"}};
  }
  void frame(std::vector<InputEvent> events = {}) {
    h.frame([this] { panel.draw(h.f); }, std::move(events));
    if (std::optional<std::string> text = panel.release_text()) filled = *text;
  }
  void click(const std::string& widget) {
    ASSERT_TRUE(h.has(widget)) << widget;
    h.click(
        [this] {
          panel.draw(h.f);
          if (std::optional<std::string> text = panel.release_text()) filled = *text;
        },
        widget);
  }
  void open(const std::string& message = "") {
    panel.toggle(h.f, message);
    frame();
    frame();
  }
  void press(int key, int mods = 0) { frame({KeyPress{key, mods}}); }
  void type(const std::string& text) { frame({TypedText{text}}); }
  template <class T>
  std::vector<T> wishes() {
    return gui::wishes<T>(h.actions);
  }
  void choose(const std::string& prompt, const std::string& item) {
    click("prompt_menu:" + prompt);
    click(item);
    frame();
  }

  HeadlessUi h;
  PromptsPanel panel;
  std::string filled;
};

TEST_F(PromptsPanelTest, OneWithoutPlaceholdersIsUsedAtOnce) {
  open();
  EXPECT_EQ(wishes<ListPrompts>().size(), 1u);
  click("prompt:greet");
  EXPECT_EQ(filled, "Hello!");
  EXPECT_FALSE(panel.is_open());
  EXPECT_TRUE(h.ui.has_focus("composer"));
}

TEST_F(PromptsPanelTest, AFormAsksForValues) {
  open();
  click("prompt:translate");
  frame();
  EXPECT_TRUE(h.ui.has_focus("prompt_value:text")) << "the other one has a default";
  press(GLFW_KEY_ENTER);
  EXPECT_EQ(filled, "") << "it needs a value";
  type("one");
  press(GLFW_KEY_ENTER, GLFW_MOD_SHIFT);
  type("two");
  press(GLFW_KEY_ENTER);
  EXPECT_EQ(filled, "Into French: one\ntwo");
  EXPECT_FALSE(panel.is_open());
}

TEST_F(PromptsPanelTest, ADefaultCanBeReplaced) {
  open();
  click("prompt:translate");
  type("x");
  click("prompt_value:language");
  press(GLFW_KEY_A, GLFW_MOD_CONTROL);
  type("Thai");
  click("prompt_use");
  EXPECT_EQ(filled, "Into Thai: x");
}

TEST_F(PromptsPanelTest, EscapeGoesBackToTheListAndThenOut) {
  open();
  click("prompt:translate");
  EXPECT_TRUE(panel.close(h.ui));
  frame();
  EXPECT_TRUE(h.has("prompt:translate"));
  EXPECT_TRUE(panel.close(h.ui));
  EXPECT_FALSE(panel.is_open());
  EXPECT_FALSE(panel.close(h.ui));
  panel.use(h.f, "translate");  // as the palette does
  frame();
  EXPECT_TRUE(panel.close(h.ui));
  EXPECT_FALSE(panel.is_open()) << "there was no list before";
}

TEST_F(PromptsPanelTest, TheKeyboardFindsAndUsesOne) {
  open();
  press(GLFW_KEY_DOWN), press(GLFW_KEY_DOWN), press(GLFW_KEY_UP);
  press(GLFW_KEY_ENTER);
  EXPECT_TRUE(panel.is_open()) << "one that cannot be read is not used";
  EXPECT_EQ(filled, "");
  type("gr");
  EXPECT_FALSE(h.has("prompt:translate"));
  press(GLFW_KEY_ENTER);
  EXPECT_EQ(filled, "Hello!");
}

TEST_F(PromptsPanelTest, AMessageBecomesAPrompt) {
  open("my {thing}");
  click("prompt_save_message");
  frame();
  EXPECT_TRUE(h.ui.has_focus("prompt_name"));
  press(GLFW_KEY_ENTER);
  EXPECT_TRUE(wishes<SavePrompt>().empty()) << "it has no name";
  for (const auto& [name, why] : {std::pair{"greet", "taken"}, {"a/b", "no name of a file"}}) {
    press(GLFW_KEY_A, GLFW_MOD_CONTROL);
    type(name);
    frame();
    EXPECT_TRUE(h.has("prompt_fault")) << why;
    press(GLFW_KEY_ENTER);
    EXPECT_TRUE(wishes<SavePrompt>().empty()) << why;
  }
  press(GLFW_KEY_A, GLFW_MOD_CONTROL);
  type("mine");
  frame();
  EXPECT_FALSE(h.has("prompt_fault"));
  click("prompt_save");
  const std::vector<SavePrompt> saved = wishes<SavePrompt>();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].name + "|" + saved[0].text + "|" + saved[0].replaces, "mine|my {thing}|");
  h.state.notices.push_back({1, true, "the disk is full"});
  frame();
  EXPECT_TRUE(h.has("prompt_fault")) << "it stays open with its text";
  click("prompt_save");
  h.state.saved_prompts = 1;
  frame();
  frame();
  EXPECT_TRUE(h.has("prompt_filter")) << "back to the list";
}

TEST_F(PromptsPanelTest, OneIsEdited) {
  open();
  choose("greet", "menu_prompt_edit");
  EXPECT_TRUE(h.ui.has_focus("prompt_text"));
  type(" {name}");
  frame();
  click("prompt_save");
  const std::vector<SavePrompt> saved = wishes<SavePrompt>();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].name + "|" + saved[0].text + "|" + saved[0].replaces, "greet|Hello! {name}|greet");
}

TEST_F(PromptsPanelTest, ARemovalAsks) {
  open();
  choose("broken", "menu_prompt_remove");
  EXPECT_TRUE(wishes<RemovePrompt>().empty());
  click("prompt_keep");
  choose("broken", "menu_prompt_remove");
  EXPECT_TRUE(panel.close(h.ui)) << "Escape keeps it";
  frame();
  EXPECT_TRUE(h.has("prompt:broken"));
  choose("broken", "menu_prompt_remove");
  click("prompt_remove");
  const std::vector<RemovePrompt> removed = wishes<RemovePrompt>();
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].name, "broken");
}

TEST_F(PromptsPanelTest, WithoutAPromptTheListSaysHowToBegin) {
  h.state.prompts.clear();
  open();
  EXPECT_TRUE(h.has("prompt_new"));
  EXPECT_FALSE(h.has("prompt_save_message")) << "there is no message";
  press(GLFW_KEY_ENTER);
  EXPECT_TRUE(panel.is_open());
}

TEST_F(PromptsPanelTest, FitsASmallWindowAndManyPlaceholders) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "{value" + std::to_string(i) + "}";
  h.state.prompts = {{"many", text}};
  ImGui::GetIO().DisplaySize = {420, 300};
  open();
  click("prompt:many");
  frame();
  EXPECT_TRUE(h.has("prompt_use"));
  EXPECT_LE(h.rect_of("prompt_use").bottom(), 300);
}

TEST_F(PromptsPanelTest, TheFieldWithTheFocusIsScrolledTo) {
  ImGui::GetIO().DisplaySize = {420, 300};
  h.state.prompts = {{"long", "{a=1}{b=2}{c=3}{d=4}{e=5}{f=6}{last}"}};
  panel.use(h.f, "long");
  for (int i = 0; i < 4; ++i) frame();
  EXPECT_TRUE(h.ui.has_focus("prompt_value:last"));
  EXPECT_GE(h.rect_of("prompt_value:last").height, 30) << "it is seen as a whole";
}

TEST_F(PromptsPanelTest, ArrowsScroll) {
  for (int i = 10; i < 60; ++i) h.state.prompts.push_back({"x" + std::to_string(i), "text " + std::to_string(i)});
  open();
  EXPECT_FALSE(h.has("prompt:x55"));
  for (int i = 0; i < 48; ++i) press(GLFW_KEY_DOWN);
  frame();
  EXPECT_TRUE(h.has("prompt:x55"));
  press(GLFW_KEY_ENTER);
  EXPECT_EQ(filled, "text 55");
}

TEST(PaletteRows, FindPromptsByName) {
  ChatState state;
  state.prompts = {{"translate", "x"}, {"traps", "", "broken"}};
  const std::vector<PaletteRow> rows = palette_rows(state, "tra", {});
  const auto is_prompt = [](const PaletteRow& row) { return row.kind == PaletteRow::Kind::kPrompt; };
  ASSERT_EQ(std::ranges::count_if(rows, is_prompt), 1);
  EXPECT_EQ(std::ranges::find_if(rows, is_prompt)->path, "translate");
  EXPECT_EQ(std::ranges::count_if(palette_rows(state, "", {}), is_prompt), 0) << "without letters only commands";
}

}  // namespace
}  // namespace warpchat::gui
