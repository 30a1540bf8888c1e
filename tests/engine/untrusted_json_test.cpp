#include "engine/untrusted_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string repeat(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string fault_of(const std::string& text, const JsonLimits& limits = {}) {
  EXPECT_TRUE(try_parse_untrusted_json(text, limits).is_discarded());
  EXPECT_TRUE(try_parse_untrusted_json<ordered_json>(text, limits).is_discarded());
  return error_of([&] { parse_untrusted_json(text, limits); });
}

TEST(UntrustedJson, ReadsValues) {
  EXPECT_EQ(parse_untrusted_json(R"({"b": [1, "x\"]}", null], "a": 2.5})"),
            (json{{"b", {1, "x\"]}", nullptr}}, {"a", 2.5}}));
  EXPECT_EQ(parse_untrusted_json<ordered_json>(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
  EXPECT_EQ(parse_untrusted_json(repeat("[", 64) + repeat("]", 64)).dump(), repeat("[", 64) + repeat("]", 64));
  EXPECT_EQ(parse_untrusted_json("\"" + repeat("[{", 1000) + "\"").get<std::string>().size(), 2000u);
}

TEST(UntrustedJson, RefusesNestingBeyondTheLimit) {
  const std::string deep = "its JSON is nested deeper than 64 levels";
  EXPECT_EQ(fault_of(repeat("[", 65) + repeat("]", 65)), deep);
  EXPECT_EQ(fault_of(repeat("[", 1'000'000)), deep);
  EXPECT_EQ(fault_of(repeat("{\"a\":", 1'000'000)), deep);
  EXPECT_EQ(fault_of(repeat("[{\"a\":", 1'000'000) + "1" + repeat("}]", 1'000'000)), deep);
  EXPECT_EQ(fault_of("[\"\\\\\"," + repeat("[", 70)), deep);  // the string ends before the brackets
}

TEST(UntrustedJson, RefusesWhatIsLargerThanTheLimits) {
  EXPECT_EQ(fault_of("[1, 2]", {.bytes = 5}), "its JSON is longer than 5 bytes");
  EXPECT_EQ(fault_of("[1,2,3,4]", {.values = 3}), "its JSON has more than 3 values");
  EXPECT_EQ(fault_of("[[],[],[],[]]", {.values = 5}), "its JSON has more than 5 values");
  std::string wide = "{";
  for (int i = 0; i < 100'000; ++i) wide += "\"" + std::to_string(i) + "\":0,";
  wide += "\"end\":0}";
  EXPECT_EQ(error_of([&] { parse_untrusted_json<ordered_json>(wide); }),
            "its JSON has an object with too many members");
  EXPECT_EQ(parse_untrusted_json(wide).size(), 100'001u);
  EXPECT_EQ(parse_untrusted_json("{" + repeat("\"a\":0,", 20'000) + "\"b\":1}").size(), 2u);
}

TEST(UntrustedJson, NamesThePlaceOfBadSyntax) {
  EXPECT_EQ(fault_of("[1, x]"), "it is not valid JSON (byte 4)");
  EXPECT_EQ(fault_of(""), "it is not valid JSON (byte 0)");
  EXPECT_EQ(fault_of("{\"a\": 1"), "it is not valid JSON (byte 7)");
  EXPECT_EQ(fault_of("\"\xff\""), "it is not valid JSON (byte 1)");
  EXPECT_EQ(fault_of("]]]]"), "it is not valid JSON (byte 0)");
}

TEST(UntrustedJson, RefusesNumbersThatDoNotFitWithoutQuotingThem) {
  EXPECT_EQ(fault_of("[1e400]"), "a number in its JSON is out of range");
  EXPECT_EQ(fault_of("-" + repeat("9", 100'000)), "a number in its JSON is out of range");
}

}  // namespace
}  // namespace warpchat
