// The window's parts that need no display.
#include <GLFW/glfw3.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/gui/desktop/glfw_window.h"
#include "app/gui/desktop/system_theme.h"
#include "app/gui/desktop/window_memory.h"
#include "app/gui/panels/file_dialog.h"
#include "app/gui/panels/model_rows.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/edit_buffer.h"
#include "app/gui/widgets/elide.h"
#include "app/gui/widgets/input.h"
#include "app/gui/widgets/numbers.h"
#include "app/gui/window/date_groups.h"
#include "app/gui/window/pacer.h"
#include "app/gui/window/state_dump.h"
#include "app/gui/window/status_line.h"
#include "app/platform/text/graphemes.h"
#include "app/platform/typed_path.h"

namespace warpchat::gui {
namespace {

using Json = nlohmann::json;

// Dates.
constexpr StoreTime kHour = 3600 * 1000, kToday = 1'700'006'400'000;

struct DateCase {
  const char* why;
  StoreTime updated;
  const char* group;
};
constexpr DateCase kDates[] = {
    {"the clock went back", kToday + 30 * kHour, "Today"},
    {"first moment of today", kToday, "Today"},
    {"last moment of yesterday", kToday - 1, "Yesterday"},
    {"first moment of yesterday", kToday - 24 * kHour, "Yesterday"},
    {"the day before", kToday - 24 * kHour - 1, "Previous 7 days"},
    {"a week ago", kToday - 7 * 24 * kHour, "Previous 7 days"},
    {"more than a week", kToday - 7 * 24 * kHour - 1, "Older"},
    {"never", 0, "Older"},
};
TEST(DateGroup, ByDayOfUse) {
  for (const DateCase& c : kDates) EXPECT_EQ(date_group(c.updated, kToday), c.group) << c.why;
}

TEST(DateGroup, MidnightIsOfTheSameDayAndNotAhead) {
  for (const StoreTime now : {kToday, kToday + 5 * kHour, kToday + 23 * kHour}) {
    const StoreTime midnight = local_midnight(now);
    EXPECT_LE(midnight, now);
    EXPECT_GT(midnight, now - 26 * kHour);
    EXPECT_EQ(local_midnight(midnight), midnight);
  }
}

// Eliding: every letter is one pixel wide, whatever its bytes.
float columns(std::string_view text) { return static_cast<float>(text_width(text)); }

struct ElideCase {
  const char* why;
  const char* text;
  float width;
  const char* shown;
};
constexpr ElideCase kElides[] = {
    {"fits exactly", "abcdef", 6, "abcdef"},
    {"one too long", "abcdefg", 6, "abcde…"},
    {"no space before the ellipsis", "abcd efg", 6, "abcd…"},
    {"wide characters stay whole", "日本語文法", 6, "日本…"},
    {"a cluster of several code points stays whole",
     "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 5,
     "👨‍👩‍👧👨‍👩‍👧…"},
    {"lines become one", "a\nb\tc", 9, "a b c"},
    {"nothing fits", "abc", 1, "…"},
    {"no room at all", "abc", 0, "…"},
    {"empty", "", 3, ""},
};
TEST(Elide, KeepsWholeCharacters) {
  for (const ElideCase& c : kElides) EXPECT_EQ(elide(c.text, c.width, columns), c.shown) << c.why;
}

constexpr ElideCase kMiddles[] = {
    {"fits exactly", "report.pdf", 10, "report.pdf"},
    {"both ends stay", "abcdefgh", 5, "ab…gh"},
    {"one more of the start", "abcdefgh", 4, "ab…h"},
    {"wide characters stay whole", "日本語文法", 6, "日…法"},
    {"nothing fits", "abc", 1, "…"},
    {"empty", "", 3, ""},
};
TEST(Elide, KeepsBothEndsOfAName) {
  for (const ElideCase& c : kMiddles) EXPECT_EQ(elide_middle(c.text, c.width, columns), c.shown) << c.why;
}

TEST(Elide, LongTextIsCutBeforeItIsMeasured) {
  const std::string text(1 << 20, 'x');
  size_t longest = 0;
  elide(text, 10, [&](std::string_view part) { return longest = std::max(longest, part.size()), columns(part); });
  EXPECT_LT(longest, 4096u);
}

// Shortcuts.
TEST(Shortcuts, EveryKeyHasOneMeaningAndEveryCommandAText) {
  std::set<std::pair<int, int>> keys;
  std::set<Command> described, all;
  for (const Shortcut& shortcut : shortcuts()) {
    const bool has_key = shortcut.key != kNoKey;
    EXPECT_TRUE(!has_key || keys.insert({shortcut.key, shortcut.mods}).second) << shortcut.keys;
    EXPECT_EQ(command_of({shortcut.key, shortcut.mods}, shortcut.fields_first),
              has_key ? std::optional(shortcut.command) : std::nullopt)
        << shortcut.keys;
    EXPECT_EQ(command_of({shortcut.key, shortcut.mods}, !shortcut.fields_first), std::nullopt) << shortcut.keys;
    all.insert(shortcut.command);
    if (!shortcut.text.empty()) described.insert(shortcut.command);
  }
  EXPECT_EQ(described, all);
  EXPECT_EQ(all.size(), static_cast<size_t>(Command::kQuit) + 1);
}

TEST(Shortcuts, TypingIsNone) {
  EXPECT_EQ(command_of({GLFW_KEY_N, 0}, false), std::nullopt);
  EXPECT_EQ(command_of({GLFW_KEY_N, GLFW_MOD_SHIFT}, false), std::nullopt);
  EXPECT_EQ(keys_of(Command::kNewConversation), "Ctrl+N");
}

// Input.
TEST(InputQueue, TypedTextIsOneFrame) {
  InputQueue queue;
  for (const char* letter : {"a", "b", "c"}) {
    queue.push(KeyPress{GLFW_KEY_A, 0});
    queue.push(TypedText{letter});
    queue.push(KeyRelease{GLFW_KEY_A});
  }
  EXPECT_EQ(queue.take_frame().size(), 9u);
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, WhatFollowsAKeyThatMovesTheFocusWaits) {
  for (const KeyPress key : {KeyPress{GLFW_KEY_TAB, 0},
                             {GLFW_KEY_K, GLFW_MOD_CONTROL},
                             {GLFW_KEY_ENTER, 0},
                             {GLFW_KEY_ESCAPE, 0},
                             {GLFW_KEY_F2, 0},
                             {GLFW_KEY_UP, GLFW_MOD_ALT}}) {
    InputQueue queue;
    queue.push(key);
    queue.push(TypedText{"x"});
    EXPECT_EQ(queue.take_frame().size(), 1u) << key.key;
    EXPECT_EQ(queue.take_frame().size(), 1u) << key.key;
  }
}

TEST(InputQueue, WhatIsTypedBeforeSuchAKeyIsInItsFieldFirst) {
  InputQueue queue;
  queue.push(TypedText{"x"});
  queue.push(KeyPress{GLFW_KEY_ESCAPE, 0});
  EXPECT_EQ(queue.take_frame().size(), 1u);
  EXPECT_EQ(queue.take_frame().size(), 1u);
}

TEST(InputQueue, ADragReachesItsEndBeforeItIsLetGo) {
  InputQueue queue;
  queue.push(MouseButton{0, true});
  queue.push(MouseMove{5, 6});
  queue.push(MouseButton{0, false});
  for (int frame = 0; frame < 3; ++frame) EXPECT_EQ(queue.take_frame().size(), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, APressAndItsReleaseAreTwoFrames) {
  InputQueue queue;
  queue.push(MouseMove{1, 1});
  queue.push(MouseMove{5, 6});
  queue.push(MouseButton{0, true});
  queue.push(MouseButton{0, false});
  EXPECT_EQ(queue.take_frame().size(), 2u);  // the last position, and the press there
  EXPECT_EQ(queue.take_frame().size(), 1u);
  EXPECT_TRUE(queue.take_frame().empty());
}

// Pace.
TEST(Pacer, DrawsWhatChangedAndThenSleeps) {
  Pacer pacer(1.0 / 60);
  EXPECT_EQ(pacer.wait(0), 0);  // the first frame
  pacer.begin_frame(0);
  EXPECT_EQ(pacer.wait(1), Pacer::kNever);
  pacer.saw_input();
  int frames = 0;
  for (double now = 1; pacer.wait(now) < 1; now += 0.1) pacer.begin_frame(now), ++frames;
  EXPECT_EQ(frames, 3);  // ImGui settles in two frames
  EXPECT_EQ(pacer.wait(1e6), Pacer::kNever);
}

TEST(Pacer, OneFrameARefreshHoweverManyUpdates) {
  Pacer pacer(0.01);
  pacer.begin_frame(0);
  for (int i = 0; i < 1000; ++i) pacer.saw_update(/*more_will_come=*/true);
  EXPECT_NEAR(pacer.wait(0.004), 0.006, 1e-9);
  EXPECT_EQ(pacer.wait(0.01), 0);
  pacer.begin_frame(0.01);
  EXPECT_EQ(pacer.wait(0.02), Pacer::kNever);
}

TEST(Pacer, WakesAtTheMomentAskedFor) {
  Pacer pacer(0.01);
  pacer.begin_frame(0);
  pacer.wake_at(6);
  pacer.wake_at(9);
  EXPECT_NEAR(pacer.wait(1), 5, 1e-9);
  EXPECT_EQ(pacer.wait(6), 0);
  pacer.begin_frame(6);  // wake-ups must be requested again
  EXPECT_EQ(pacer.wait(7), Pacer::kNever);
}

TEST(Pacer, FollowsTheDisplayThatTheWindowIsOn) {
  Pacer pacer(0.02);
  pacer.begin_frame(0);
  pacer.saw_update(/*more_will_come=*/true);
  pacer.set_refresh(0.007);
  EXPECT_NEAR(pacer.wait(0.001), 0.006, 1e-9);
}

// Monitors.
struct MonitorCase {
  const char* why;
  Rect window;
  size_t monitor;
};
constexpr MonitorCase kMonitorCases[] = {
    {"all of it", {100, 100, 800, 600}, 0},         {"on the right one", {2000, 100, 800, 600}, 1},
    {"most of it", {1700, 100, 800, 600}, 1},       {"less than half", {1300, 100, 800, 600}, 0},
    {"above the others", {200, -900, 800, 600}, 2}, {"larger than any", {-100, -50, 4000, 1300}, 1},
    {"nowhere", {9000, 9000, 800, 600}, 0},
};

TEST(Monitors, TheOneThatShowsMost) {
  const std::vector<Rect> monitors = {{0, 0, 1920, 1080}, {1920, 0, 2560, 1440}, {0, -1080, 1920, 1080}};
  for (const MonitorCase& c : kMonitorCases) EXPECT_EQ(monitor_of(c.window, monitors), c.monitor) << c.why;
}

// The remembered window.
TEST(WindowMemory, ComesBackAsItWas) {
  WindowMemory memory;
  memory.place = {-20, 40, 900, 700, true};
  memory.dark = true, memory.zoom = 1.25f, memory.sidebar_width = 300, memory.sidebar_open = false;
  memory.theme = ThemeChoice::kDark, memory.text_font = "Inter", memory.code_font = "JetBrains Mono";
  memory.recent_commands = {"Quit", "Sidebar"};
  memory.emulators = true, memory.profiler_share = 0.75f;
  memory.drafts = {{0, {"Grüße,\n日本 🎉", {"/tmp/a b.pdf", "/ü.txt"}}}, {17, {"and more", {}}}};
  EXPECT_EQ(window_memory_from(to_json(memory)), memory);
  EXPECT_EQ(window_memory_from(to_json(WindowMemory{})), WindowMemory{});
}

TEST(WindowMemory, AThemeThatAnOlderVersionKeptWasChosen) {
  EXPECT_EQ(window_memory_from(R"({"dark": true})").theme, ThemeChoice::kDark);
  EXPECT_EQ(window_memory_from(R"({"dark": false})").theme, ThemeChoice::kSystem);
  EXPECT_EQ(window_memory_from(R"({"dark": true, "theme": "system"})").theme, ThemeChoice::kSystem);
  EXPECT_TRUE(window_memory_from(R"({"dark": true, "theme": "system"})").dark) << "until the system's is known";
  EXPECT_FALSE(window_memory_from(R"({"dark": true, "theme": "light"})").dark);
}

struct GtkCase {
  const char* why;
  const char* ini;
  std::optional<bool> dark;
};
const GtkCase kGtkSettings[] = {
    {"nothing", "", std::nullopt},
    {"another_key", "[Settings]\ngtk-font-name=Sans 10\n", std::nullopt},
    {"dark_preferred", "[Settings]\ngtk-application-prefer-dark-theme=1\n", true},
    {"in_words_with_blanks", "gtk-application-prefer-dark-theme = TRUE\r\n", true},
    {"light_preferred", "gtk-application-prefer-dark-theme=0", false},
    {"by_the_themes_name", "gtk-theme-name=Adwaita-dark\n", true},
    {"a_light_theme", "gtk-theme-name=Adwaita\n", false},
    {"the_preference_decides", "gtk-theme-name=Adwaita\ngtk-application-prefer-dark-theme=1", true},
    {"no_value", "gtk-application-prefer-dark-theme\n=\n", std::nullopt},
};
TEST(SystemTheme, ReadsGtksSettings) {
  for (const GtkCase& c : kGtkSettings) EXPECT_EQ(dark_in_gtk_settings(c.ini), c.dark) << c.why;
}

struct MemoryCase {
  const char* why;
  const char* json;
};
constexpr MemoryCase kBadMemories[] = {
    {"empty file", ""},
    {"cut off", "{\"width\": 9"},
    {"no object", "[1, 2]"},
    {"not JSON", "\x00\xff\xfe"},
    {"other types",
     R"({"width": "wide", "dark": 1, "theme": "pink", "text_font": 7, "recent_commands": {}, "zoom": []})"},
    {"drafts of nothing", R"({"drafts": [3, {"text": "x"}, {"conversation": "1", "text": "x"}]})"},
    {"senseless sizes", R"({"width": -5, "height": 1e99, "zoom": 0, "sidebar_width": 1e6})"},
};
TEST(WindowMemory, WhatMakesNoSenseIsAsAtTheFirstStart) {
  for (const MemoryCase& c : kBadMemories) EXPECT_EQ(window_memory_from(c.json), WindowMemory{}) << c.why;
}

TEST(WindowMemory, OneBadValueDoesNotCostTheOthers) {
  const WindowMemory memory = window_memory_from(R"({"width": "wide", "height": 555, "dark": true})");
  EXPECT_EQ(memory.place.height, 555);
  EXPECT_EQ(memory.place.width, WindowPlace{}.width);
  EXPECT_TRUE(memory.dark);
}

TEST(WindowMemory, FilesAreReplacedAndFailuresIgnored) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "window_memory_test";
  std::filesystem::remove_all(folder);
  WindowMemory memory;
  memory.zoom = 2;
  save_window_memory(memory, folder.string());
  EXPECT_EQ(load_window_memory(folder.string()), memory);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  save_window_memory(memory, "/proc/nowhere");
  EXPECT_EQ(load_window_memory("/proc/nowhere"), WindowMemory{});
  std::filesystem::remove_all(folder);
}

// Editing.
TEST(EditBuffer, MovesAndErasesByClusters) {
  EditBuffer buffer;
  buffer.set("aé👨‍👩‍👧b");  // é is a letter and a mark
  buffer.move_left(false, false);
  buffer.erase_left(false);
  EXPECT_EQ(buffer.text(), "aéb");
  buffer.erase_left(false);
  EXPECT_EQ(buffer.text(), "ab");
  EXPECT_EQ(buffer.caret(), 1u);
}

TEST(EditBuffer, EveryCharacterIsKept) {
  EditBuffer buffer;
  const std::string text = "𝒳 🎉 漢字 \t x";
  buffer.insert(text);
  buffer.insert("\r\nline\rline");
  EXPECT_EQ(buffer.text(), text + "\nline\nline");
}

TEST(EditBuffer, UndoTakesBackWhatWasTypedInARow) {
  EditBuffer buffer;
  for (const char* letter : {"a", "b", "c"}) buffer.insert(letter);
  buffer.insert("pasted text");
  buffer.undo();
  EXPECT_EQ(buffer.text(), "abc");
  buffer.undo();
  EXPECT_EQ(buffer.text(), "");
  buffer.undo();  // nothing left
  buffer.redo();
  buffer.redo();
  EXPECT_EQ(buffer.text(), "abcpasted text");
  buffer.select_all();
  buffer.insert("x");
  EXPECT_EQ(buffer.text(), "x");
  buffer.undo();
  EXPECT_EQ(buffer.text(), "abcpasted text");
}

TEST(EditBuffer, SelectionIsReplacedAndWordsAreWhole) {
  EditBuffer buffer;
  buffer.set("one two  three");
  buffer.move_left(true, true);
  EXPECT_EQ(buffer.selected(), "three");
  buffer.move_left(true, true);
  EXPECT_EQ(buffer.selected(), "two  three");
  buffer.insert("2");
  EXPECT_EQ(buffer.text(), "one 2");
  buffer.erase_left(true);
  EXPECT_EQ(buffer.text(), "one ");
  const uint64_t revision = buffer.revision();
  buffer.move_to(0, false);
  EXPECT_EQ(buffer.revision(), revision);
}

// Words and numbers.
TEST(Numbers, ThreeDigitsAreEnough) {
  EXPECT_EQ(compact(0), "0");
  EXPECT_EQ(compact(999), "999");
  EXPECT_EQ(compact(1000), "1.0k");
  EXPECT_EQ(compact(9949), "9.9k");
  EXPECT_EQ(compact(9950), "10k");
  EXPECT_EQ(compact(999499), "999k");
  EXPECT_EQ(compact(999500), "1.0M");
  EXPECT_EQ(seconds_text(0.0854), "85 ms");
  EXPECT_EQ(seconds_text(1.44), "1.4 s");
  EXPECT_EQ(seconds_text(31.6), "32 s");
}

TEST(Numbers, MessagesBecomeSentences) {
  EXPECT_EQ(as_sentence("the model is gone"), "The model is gone");
  EXPECT_EQ(as_sentence("qwen.gguf: not a model"), "qwen.gguf: not a model");
  EXPECT_EQ(as_sentence("cpu: no"), "cpu: no");
  EXPECT_EQ(as_sentence("Élan"), "Élan");
  EXPECT_EQ(as_sentence(""), "");
}

// The rows' names; a star marks the one that Enter chooses.
std::string rows_text(const ChatState& state, const std::string& text) {
  const std::optional<ModelChoice> named = named_model(state, text);
  const std::vector<ModelRow> rows = model_rows(state, text, named);
  const ModelRow* enter = row_for_enter(rows, text);
  std::string list;
  for (const ModelRow& row : rows)
    list += (list.empty() ? "" : ", ") + row.widget + " " + row.model->path + (&row == enter ? "*" : "");
  return list;
}

TEST(ModelRows, WhatTheTextMeans) {
  using Kind = ModelChoice::Kind;
  ChatState state;
  state.models = {{.path = "/m/a.gguf", .name = "a.gguf", .quantisation = "Q4_0"},
                  {.path = "/c/b.gguf", .name = "org/b:Q8_0"},
                  {.path = "org/small", .name = "org/small", .kind = Kind::kFetch}};
  state.hub = {.words = "org",
               .models = {{.path = "org/small:Q4_K_M", .name = "org/small:Q4_K_M", .kind = Kind::kFetch},
                          {.path = "org/new:Q8_0", .name = "org/new:Q8_0", .kind = Kind::kFetch}}};
  state.endpoints = {{.path = "box", .name = "box", .kind = Kind::kEndpoint, .about = "http://box:8000/v1"}};
  EXPECT_EQ(rows_text(state, ""), "model:0 /m/a.gguf*, model:1 /c/b.gguf, endpoint:box box, model:2 org/small");
  EXPECT_EQ(rows_text(state, "Q4_0 A"), "model:0 /m/a.gguf*");
  EXPECT_EQ(rows_text(state, " org "), "model:1 /c/b.gguf*, model:2 org/small, hub:1 org/new:Q8_0");
  EXPECT_EQ(rows_text(state, "orgs"), "");
  EXPECT_EQ(rows_text(state, "ORG/B:q8_0"), "model:1 /c/b.gguf*");
  EXPECT_EQ(rows_text(state, "org/b"), "model_named org/b*, model:1 /c/b.gguf");
  EXPECT_EQ(rows_text(state, "~/x y.gguf "), "model_named " + with_home_directory("~/x y.gguf") + "*");
  EXPECT_EQ(rows_text(state, "http://box:1/v1"), "model_named http://box:1/v1*");
  EXPECT_EQ(rows_text(state, "https://huggingface.co/org/c/blob/main/c-Q6_K.gguf"), "model_named org/c:c-Q6_K*");
  EXPECT_EQ(rows_text(state, "org/small"), "model:2 org/small*");
  state.hub.words = "org/new";
  state.hub.models[1].name = state.hub.models[1].path = "org/new:Q4_K_M";
  EXPECT_EQ(rows_text(state, "org/new"), "hub:0 org/small:Q4_K_M, hub:1 org/new:Q4_K_M*");
  state.hub.offline = true;
  EXPECT_EQ(rows_text(state, "org/small"), "model_named org/small*");
}

TEST(ModelRows, AServersModelsFollowIt) {
  using Kind = ModelChoice::Kind;
  ChatState state;
  state.endpoints = {{.path = "box", .name = "box", .kind = Kind::kEndpoint, .about = "http://box:8000/v1"},
                     {.path = "far", .name = "far", .kind = Kind::kEndpoint, .about = "https://far.example/v1"}};
  state.served = {.endpoint = "box",
                  .models = {{.path = "big", .name = "big", .kind = Kind::kServed},
                             {.path = "small", .name = "small", .kind = Kind::kServed}}};
  EXPECT_EQ(rows_text(state, ""), "endpoint:box box*, served:0 big, served:1 small, endpoint:far far");
  EXPECT_EQ(rows_text(state, "small"), "endpoint:box box, served:1 small*");
  EXPECT_EQ(rows_text(state, "box small"), "endpoint:box box, served:1 small*");
  EXPECT_EQ(rows_text(state, "box"), "endpoint:box box*, served:0 big, served:1 small");
  EXPECT_EQ(rows_text(state, "far.example"), "endpoint:far far*");
  EXPECT_EQ(rows_text(state, "other"), "");
  EXPECT_EQ(rows_text(state, "box:8000"), "model_named box:8000*, endpoint:box box");
  EXPECT_EQ(rows_text(state, "localhost:11434"), "model_named localhost:11434*");
  state.served = {.endpoint = "http://unnamed/v1", .models = state.served.models};  // named by a flag alone
  EXPECT_EQ(rows_text(state, "small"), "served:1 small*");
  state.served = {.endpoint = "box", .fault = "no list", .lists_none = true};
  EXPECT_EQ(rows_text(state, "other"), "model_named other*");

  state.model = LoadedModel{.path = "big", .name = "big", .endpoint = "http://box:8000/v1"};
  EXPECT_TRUE(is_loaded(state, state.endpoints[0]));
  EXPECT_FALSE(is_loaded(state, state.endpoints[1]));
  EXPECT_TRUE(is_loaded(state, {.path = "big", .name = "big", .kind = Kind::kServed}));
  EXPECT_FALSE(is_loaded(state, {.path = "small", .name = "small", .kind = Kind::kServed}));
  EXPECT_FALSE(is_loaded(state, {.path = "big", .name = "a file of this name"}));
}

TEST(Numbers, TokensOfTheContext) {
  EXPECT_EQ(context_text(500, 0, 8192), "500 of 8.2k");
  EXPECT_EQ(context_text(500, 40, 8192), "40 tokens  ·  500 of 8.2k");
  EXPECT_EQ(context_text(0, 0, 8192), "0 of 8.2k");
  EXPECT_EQ(context_text(500, 0, 0), "500 tokens") << "the server does not tell its context";
  EXPECT_EQ(context_text(500, 40, 0), "540 tokens");
  EXPECT_EQ(context_text(0, 0, 0), "");
}

TEST(ModelRows, PathsAndAddressesAreSearchedForNowhere) {
  for (const char* text : {"", "  ", "ab", "/home/u/model", "~/model", "./model", "../model", "http://box", "a/b/c",
                           "model.gguf", "org/repo:Q4_0", "C:\\model"})
    EXPECT_EQ(hub_words(text), "") << text;
  EXPECT_EQ(hub_words(" qwen 3b "), "qwen 3b");
  EXPECT_EQ(hub_words("org/repo"), "org/repo");
}

TEST(ModelRows, HowFarTheSearchIs) {
  ChatState state;
  EXPECT_EQ(hub_line(state, ""), "");
  EXPECT_EQ(hub_line(state, "qwen"), "searching the hub");
  state.hub = {.words = "qwen", .running = true};
  EXPECT_EQ(hub_line(state, "qwen"), "searching the hub");
  EXPECT_EQ(hub_line(state, "qwen 3b"), "searching the hub");
  state.hub.running = false;
  EXPECT_EQ(hub_line(state, "qwen"), "the hub has no GGUF model with these words");
  state.hub.sentence = "cannot reach the hub";
  EXPECT_EQ(hub_line(state, "qwen"), "cannot reach the hub");
  EXPECT_EQ(hub_line(state, ""), "");
  state.hub.offline = true;
  EXPECT_EQ(hub_line(state, ""), "cannot reach the hub");
}

TEST(FileDialog, ExportsUnderANameThatIsAFile) {
  EXPECT_EQ(export_name_for("A day"), "A day.md");
  EXPECT_EQ(export_name_for("../../etc/passwd"), "etc passwd.md");
  EXPECT_EQ(export_name_for(""), "conversation.md");
  EXPECT_EQ(export_name_for("a\nb:c"), "a b c.md");
  EXPECT_EQ(export_name_for(std::string(59, 'x') + "日本"), std::string(59, 'x') + ".md");
}

TEST(StatusLine, SaysWhatIsKnown) {
  ChatState state;
  EXPECT_EQ(speed_text(state), "");
  state.open.phase = AnswerPhase::kPrompt;
  state.open.prompt_progress = {512, 2048};
  EXPECT_EQ(speed_text(state), "reading 512 of 2.0k tokens");
  state.open.phase = AnswerPhase::kAnswer;
  state.open.tokens_per_second = 41.26, state.open.first_token_seconds = 0.084;
  EXPECT_EQ(speed_text(state), "41.3 tokens/s  ·  first token 84 ms");
  state.open.phase = AnswerPhase::kIdle;
  state.open.last_timings = Timings{.generated_tokens = 11, .generate_seconds = 0.5, .first_token_seconds = 2};
  EXPECT_EQ(speed_text(state), "") << "the answer's footer says it";
}

// The dump.
TEST(StateDump, TellsWhatTheWindowShows) {
  ChatState state;
  state.open.title = "Bad UTF-8 \xff stays JSON";
  ChatMessage message;
  message.key = 7, message.role = "assistant", message.content = "four", message.status = MessageStatus::kStopped;
  state.open.messages.push_back(message);
  state.notices.push_back({3, true, "it failed"});
  state.model = LoadedModel{.name = "m", .device = "cpu"};
  WindowFacts facts;
  facts.n_frames = 12, facts.focus = "composer", facts.panels = {"sidebar"}, facts.dark = true;
  const Json json = Json::parse(state_dump(state, facts, {{"send", {1.4f, 2, 30.6f, 40}}}));
  EXPECT_EQ(json["frames"], 12);
  EXPECT_EQ(json["focus"], "composer");
  EXPECT_EQ(json["theme"], "dark");
  EXPECT_EQ(json["phase"], "idle");
  EXPECT_EQ(json["panels"], Json({"sidebar"}));
  EXPECT_EQ(json["conversation"]["messages"][0]["status"], "stopped");
  EXPECT_EQ(json["conversation"]["messages"][0]["length"], 4);
  EXPECT_EQ(json["conversation"]["last_text"], "four");
  EXPECT_EQ(json["model"]["device"], "cpu");
  EXPECT_TRUE(json["loading"].is_null());
  EXPECT_EQ(json["notices"][0]["text"], "it failed");
  EXPECT_EQ(json["widgets"]["send"], Json({1, 2, 31, 40}));
}

}  // namespace
}  // namespace warpchat::gui
