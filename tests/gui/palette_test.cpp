// The command palette's rows and their order, and the prompts of the start screen.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/gui/text/fuzzy_match.h"
#include "app/gui/window/palette_rows.h"
#include "app/gui/window/start_screen.h"
#include "tests/gui/headless_ui.h"

namespace warpchat::gui {
namespace {

using Kind = PaletteRow::Kind;

struct MarksCase {
  const char* why;
  const char *text, *wanted, *marked;  // the text with its marks in brackets; empty: it does not match
};
constexpr MarksCase kMarks[] = {
    {"letters_in_order", "Light or dark", "ldk", "[L]ight or [d]ar[k]"},
    {"another_order", "Light or dark", "dl", ""},
    {"words_begin", "Move to trash", "mtt", "[M]ove [t]o [t]rash"},
    {"beginnings_before_the_first_place", "Abstract trash", "t", "Abstract [t]rash"},
    {"together_before_apart", "Cat of copies", "cop", "Cat of [cop]ies"},
    {"case_and_blanks", "New chat", "N EW", "[New] chat"},
    {"any_script", "Über Äpfel", "äp", "Über [Äp]fel"},
    {"bytes_that_are_no_text",
     "a\xff"
     "b",
     "ab", "[a]\xff[b]"},
    {"longer_than_the_text", "ab", "abc", ""},
    {"nothing_wanted", "ab", "  ", "ab"},
    {"no_text", "", "a", ""},
};
TEST(FuzzyMatch, MarksTheLettersThatWereMeant) {
  for (const MarksCase& c : kMarks) {
    const std::optional<FuzzyMatch> match = fuzzy_match(c.text, c.wanted);
    ASSERT_EQ(match.has_value(), *c.marked != 0) << c.why;
    if (!match) continue;
    std::string marked = c.text;
    for (auto mark = match->marks.rbegin(); mark != match->marks.rend(); ++mark)
      marked.insert(mark->second, "]"), marked.insert(mark->first, "[");
    EXPECT_EQ(marked, c.marked) << c.why;
  }
}

TEST(FuzzyMatch, ALongTextAndManyLettersAreBounded) {
  const std::string text(1 << 20, 'a');
  const std::optional<FuzzyMatch> match = fuzzy_match(text, text);
  ASSERT_TRUE(match);
  EXPECT_LT(match->marks.back().second, 1000u);
}

ChatState some_state() {
  ChatState state;
  state.models = {{.path = "/m/qwen3-4b-Q4_K_M.gguf", .name = "qwen3-4b-Q4_K_M"},
                  {.path = "/m/embed.gguf", .name = "qwen-embedding", .fits = FitsMemory::kUnsupported},
                  {.path = "org/qwen", .name = "org/qwen", .kind = ModelChoice::Kind::kFetch}};
  state.endpoints = {{.path = "box", .name = "box", .kind = ModelChoice::Kind::kEndpoint, .about = "http://box/v1"}};
  state.conversations.resize(2);
  state.conversations[0].id = 7, state.conversations[0].title = "Quantum wells explained";
  state.conversations[1].id = 8, state.conversations[1].title = "Boxes";
  return state;
}

std::vector<std::string> texts(const std::vector<PaletteRow>& rows) {
  std::vector<std::string> all;
  for (const PaletteRow& row : rows) all.push_back(row.text);
  return all;
}

TEST(PaletteRows, WithoutTextTheyAreTheCommandsRecentOnesFirst) {
  const std::vector<PaletteRow> rows = palette_rows(some_state(), "", {"Quit", "Sidebar", "gone since then"});
  ASSERT_GT(rows.size(), 20u);
  EXPECT_EQ(rows[0].text, "Quit");
  EXPECT_EQ(rows[1].text, "Sidebar");
  EXPECT_EQ(rows[2].text, "New chat");
  for (const PaletteRow& row : rows) EXPECT_EQ(row.kind, Kind::kCommand) << row.text;
}

TEST(PaletteRows, HaveEveryCommandThatAppliesOnce) {
  ChatState state = some_state();
  state.open.id = 7;
  state.model = LoadedModel{};
  for (const char* role : {"user", "assistant"}) {
    state.open.messages.emplace_back();
    state.open.messages.back().role = role;
    state.open.messages.back().siblings = {1, 2};
  }
  const std::vector<std::string> all = texts(palette_rows(state, "", {}));
  for (const Shortcut& shortcut : shortcuts()) {
    if (shortcut.text.empty()) continue;
    EXPECT_EQ(std::ranges::count(all, shortcut.text), shortcut.command == Command::kPalette ? 0 : 1) << shortcut.text;
  }
  state.open.phase = AnswerPhase::kAnswer;
  EXPECT_EQ(std::ranges::count(texts(palette_rows(state, "", {})), "Regenerate the answer"), 0) << "it streams";
  EXPECT_EQ(std::ranges::count(texts(palette_rows(some_state(), "", {})), "Export the chat"), 0) << "it is empty";
}

TEST(PaletteRows, FindModelsServersAndConversationsByName) {
  const std::vector<PaletteRow> models = palette_rows(some_state(), "qwen", {});
  ASSERT_FALSE(models.empty());
  EXPECT_EQ(models[0].path, "/m/qwen3-4b-Q4_K_M.gguf");
  for (const PaletteRow& row : models)
    EXPECT_TRUE(row.text != "qwen-embedding" && row.text != "org/qwen") << row.text << " cannot be loaded from here";
  const std::vector<PaletteRow> boxes = palette_rows(some_state(), "box", {});
  ASSERT_GE(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].kind, Kind::kServer);
  EXPECT_EQ(boxes[1].conversation, 8);
  EXPECT_EQ(palette_rows(some_state(), "quantum", {})[0].conversation, 7);
  EXPECT_TRUE(palette_rows(some_state(), "xyzzy", {}).empty());
}

TEST(PaletteRows, OftenUsedCommandsComeFirstAmongEquals) {
  EXPECT_EQ(palette_rows(some_state(), "s", {"Sidebar"})[0].text, "Sidebar");
  EXPECT_EQ(palette_rows(some_state(), "s", {"Settings"})[0].text, "Settings");
}

TEST(Starters, BeginTheMessageAndReplaceEachOther) {
  HeadlessUi h;
  h.state.model = LoadedModel{};
  StartScreen screen;
  std::string message = "my text";
  const auto draw = [&] {
    const std::string_view prompt = screen.draw(h.f, h.whole());
    if (!prompt.empty()) message = with_starter(prompt, message);
  };
  h.frame(draw);
  h.click(draw, "starter:summarise");
  EXPECT_EQ(message, "Summarise the following in five short points:\n\nmy text");
  h.click(draw, "starter:summarise");
  h.click(draw, "starter:explain");
  EXPECT_EQ(message, "Explain in plain words, with one example: my text");
}

TEST(StartScreen, OffersThreeWaysAtEverySize) {
  for (const auto& [width, height] : {std::pair{1000.0f, 640.0f}, {520.0f, 420.0f}, {420.0f, 220.0f}}) {
    HeadlessUi h(width, height);
    StartScreen screen;
    const auto draw = [&] { screen.draw(h.f, h.whole()); };
    h.frame(draw);
    h.frame(draw);
    for (const bool has_model : {false, true}) {
      if (has_model) h.state.model = LoadedModel{};
      for (const auto& [way, command] : {std::pair{"start:here", Command::kOpenModelFile},
                                         {"start:hub", Command::kHubModels},
                                         {"start:server", Command::kConnectServer}}) {
        h.ui.set_focus(way);
        h.frame(draw);
        h.frame(draw, {KeyPress{GLFW_KEY_ENTER, 0}});
        ASSERT_FALSE(h.commands.empty()) << way << " at " << width;
        EXPECT_EQ(h.commands.back(), command) << way << " at " << width;
        EXPECT_TRUE(h.has(way)) << way << " is scrolled to at " << width;
      }
    }
  }
}

TEST(StartScreen, CountsTheModelsThatAreHere) {
  HeadlessUi h;
  StartScreen screen;
  h.state.models = {{.path = "a.gguf", .name = "a"}};
  const auto draw = [&] { screen.draw(h.f, h.whole()); };
  h.frame(draw);
  h.click(draw, "start:here");
  EXPECT_EQ(h.commands.back(), Command::kModels) << "there is one to choose";
}

}  // namespace
}  // namespace warpchat::gui
