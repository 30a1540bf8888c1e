// The chat template as the program uses it: conversations in, prompt text out.
#include "models/chat_template/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/chat_template/unicode.h"
#include "models/error.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

ordered_json conversation() {
  return {{"messages",
           {{{"role", "system"}, {"content", "Be brief."}},
            {{"role", "user"}, {"content", "Grüße, 世界 🌍 <tag> 'q'"}},
            {{"role", "assistant"}, {"content", ""}}}},
          {"add_generation_prompt", true}};
}

TEST(ChatTemplate, ChatMlAddsNothingOfItsOwn) {
  EXPECT_EQ(ChatTemplate(kChatMlTemplate).render(conversation()),
            "<|im_start|>system\nBe brief.<|im_end|>\n"
            "<|im_start|>user\nGrüße, 世界 🌍 <tag> 'q'<|im_end|>\n"
            "<|im_start|>assistant\n<|im_end|>\n"
            "<|im_start|>assistant\n");
  ordered_json closed = conversation();
  closed["add_generation_prompt"] = false;
  closed["messages"].erase(0);
  EXPECT_EQ(ChatTemplate(kChatMlTemplate).render(closed),
            "<|im_start|>user\nGrüße, 世界 🌍 <tag> 'q'<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n");
}

TEST(ChatTemplate, RendersTheSameEveryTime) {
  ChatTemplate original(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}");
  EXPECT_EQ(original.render(conversation()), "3");
  const ChatTemplate moved = std::move(original);
  EXPECT_EQ(moved.render(conversation()), "3");
  EXPECT_EQ(moved.render({{"messages", ordered_json::array()}}), "0");
}

TEST(ChatTemplate, KeepsTheOrderOfKeys) {
  const ordered_json tool = ordered_json::parse(R"({"z": 1, "a": {"y": [1.0, 1e16, true, null], "b": "é"}})");
  EXPECT_EQ(ChatTemplate("{{ tool|tojson }}|{{ tool }}").render({{"tool", tool}}),
            R"({"z": 1, "a": {"y": [1.0, 1e+16, true, null], "b": "é"}})"
            "|{'z': 1, 'a': {'y': [1.0, 1e+16, True, None], 'b': 'é'}}");
}

TEST(ChatTemplate, VariablesAreAnObject) { EXPECT_THROW(ChatTemplate("x").render(ordered_json::array()), Error); }

TEST(ChatTemplate, TellsTheTimeInTheAskedForm) {
  const std::string text = ChatTemplate("{{ strftime_now('%Y-%m-%d %d %b') }}").render(ordered_json::object());
  EXPECT_THAT(text, testing::MatchesRegex("[0-9]+-[0-9][0-9]-[0-9][0-9] [0-9][0-9] [A-Z][a-z][a-z]"));
}

struct CaseRow {
  const char *text, *upper, *lower, *title, *swapped;
};

// Unicode mappings that are not one letter to one letter, or depend on neighbours.
TEST(Unicode, MapsCasesAsPythonDoes) {
  constexpr CaseRow kRows[] = {
      {"straße", "STRASSE", "straße", "Straße", "STRASSE"},
      {"ßa", "SSA", "ßa", "Ssa", "SSA"},
      {"ﬁn", "FIN", "ﬁn", "Fin", "FIN"},
      {"ǆ", "Ǆ", "ǆ", "ǅ", "Ǆ"},
      {"ΟΔΟΣ ΣΑ", "ΟΔΟΣ ΣΑ", "οδος σα", "Οδος Σα", "οδος σα"},
      {"ᾳ", "ΑΙ", "ᾳ", "ᾼ", "ΑΙ"},
      {"İ", "İ", "i̇", "İ", "i̇"},
      {"they're", "THEY'RE", "they're", "They'Re", "THEY'RE"},
      {"Ⅳ ⓐ", "Ⅳ Ⓐ", "ⅳ ⓐ", "Ⅳ Ⓐ", "ⅳ Ⓐ"},
  };
  for (const CaseRow& row : kRows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(jinja::to_upper(row.text), row.upper);
    EXPECT_EQ(jinja::to_lower(row.text), row.lower);
    EXPECT_EQ(jinja::to_title(row.text), row.title);
    EXPECT_EQ(jinja::swap_case(row.text), row.swapped);
  }
}

}  // namespace
}  // namespace warpchat
