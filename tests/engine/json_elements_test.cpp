// Elements of JSON texts, whole, damaged and cut.
#include "engine/json_elements.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "engine/untrusted_json.h"

namespace warpchat {
namespace {

// "a|b|c..." of the elements; "..." behind the one that the text ends in.
std::string elements_of(std::string_view text) {
  std::string all;
  JsonElements elements(text);
  while (const auto element = elements.next()) {
    EXPECT_EQ(text.substr(element->at, element->text.size()), element->text);
    all += (all.empty() ? "" : "|") + std::string(element->text) + (element->is_whole ? "" : "...");
  }
  return all;
}

TEST(JsonElements, AreThoseOfAnArrayOrTheValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"[]", ""},
      {"[1, \"a,b]\", null]", "1|\"a,b]\"|null"},
      {"[{\"a\":[1]},[2,{}]]", "{\"a\":[1]}|[2,{}]"},
      {"{\"a\":\n1}", "{\"a\":\n1}"},
      {"{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}"},
      {"{\"a\":1} {\"b\":2}", "{\"a\":1}|{\"b\":2}"},
      {"[1]\n[2]", "1|2"},
      {"[\"\\\\\",\"\\\"\"]", "\"\\\\\"|\"\\\"\""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(elements_of(text), expected) << text;
}

TEST(JsonElements, AFaultEndsWithItsElement) {
  const std::pair<const char*, const char*> cases[] = {
      {"[{\"a\":[1},{\"b\":2}]", "{\"a\":[1}|{\"b\":2}"},
      {"[{\"a\":1]},{\"b\":2}]", "{\"a\":1|{\"b\":2}"},
      {"[{\"a\":\"x},\n{\"b\":2}]", "{\"a\":\"x},\n{\"b\":2}"},
      {"[{\"a\":\"x\n},{\"b\":2}]", "{\"a\":\"x\n}|{\"b\":2}"},
      {"{\"a\":1}\n{\"a\":[{\n{\"b\":2}", "{\"a\":1}|{\"a\":[{|{\"b\":2}"},
      {"[}{\"a\":1}", "{\"a\":1}"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(elements_of(text), expected) << text;
}

TEST(JsonElements, SayWhereTheTextEnds) {
  EXPECT_EQ(elements_of("[{\"a\":1},{\"b\":[1"), "{\"a\":1}|{\"b\":[1...");
  EXPECT_EQ(elements_of("{\"a\":1}\n{\"b\""), "{\"a\":1}|{\"b\"...");
  JsonElements open("[1,");
  while (open.next()) continue;
  EXPECT_TRUE(open.ends_in_array());
  JsonElements closed("[1]");
  while (closed.next()) continue;
  EXPECT_FALSE(closed.ends_in_array());
}

TEST(JsonElements, CloseCutTexts) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"[1", ""},
      {"[{},", "[{}]"},
      {"{\"a\":[{\"b\":1},{\"c\":\"d", "{\"a\":[{\"b\":1}]}"},
      {"{\"a\":[1],\"b\":\"]", "{\"a\":[1]}"},
      {"{\"a\":[]}", "{\"a\":[]}"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(close_cut_json(text), expected) << text;
  EXPECT_EQ(close_cut_json(std::string(65, '[') + "{}"), "");
}

// Cut anywhere, a valid text closes to a valid one, and its elements are those of the parser.
TEST(JsonElements, AgreeWithTheParser) {
  const std::string whole = R"([{"a":[1,{"b":"]}\\\"["}],"c":{}},[[]],"x",{"d":[{"e":[]},2]}])";
  const auto parsed = parse_untrusted_json(whole);
  JsonElements elements(whole);
  for (const auto& expected : parsed) EXPECT_EQ(parse_untrusted_json(elements.next()->text), expected);
  EXPECT_FALSE(elements.next());
  for (size_t n = 0; n < whole.size(); ++n) {
    const std::string closed = close_cut_json(whole.substr(0, n));
    EXPECT_TRUE(closed.empty() || !try_parse_untrusted_json(closed).is_discarded()) << closed;
  }
}

// Texts of brackets, quotes and line breaks in any order: each byte is gone over once, or twice in a first line.
TEST(JsonElements, WorkIsLinear) {
  std::mt19937 generator(5);
  for (const char* letters : {"[]{}\"\\\n,:1 ", "[{", "[}", "{]\n", "[[[[]", "{\"\n"}) {
    for (int round = 0; round < 50; ++round) {
      std::string text;
      const std::string_view all = letters;
      for (int i = 0; i < 20'000; ++i) text += all[generator() % all.size()];
      JsonElements elements(text);
      size_t n = 0;
      while (elements.next()) ++n;
      EXPECT_LE(n, text.size());
      EXPECT_LE(elements.n_read(), 2 * text.size());
    }
  }
}

}  // namespace
}  // namespace warpchat
