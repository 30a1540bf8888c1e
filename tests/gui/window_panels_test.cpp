// The window's panels, drawn without a display.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include "app/gui/profiler/profiler_overlay.h"
#include "app/gui/widgets/text_field.h"
#include "app/gui/window/notices.h"
#include "app/gui/window/sidebar.h"
#include "tests/gui/headless_ui.h"

namespace warpchat::gui {
namespace {

struct NoticesTest : testing::Test {
  // Returns the part of the window below the notices.
  Rect draw() {
    Rect rest;
    h.frame([&] {
      rest = h.whole();
      notices.draw(h.f, rest);
    });
    return rest;
  }
  HeadlessUi h;
  Notices notices;
};

TEST_F(NoticesTest, WhatIsNoErrorLeavesByItself) {
  h.state.notices.push_back({1, false, "it is done"});
  draw();
  EXPECT_TRUE(h.has("notice:1"));
  EXPECT_LT(h.ui.wake(), 7);
  h.seconds += 7;
  draw();
  EXPECT_EQ(wishes<DismissNotice>(h.actions).size(), 1u);
}

TEST_F(NoticesTest, AnErrorStaysUntilItIsReadAndTheUserGoesOn) {
  h.state.open.id = 7;
  h.state.notices.push_back({1, true, "it failed"});
  draw();
  h.state.taken_sends = 1;  // at once: it did not have to be read
  draw();
  h.seconds += 3600;
  draw();
  EXPECT_TRUE(h.has("notice:1"));
  EXPECT_TRUE(wishes<DismissNotice>(h.actions).empty());
  h.state.taken_sends = 2;
  draw();
  EXPECT_EQ(wishes<DismissNotice>(h.actions).size(), 1u);
}

TEST_F(NoticesTest, AnErrorIsShownInItsConversationOnly) {
  h.state.open.id = 7;
  h.state.notices.push_back({1, true, "it failed"});
  draw();
  h.state.open.id = 8;
  draw();
  EXPECT_FALSE(h.has("notice:1"));
  h.state.open.id = 7;
  draw();
  EXPECT_TRUE(h.has("notice:1")) << "it was not read";
  h.seconds += 60;
  h.state.open.id = 8;
  draw();
  EXPECT_EQ(wishes<DismissNotice>(h.actions).size(), 1u) << "it was";
}

TEST_F(NoticesTest, EscapeClosesThem) {
  h.state.notices = {{1, true, "it failed"}, {2, false, "it is done"}};
  draw();
  EXPECT_TRUE(notices.close(h.f));
  EXPECT_EQ(wishes<DismissNotice>(h.actions).size(), 2u);
  h.state.notices.clear();
  draw();
  EXPECT_FALSE(notices.close(h.f));
}

TEST_F(NoticesTest, TheyCoverNothing) {
  for (uint64_t id = 1; id <= 9; ++id) h.state.notices.push_back({id, true, std::string(300, 'x'), "Undo"});
  const Rect rest = draw();
  EXPECT_GE(rest.height, h.whole().height / 2 - 80);
  EXPECT_TRUE(h.has("notice:9"));
  EXPECT_FALSE(h.has("notice:1"));
  for (const Ui::Mark& mark : h.ui.marks()) EXPECT_GE(mark.rect.y, rest.bottom()) << mark.name;
}

struct FieldTest : testing::Test {
  void draw() { field.draw(h.ui, "field", {100, 100, 400, 40}, {}); }
  void frame(std::vector<InputEvent> events = {}) {
    h.frame([this] { draw(); }, std::move(events));
  }
  void choose(const std::string& item) {
    h.click_at([this] { draw(); }, {300, 120}, /*button=*/1);
    ASSERT_TRUE(h.has(item)) << item;
    h.click([this] { draw(); }, item);
    EXPECT_FALSE(h.ui.menu_is_open());
  }
  HeadlessUi h;
  TextField field;
};

TEST_F(FieldTest, ItsMenuCutsCopiesPastesSelectsAndUndoes) {
  h.ui.set_focus("field");
  frame({TypedText{"one two"}});
  choose("menu_select_all");
  EXPECT_EQ(field.buffer.selected(), "one two");
  choose("menu_copy");
  EXPECT_EQ(h.clipboard, "one two");
  EXPECT_EQ(field.buffer.selected(), "one two") << "it stays selected";
  h.clipboard.clear();
  choose("menu_cut");
  EXPECT_EQ(h.clipboard, "one two");
  EXPECT_EQ(field.text(), "");
  choose("menu_paste");
  EXPECT_EQ(field.text(), "one two");
  choose("menu_undo");
  EXPECT_EQ(field.text(), "");
  EXPECT_TRUE(h.ui.has_focus("field"));
}

// An input method commits text character by character, in one frame or in several.
TEST_F(FieldTest, TextOfAnInputMethodIsCommitted) {
  const std::vector<const char*> characters = {"日", "本", "e", "\u0301", "👩", "\u200d", "👧", "한"};
  std::string whole;
  std::vector<InputEvent> at_once;
  for (const char* c : characters) whole += c, at_once.push_back(TypedText{c});
  h.ui.set_focus("field");
  frame(at_once);
  EXPECT_EQ(field.text(), whole);
  field.buffer.set("");
  for (const InputEvent& event : at_once) frame({event});
  EXPECT_EQ(field.text(), whole);
  for (const char* left : {"日本e\u0301👩\u200d👧", "日本e\u0301", "日本"}) {
    frame({KeyPress{GLFW_KEY_BACKSPACE, 0}});
    EXPECT_EQ(field.text(), left);
  }
}

TEST_F(FieldTest, WhatIsSelectedIsPastedByTheMiddleButton) {
  h.ui.set_focus("field");
  frame({TypedText{"selected"}});
  frame({KeyPress{GLFW_KEY_A, GLFW_MOD_CONTROL}});
  EXPECT_EQ(h.selection, "selected");
  h.selection = "from elsewhere";
  field.buffer.set("");
  h.click_at([this] { draw(); }, {300, 120}, /*button=*/2);
  EXPECT_EQ(field.text(), "from elsewhere");
}

TEST(ConversationList, TagsAsTheyAreTyped) {
  using Tags = std::vector<std::string>;
  EXPECT_EQ(tags_in(" one, #two words ,,One,# ,#"), (Tags{"one", "two words"}));
  EXPECT_EQ(tags_in(""), Tags{});
}

TEST(Snippet, ShowsTheWordsAndMarksThem) {
  const Snippet phrase = snippet_of("...one thing and another thing that is far too long for a row...", "far too LONG");
  ASSERT_EQ(phrase.marks.size(), 1u);
  EXPECT_EQ(phrase.text.substr(phrase.marks[0].first, phrase.marks[0].second - phrase.marks[0].first), "far too long");
  EXPECT_LE(phrase.marks[0].first, 16u);
  EXPECT_EQ(snippet_of("alpha beta gamma beta", "beta gam").marks.size(), 1u) << "as they were typed";
  const Snippet apart = snippet_of("alpha beta gamma beta", "gamma alpha");
  EXPECT_EQ(apart.marks.size(), 2u);
  EXPECT_TRUE(apart.text.starts_with("alpha"));
  EXPECT_TRUE(snippet_of("nothing of it", "else").marks.empty());
}

TEST(TrashPanel, IsEmptiedOnceTheUserIsSure) {
  HeadlessUi h;
  Sidebar sidebar;
  sidebar.show_trash(true);
  h.state.trash.resize(3);
  for (size_t i = 0; i < 3; ++i) h.state.trash[i].id = static_cast<ConversationId>(i + 1);
  const auto draw = [&] { sidebar.draw(h.f, {0, 0, 264, 600}); };
  h.frame(draw);
  h.click(draw, "empty_trash");
  EXPECT_TRUE(wishes<EraseForEver>(h.actions).empty());
  h.click(draw, "empty_trash");
  EXPECT_EQ(wishes<EraseForEver>(h.actions).size(), 3u);
}

// Tabs keep their places before and after there is data. They stay inside the window and do not overlap.
TEST(Profiler, ItsTabsDoNotJump) {
  for (const float width : {420.0f, 580.0f, 1100.0f}) {
    HeadlessUi h(width, 400);
    ProfilerOverlay overlay;
    const auto tabs = [&] {
      h.frame([&] { overlay.draw(h.state, std::nullopt, {light_theme(), {15.5f, 1}}, h.actions); });
      return overlay.marks();
    };
    const auto empty = tabs();
    ASSERT_EQ(empty.size(), 7u) << "four panels and three buttons";
    auto data = std::make_shared<ProfilerData>();
    data->device = "a device with a name that is far too long for the room that is left beside all these buttons";
    data->token_rows = data->rows = {{"norm_qkv", 20, 0.06, 600'000'000}};
    data->n_passes = 10;
    for (int i = 0; i < 11; ++i) data->tokens.push_back({0.01 * i, 0.01});
    data->history.assign(1, {});
    h.state.profile = data;
    ChatMessage message;
    message.key = 1, message.content = "answer", message.tokens = {{0, 0.1f}, {3, 0.1f}};
    h.state.open.messages.push_back(message);
    const auto full = tabs();
    for (size_t i = 0; i < full.size(); ++i) {
      EXPECT_EQ(full[i].x, empty[i].x) << full[i].name;
      EXPECT_EQ(full[i].y, empty[i].y) << full[i].name;
      EXPECT_LE(full[i].x + full[i].width, width) << full[i].name;
      for (size_t k = 0; k < i; ++k)
        EXPECT_FALSE(full[k].y == full[i].y && full[k].x + full[k].width > full[i].x)
            << full[i].name << " at " << width;
    }
  }
}

}  // namespace
}  // namespace warpchat::gui
