// The length of a prompt, estimated without the model's tokeniser.
#include "engine/remote/prompt_length.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

using nlohmann::ordered_json;

TEST(PromptLength, ATokenAWord) {
  const std::pair<const char*, uint32_t> cases[] = {
      {"", 0}, {" \n\t ", 0}, {"word", 1}, {"  two\n\nwords ", 2}, {"Donaudampfschifffahrt, 東京都に住む", 2}};
  for (const auto& [text, n] : cases) EXPECT_EQ(min_tokens(text), n) << text;
}

ordered_json message(const char* role, const char* content) { return {{"role", role}, {"content", content}}; }

TEST(PromptLength, KnowsWhatWasCounted) {
  const ordered_json first = ordered_json::array({message("system", "Be brief."), message("user", "a b c")});
  PromptLengths lengths;
  EXPECT_EQ(lengths.at_least(first), 5u);
  lengths.remember(first, 20);
  EXPECT_EQ(lengths.at_least(first), 20u);
  ordered_json second = first;
  second.push_back(message("assistant", "d e"));
  second.push_back(message("user", "f"));
  EXPECT_EQ(lengths.at_least(second), 23u);
  lengths.remember(second, 31);
  ordered_json edited = second;
  edited[3]["content"] = "f g";
  EXPECT_EQ(lengths.at_least(edited), 24u) << "the beginning is still known";
  edited[0]["content"] = "Be very brief.";
  EXPECT_EQ(lengths.at_least(edited), 10u) << "none of it is";
  ordered_json called = second;
  called.push_back({{"role", "assistant"}, {"content", nullptr}});
  called.push_back({{"role", "tool"}});
  EXPECT_EQ(lengths.at_least(called), 31u);
}

}  // namespace
}  // namespace warpchat
