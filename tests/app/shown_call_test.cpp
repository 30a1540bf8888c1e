// What a person sees of a call: everything, and nothing raw.
#include "app/formats/shown_call.h"

#include <gtest/gtest.h>

#include "models/utf8.h"

namespace warpchat {
namespace {

using nlohmann::json;

struct Case {
  const char *text, *shown;
};
constexpr Case kHidden[] = {
    {"\x1b[2J", "\\u001b[2J"},                                             // clears a terminal
    {"a\nb\tc\rd", "a\\nb\\tc\\rd"},                                       // as JSON writes it
    {"\x7f", "\\u007f"},                                                   // DEL
    {"\u009b31m", "\\u009b31m"},                                           // CSI of C1
    {"\u202egnp.exe", "\\u202egnp.exe"},                                   // right-to-left override
    {"\u2066x\u2069", "\\u2066x\\u2069"},                                  // isolates
    {"\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"},                       // marks of direction
    {"a\u200bb\u200cc\u200dd\ufeff", "a\\u200bb\\u200cc\\u200dd\\ufeff"},  // without width
    {"\u00ad\u2060\u2063", "\\u00ad\\u2060\\u2063"},
    {"\u034f\u115f\u3164\uffa0\u2800", "\\u034f\\u115f\\u3164\\uffa0\\u2800"},  // without ink
    {"\ufe0f\U000e0100", "\\ufe0f\\udb40\\udd00"},                              // variation selectors
    {"\U000e0041\U000e0001", "\\udb40\\udc41\\udb40\\udc01"},                   // tags, even after a flag
    {"\u00a0\u3000\u2028\u2029", "\\u00a0\\u3000\\u2028\\u2029"},               // other blanks and line ends
    {"\ue000\U0010fffd\U000e0fff", "\\ue000\\udbff\\udffd\\udb43\\udfff"},      // private and unassigned
    {"\\u202e", "\\\\u202e"},                                                   // a text that looks like an escape
    {"\u00e4\u4f60\u05d0 \U0001f600", "\u00e4\u4f60\u05d0 \U0001f600"},         // as it is
};

TEST(ShownCall, HidesNothing) {
  for (const auto& [text, shown] : kHidden) {
    EXPECT_EQ(shown_call("t", {{"a", text}}), "t {\n  \"a\": \"" + std::string(shown) + "\"\n}") << shown;
    EXPECT_EQ(shown_call("t", {{text, 1}}), "t {\n  \"" + std::string(shown) + "\": 1\n}") << shown;
  }
}

TEST(ShownCall, IsJsonOfTheSameValue) {
  json arguments = {{"b", json::array({1, 2.5, true, nullptr})}, {"empty", json::object()}};
  for (const auto& [text, shown] : kHidden) arguments[text] = text;
  const std::string shown = shown_call("name", arguments);
  EXPECT_EQ(json::parse(shown.substr(5)), arguments);
  EXPECT_TRUE(is_valid_utf8(shown));
}

TEST(ShownCall, IsWhole) {
  const std::string text(200'000, 'x');
  EXPECT_NE(shown_call("t", {{"a", text}}).find(text), std::string::npos);
  EXPECT_EQ(shown_call("t", json::object()), "t {}");
  EXPECT_EQ(shown_call("t", json::array()), "t []");
  EXPECT_EQ(shown_call("a\n\u202eb", json::object()), "a\\u000a\\u202eb {}");
}

TEST(ShownCall, EveryCharacterIsSafe) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {{1, 0x3000}, {0xE000, 0x10000}, {0xE0000, 0xE1000}};
  for (const auto& [first, end] : kRanges)
    for (char32_t c = first; c < end; ++c) {
      std::string text;
      append_utf8(c, text);
      const std::string shown = shown_text(text);
      const bool is_dangerous = (c < 0x20 && c != '\n') || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
                                (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c >= 0xE0000;
      ASSERT_FALSE(shown.empty());
      if (is_dangerous) {
        ASSERT_EQ(shown.find("\\u"), 0u) << std::hex << static_cast<uint32_t>(c);
      }
    }
}

TEST(ShownText, KeepsLinesAndShowsBytes) { EXPECT_EQ(shown_text("a\nb\x80\xff\\"), "a\nb\\x80\\xff\\"); }

const ToolCall kRead{"id", "files__read", R"({"path":"a<b\u202e"})", "one\ntwo ``` three", CallStatus::kOk};

TEST(CallLines, AreOfCallsThatAreOver) {
  std::vector<ToolCall> calls(5, kRead);
  calls[1].status = CallStatus::kError;
  calls[2].status = CallStatus::kDenied;
  calls[3].status = CallStatus::kRunning;
  calls[4].status = CallStatus::kNone;
  const std::vector<std::string> lines = call_lines(calls);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], R"(called files__read {"path":"a<b\u202e"}: one ...)");
  EXPECT_EQ(lines[1].substr(0, 18), "failed: files__rea");
  EXPECT_EQ(lines[2], R"(denied: files__read {"path":"a<b\u202e"})");
}

TEST(CallsMarkdown, HasAllOfThemWithoutMarkup) {
  EXPECT_EQ(calls_markdown({kRead}),
            "<details><summary>called files__read {\"path\":\"a&#60;b\\u202e\"}</summary>\n\n"
            "```json\n{\n  \"path\": \"a<b\\u202e\"\n}\n```\n\n"
            "````text\none\ntwo ``` three\n````\n\n</details>\n\n");
  ToolCall call = kRead;
  call.result = "\u00e9\u00e9\u00e9";
  EXPECT_NE(calls_markdown({call}, 3).find("```text\n\u00e9\n```\n\n(the first 3 "), std::string::npos)
      << calls_markdown({call}, 3);
  call.status = CallStatus::kNone;
  EXPECT_EQ(calls_markdown({call}), "");
}

TEST(AnswerMarkdown, HasTheRoundsInTheirPlaces) {
  const Message answer{.content = "Last.", .rounds = {{"First.\n", "a thought", {kRead}}, {"", "", {kRead}}}};
  const std::string calls = calls_markdown({kRead});
  EXPECT_EQ(answer_markdown(answer), "First.\n\n" + calls + calls + "Last.");
}

}  // namespace
}  // namespace warpchat
