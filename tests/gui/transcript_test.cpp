// The transcript as a user meets it: selecting, copying, scrolling, buttons.
#include "app/gui/transcript/transcript_view.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <map>

#include "app/gui/desktop/imgui_keys.h"
#include "app/gui/desktop/open_link.h"
#include "app/gui/transcript/transcript_layout.h"
#include "gtest/gtest.h"
#include "tests/gui/headless_view.h"

namespace warpchat::gui {
namespace {

class Transcript : public testing::Test, public HeadlessView {
 protected:
  void say(const char* role, std::string words) {
    state.open.messages.push_back(message_of(++last_key_, role, std::move(words)));
  }
  ChatMessage& last() { return state.open.messages.back(); }
  void stream(const std::string& more) {
    last().content += more;
    ++last().revision;
    last().status = MessageStatus::kStreaming;
    frame();
  }
  void press(const std::string& name) {
    for (const TranscriptView::Button& button : std::vector(view.buttons())) {
      if (button.name == name) return click({button.x + button.width / 2, button.y + button.height / 2});
    }
    ADD_FAILURE() << "no button " << name;
  }

 private:
  uint64_t last_key_ = 0;
};

TEST_F(Transcript, CopiesAllAsItReads) {
  say("user", "Two **stars**\n```c\nint x;\n  y\n```\nplain");
  say("assistant",
      "<think>\nhm\n</think>\n\n# Title\n\n1. a *b*\n2. c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n---\n\nend");
  frame();
  view.select_all();
  EXPECT_EQ(selected(), "Two **stars**\n\nint x;\n  y\n\nplain\n\nTitle\n\n1. a b\n2. c\n\nx\ty\n1\t2\n\nend");
  view.clear_selection();
  EXPECT_FALSE(view.has_selection());
  EXPECT_EQ(selected(), "");
}

TEST_F(Transcript, CopiesThoughtsThatAreShown) {
  say("assistant", "<think>\nhm *so*\n</think>\n\nanswer");
  show_thoughts = true;
  frame();
  view.select_all();
  EXPECT_EQ(selected(), "hm so\n\nanswer");
}

TEST_F(Transcript, FilesAreChipsThatShowTheirText) {
  say("user", "sum up");
  last().files = {{"notes.txt", "buy milk\n", 3}, {std::string(300, 'n') + ".pdf", "page one\n"}};
  say("assistant", "milk");
  frame();
  const auto shown = [&] {
    frame();
    view.select_all();
    return selected();
  };
  EXPECT_EQ(shown(), "sum up\n\nmilk");
  for (const TranscriptView::Button& button : view.buttons())
    EXPECT_TRUE(!button.name.starts_with("file") || (button.x > 0 && button.width > 50)) << button.name;
  press("file0:1");
  EXPECT_NE(shown().find("buy milk"), std::string::npos);
  EXPECT_NE(shown().find("page one"), std::string::npos);
  press("file1:1");
  EXPECT_EQ(shown(), "sum up\n\nmilk");
}

TEST_F(Transcript, FilesWithoutWords) {
  say("user", "");
  last().files = {{"notes.txt", "buy milk\n", 3}};
  say("assistant", "milk");
  frame();
  EXPECT_TRUE(std::ranges::any_of(view.buttons(), [](const auto& button) { return button.name == "file0:1"; }));
}

TEST_F(Transcript, DraggingSelectsAcrossMessages) {
  say("user", "question");
  say("assistant", "first paragraph\n\nsecond paragraph");
  frame();
  drag({5, 5}, {880, 590});
  EXPECT_EQ(selected(), "question\n\nfirst paragraph\n\nsecond paragraph");
  view.clear_selection();
  drag({880, 590}, {5, 5});
  EXPECT_EQ(selected(), "question\n\nfirst paragraph\n\nsecond paragraph") << "upwards";
}

TEST_F(Transcript, TheWayToTheEndCoversNoText) {
  for (int i = 0; i < 20; ++i) say("assistant", "```\ncode that is as wide as the column\n```");
  for (const float width : {480.0f, 600.0f, 900.0f, 1800.0f}) {
    ImGui::GetIO().DisplaySize.x = width;
    view.scroll_to_end();
    move(width / 2, 300);
    wheel(10);
    float text_end = 0, left = 0, right = 0;
    for (const TranscriptView::Button& button : view.buttons()) {
      if (button.name.starts_with("copy_code:")) text_end = button.x + button.width;
      if (button.name == "scroll_to_end") left = button.x, right = button.x + button.width;
    }
    EXPECT_GT(text_end, width / 2 - 100);
    EXPECT_GT(left, text_end) << width;
    EXPECT_LT(right, width - 8) << width;
    press("scroll_to_end");
    frame();
    EXPECT_TRUE(view.at_end());
  }
}

TEST_F(Transcript, TwoClicksTakeAWordThreeABlock) {
  say("assistant", "unbelievable\n\nanother block");
  frame();
  const ImVec2 word(130, 32);
  click(word);
  EXPECT_FALSE(view.has_selection());
  click(word);
  EXPECT_EQ(selected(), "unbelievable");
  click(word);
  EXPECT_EQ(selected(), "unbelievable");
}

TEST_F(Transcript, ShiftExtends) {
  say("assistant", "one two three\n\nfour five six");
  frame();
  click({5, 5});
  tell_imgui_modifier(ImGui::GetIO(), GLFW_MOD_SHIFT, true);
  click({880, 590});
  tell_imgui_modifier(ImGui::GetIO(), GLFW_MOD_SHIFT, false);
  EXPECT_EQ(selected(), "one two three\n\nfour five six");
}

TEST_F(Transcript, SelectionStaysWhileTheAnswerStreams) {
  say("user", "question");
  say("assistant", "A **bold** start");
  stream("");
  drag({5, 5}, {880, 590});
  const std::string before = selected();
  EXPECT_EQ(before, "question\n\nA bold start");
  stream(" that goes on.\n\nAnd on.");
  EXPECT_EQ(selected(), before);
  state.open.messages.erase(state.open.messages.begin());
  frame();
  EXPECT_FALSE(view.has_selection()) << "the message where it began is gone";
}

TEST_F(Transcript, WhatIsLookedForIsFoundAsItReadsAndGoneTo) {
  say("user", "where is the NEEDLE?");
  for (int i = 0; i < 60; ++i) say("assistant", i == 30 ? "a **nee**dle\n\n```\nneedle\n```" : "hay\n\nmore hay");
  say("assistant", "<think>needle</think>ÜBER needles");
  frame();
  const auto found = [&] { return std::pair(view.found().at, view.found().n); };
  EXPECT_EQ(found(), std::pair(size_t{0}, size_t{0}));
  view.find("needle");
  frame();
  EXPECT_EQ(found(), std::pair(size_t{4}, size_t{4})) << "from the visible part on; a folded thought is skipped";
  EXPECT_TRUE(view.at_end());
  view.find_next(-1);
  frame();
  frame();
  EXPECT_EQ(found().first, 3u);
  EXPECT_FALSE(view.at_end());
  view.find_next(2);
  frame();
  frame();
  EXPECT_EQ(found().first, 1u) << "round the end";
  EXPECT_LT(view.scroll_position(), 100);
  view.find("über");
  frame();
  EXPECT_EQ(found().second, 1u);
  stream(" ÜBER");
  EXPECT_EQ(found().second, 2u) << "what streams is searched, too";
  view.find("nowhere");
  frame();
  EXPECT_EQ(found(), std::pair(size_t{0}, size_t{0}));
  view.find("");
  frame();
  EXPECT_EQ(found(), std::pair(size_t{0}, size_t{0}));
}

TEST_F(Transcript, TheRightButtonAsksForAMenuOfWhatIsThere) {
  say("user", "question");
  say("assistant", "```c\nint x;\n```");
  frame();
  for (const TranscriptView::Button& button : std::vector(view.buttons())) {
    if (!button.name.starts_with("copy_code")) continue;
    move(button.x - 200, button.y + button.height + 12);
    ImGui::GetIO().MouseDown[1] = true;
    frame();
    ImGui::GetIO().MouseDown[1] = false;
    frame();
  }
  const auto menu = view.take_menu();
  ASSERT_TRUE(menu);
  EXPECT_EQ(menu->code, "int x;");
  EXPECT_EQ(menu->message, "```c\nint x;\n```");
  EXPECT_FALSE(view.take_menu());
}

TEST_F(Transcript, TheKeyboardGoesFromTargetToTarget) {
  say("user", "question");
  say("assistant", "<think>\nhm\n</think>\n\n[a](http://a.org) [b](javascript:b)\n\n```c\nint x;\n```");
  last().siblings = {7, 8};
  frame();
  const auto target = [&] {
    frame();
    const TranscriptView::Button* ring = nullptr;
    for (const TranscriptView::Button& button : view.buttons())
      if (button.name == "target") ring = &button;
    if (!ring) return std::string("none");
    for (const TranscriptView::Button& button : view.buttons())
      if (button.name != "target" && button.x == ring->x && button.y == ring->y) return button.name;
    return std::string("link");
  };
  EXPECT_EQ(target(), "none");
  view.set_keyboard(true);
  std::vector<std::string> way{target()};
  for (int i = 0; i < 9; ++i) view.move_target(-1), way.push_back(target());
  EXPECT_EQ(way, (std::vector<std::string>{"regenerate:2", "copy:2", "version_after:2", "copy_code:2", "link",
                                           "thought:2", "edit:1", "copy:1", "copy:1", "copy:1"}));
  view.activate_target();
  frame();
  EXPECT_EQ(clipboard, "question");
  view.move_target(1), frame();
  view.move_target(1), frame();
  EXPECT_EQ(target(), "thought:2");
  view.activate_target();
  frame();
  view.select_all();
  EXPECT_NE(selected().find("hm"), std::string::npos);
  view.move_target(1), frame();
  view.open_target_menu();
  const auto menu = view.take_menu();
  ASSERT_TRUE(menu);
  EXPECT_EQ(menu->link, "http://a.org");
  EXPECT_GT(menu->y, 0);
  view.set_keyboard(false);
  EXPECT_EQ(target(), "none");
}

TEST_F(Transcript, TheKeyboardScrollsWhereNothingCanBeReached) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "words\n\n";
  say("user", "question");
  say("assistant", words);
  frame();
  view.set_keyboard(true);
  frame();
  const float end = view.scroll_position();
  view.move_target(-1), view.move_target(-1), frame();
  view.move_target(-1), frame();
  EXPECT_LT(view.scroll_position(), end - 200);
  EXPECT_GT(view.scroll_position(), end - 700) << "what lies between can be read";
  view.scroll_to_start();
  frame();
  EXPECT_EQ(view.scroll_position(), 0);
  view.scroll_to_end();
  frame();
  EXPECT_TRUE(view.at_end());
}

TEST_F(Transcript, WhatIsSelectedIsAnnouncedOnce) {
  say("assistant", "one two three");
  frame();
  EXPECT_FALSE(view.take_new_selection());
  drag({5, 5}, {880, 590});
  EXPECT_TRUE(view.take_new_selection());
  EXPECT_FALSE(view.take_new_selection());
}

// The arrow to a missing version is shown, but is no button.
TEST_F(Transcript, TheVersionsArrowsStayInTheirPlaces) {
  say("assistant", "an answer");
  last().siblings = {1, 2, 3};
  std::map<std::string, float> places[3];
  for (size_t i = 0; i < 3; ++i) {
    last().sibling = i;
    frame();
    for (const TranscriptView::Button& button : view.buttons()) places[i][button.name] = button.x;
  }
  EXPECT_FALSE(places[0].contains("version_before:1"));
  EXPECT_FALSE(places[2].contains("version_after:1"));
  EXPECT_EQ(places[0]["copy:1"], places[1]["copy:1"]);
  EXPECT_EQ(places[2]["copy:1"], places[1]["copy:1"]);
  EXPECT_NEAR(places[1]["copy:1"] - places[1]["version_after:1"], 1.7f * 16, 3) << "no gap";
}

class Bubble : public Transcript {
 protected:
  float width_of(const std::string& words) {
    say("user", words);
    frame();
    TranscriptLayout layout(text);
    const TranscriptView::Look look{light_theme(), {16, 1}};
    layout.begin(state, look, 700);
    const size_t message = state.open.messages.size() - 1;
    layout.row_height(message, 0);
    return layout.at(message).bubble_width;
  }
};

TEST_F(Bubble, IsAsWideAsItsText) {
  const float max = width_of(std::string(400, 'x'));
  EXPECT_LT(width_of("مرحبا بالعالم"), max / 2) << "from right to left";
  EXPECT_LT(width_of("```c\nint x;\n```"), max / 2) << "code";
  EXPECT_LT(width_of("1\n```\na\n```\n2\n```\nb\n```\n3\n```\nc\n```\n4\n```\nd\n```"), max / 2) << "many blocks";
}

TEST_F(Transcript, FollowsTheAnswerUnlessScrolledAway) {
  for (int i = 0; i < 40; ++i) say("assistant", "a paragraph\n\nanother one");
  frame();
  EXPECT_TRUE(view.at_end());
  stream("\n\nmore\n\nand more");
  EXPECT_TRUE(view.at_end());
  move(450, 300);
  wheel(5);
  EXPECT_FALSE(view.at_end());
  const float position = view.scroll_position();
  stream("\n\nmore\n\nand more");
  EXPECT_NEAR(view.scroll_position(), position, 1);
  view.scroll_to_end();
  frame();
  EXPECT_TRUE(view.at_end());
  view.scroll_pages(-1000);
  frame();
  EXPECT_FLOAT_EQ(view.scroll_position(), 0);
}

TEST_F(Transcript, AClickDoesNotEndFollowing) {
  for (int i = 0; i < 40; ++i) say("assistant", "a paragraph\n\nanother one");
  frame();
  move(300, 300);
  button(true);
  stream("\n\nmore\n\nand more");
  EXPECT_FALSE(view.at_end()) << "the text moved under the mouse";
  button(false);
  stream("\n\nmore");
  EXPECT_TRUE(view.at_end());
}

TEST_F(Transcript, ShowsAHitAndLetsItFade) {
  for (int i = 0; i < 40; ++i) say("assistant", "a paragraph\n\nanother one");
  frame();
  EXPECT_FALSE(view.needs_frames());
  view.scroll_to(state.open.messages[5].turn);
  frame();
  EXPECT_FALSE(view.at_end());
  EXPECT_TRUE(view.needs_frames());
  for (int i = 0; i < 60; ++i) frame();
  EXPECT_FALSE(view.needs_frames());
}

TEST_F(Transcript, CodeHasAButtonThatCopies) {
  std::string code;
  for (int i = 0; i < 400; ++i) code += "  line " + std::to_string(i) + "\n";  // several pieces long
  say("assistant", "```py\n" + code + "```");
  frame();
  view.scroll_pages(-100);
  frame();
  press("copy_code:1");
  EXPECT_EQ(clipboard + "\n", code);
  EXPECT_FALSE(view.has_selection());
}

TEST_F(Transcript, CodeWithoutALanguageHasNoEmptyStrip) {
  const auto height = [&](const char* language) {
    MarkdownBlock block;
    block.kind = BlockKind::kCode;
    block.language = language;
    block.text = "a\nb\nc";
    block.spans = {{0, block.text.size()}};
    return BlockLayout(text, block, {light_theme(), {16, 1}}, {400, true}).height();
  };
  EXPECT_LT(height(""), height("c") - 16);
}

TEST_F(Transcript, ListsFromRightToLeftHaveTheirMarkersAtTheRight) {
  MarkdownBlock block;
  block.nesting = {Nesting::kItem};
  block.marker = "1.";
  block.text = "שלום";
  block.spans = {{0, block.text.size()}};
  for (const bool is_rtl : {true, false}) {
    block.is_rtl = is_rtl;
    const BlockLayout layout(text, block, {light_theme(), {16, 1}}, {400, true});
    const float y = layout.height() / 2;
    EXPECT_EQ(layout.offset_under(400 - 1.7f * 16 - 4, y, 0).has_value(), is_rtl) << "the text";
    EXPECT_EQ(layout.offset_under(1.7f * 16 + 4, y, 0).has_value(), !is_rtl) << "the text";
    EXPECT_FALSE(layout.offset_under(396, y, 0)) << "room for the marker";
    EXPECT_FALSE(layout.offset_under(4, y, 0)) << "room for the marker";
  }
}

TEST_F(Transcript, FootersWishForWhatTheySay) {
  say("user", "question");
  say("assistant", "<think>\nhm\n</think>\n\n**answer**");
  last().siblings = {7, 8, 9};
  last().sibling = 1;
  frame();
  press("copy:2");
  EXPECT_EQ(clipboard, "**answer**");
  press("regenerate:2");
  press("version_before:2");
  press("version_after:2");
  const std::vector<Action> wishes = actions.drain();
  ASSERT_EQ(wishes.size(), 3u);
  EXPECT_EQ(std::get<Regenerate>(wishes[0]).message, 2u);
  EXPECT_EQ(std::get<ShowVersion>(wishes[1]).turn, 7);
  EXPECT_EQ(std::get<ShowVersion>(wishes[2]).turn, 9);
  move(600, 40);
  press("edit:1");
  EXPECT_EQ(view.take_edit(), 1u);
  EXPECT_EQ(view.take_edit(), std::nullopt);
  state.open.phase = AnswerPhase::kAnswer;
  frame();
  for (const auto& button : view.buttons()) EXPECT_EQ(button.name.find("regenerate"), std::string::npos);
}

TEST_F(Transcript, ThoughtsUnfold) {
  say("assistant", "<think>\na long thought\n</think>\n\nanswer");
  last().thinking_seconds = 3.2;
  frame();
  view.select_all();
  EXPECT_EQ(selected(), "answer");
  press("thought:1");
  view.select_all();
  EXPECT_EQ(selected(), "a long thought\n\nanswer");
}

constexpr const char* kFolds =
    "before\n\n<details><summary>More</summary>\n\nhidden needle\n\n<details><summary>Deeper</summary>\n\nthe bottom"
    "\n\n</details>\n\n</details>\n\nafter";

TEST_F(Transcript, FoldsOpenAndCloseByTheirSummary) {
  say("assistant", kFolds);
  const auto shown = [&] {
    frame();
    view.select_all();
    return selected();
  };
  EXPECT_EQ(shown(), "before\n\nMore\n\nafter");
  press("fold:1");
  EXPECT_EQ(shown(), "before\n\nMore\nhidden needle\n\nDeeper\n\nafter");
  stream(" and more");
  EXPECT_EQ(shown(), "before\n\nMore\nhidden needle\n\nDeeper\n\nafter and more");
  press("fold:1");
  EXPECT_EQ(shown(), "before\n\nMore\n\nafter and more");
}

TEST_F(Transcript, FoldsOpenByKey) {
  say("assistant", kFolds);
  view.set_keyboard(true);
  frame();
  const auto ring = [&] {
    std::pair<float, float> y{-1, -2};
    for (const TranscriptView::Button& button : view.buttons()) {
      if (button.name == "target") y.first = button.y;
      if (button.name == "fold:1") y.second = button.y;
    }
    return y;
  };
  for (int i = 0; i < 12 && ring().first != ring().second; ++i) view.move_target(-1), frame();
  ASSERT_EQ(ring().first, ring().second);
  view.activate_target();
  frame();
  frame();
  view.select_all();
  EXPECT_NE(selected().find("hidden needle"), std::string::npos);
}

TEST_F(Transcript, WhatIsFoundInFoldsIsShown) {
  say("assistant", kFolds);
  frame();
  view.find("bottom");
  frame();
  frame();
  EXPECT_EQ(view.found().n, 1u);
  view.select_all();
  EXPECT_EQ(selected(), "before\n\nMore\nhidden needle\n\nDeeper\nthe bottom\n\nafter");
}

// What is folded has no rows, so a frame costs the same with any amount of it.
TEST_F(Transcript, WhatIsFoldedCostsNoFrame) {
  std::string words = "<details><summary>More</summary>\n\n";
  while (words.size() < 100'000) words += "A paragraph that is hidden.\n\n";
  say("assistant", words + "</details>\n\nend");
  TranscriptLayout layout(text);
  const TranscriptView::Look look{light_theme(), {16, 1}};
  RowScroll scroll;
  layout.begin(state, look, 700);
  EXPECT_EQ(scroll.settle(layout, 600).size(), 3u);
  EXPECT_EQ(layout.n_layouts(), 2u);
  EXPECT_LT(layout.message_height(0), 200);
}

TEST_F(Transcript, KnowsTheTokenUnderTheMouse) {
  say("assistant", "**ab** cdefghijklmnopqrstuvwxyz");
  for (uint32_t offset : {0u, 4u, 7u, 20u}) last().tokens.push_back({offset, 0.1f});
  frame();
  move(450 - 46 * 8 + 60, 32);
  ASSERT_TRUE(view.hovered_token());
  EXPECT_EQ(*view.hovered_token(), 2u);
  EXPECT_EQ(view.hovered_message(), last().key);
  move(450, 500);
  EXPECT_FALSE(view.hovered_token());
}

TEST_F(Transcript, AnotherConversationBeginsAtItsEnd) {
  for (int i = 0; i < 40; ++i) say("assistant", "a paragraph\n\nanother one");
  frame();
  view.scroll_pages(-2);
  frame();
  state.open.messages.clear();
  for (int i = 0; i < 40; ++i) say("user", "words");
  frame();
  EXPECT_TRUE(view.at_end());
}

TEST_F(Transcript, LaysOutOnlyWhatIsSeen) {
  TranscriptLayout layout(text);
  for (int i = 0; i < 2000; ++i) say(i % 2 ? "assistant" : "user", "some words\n\nand more of *them*");
  const TranscriptView::Look look{light_theme(), {16, 1}};
  RowScroll scroll;
  size_t max = 0;
  for (int i = 0; i < 400; ++i) {
    layout.begin(state, look, 700);
    scroll.move(i == 0 ? 0 : -150);
    scroll.settle(layout, 600);
    layout.drop_far(scroll.visible());
    max = std::max(max, layout.n_layouts());
  }
  EXPECT_LT(scroll.top().message, 1500u);
  EXPECT_LT(max, 120u);
}

TEST_F(Transcript, OneHugeMessageIsLaidOutInPieces) {
  std::string words;
  while (words.size() < 1 << 20) words += "A paragraph of a message that is a megabyte long.\n\n";
  say("assistant", words);
  TranscriptLayout layout(text);
  const TranscriptView::Look look{light_theme(), {16, 1}};
  RowScroll scroll;
  for (int i = 0; i < 300; ++i) {
    layout.begin(state, look, 700);
    scroll.move(i == 0 ? 0 : -500);
    scroll.settle(layout, 600);
    layout.drop_far(scroll.visible());
    ASSERT_LT(layout.n_layouts(), 300u);
  }
}

struct LinkCase {
  const char* target;
  bool opens;
};

TEST(OpenLink, OnlyTheWebAndMail) {
  for (const LinkCase& c : {LinkCase{"https://example.org/a?b=c", true},
                            {"HTTP://x", true},
                            {"mailto:a@b.org", true},
                            {"file:///etc/passwd", false},
                            {"javascript:alert(1)", false},
                            {"www.x.org", false},
                            {"https://x\n--help", false},
                            {"--help", false},
                            {"", false}}) {
    EXPECT_EQ(may_open_link(c.target), c.opens) << c.target;
  }
}

}  // namespace
}  // namespace warpchat::gui
