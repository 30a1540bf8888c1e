// Schemas keyword by keyword: texts that are allowed and texts that are not, and what is refused with which words.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/grammar/constraint.h"
#include "models/error.h"

namespace warpchat::grammar {
namespace {

bool is_allowed(const std::string& schema, const std::string& text) {
  return Constraint::from_schema(schema)->check(text).is_accepted;
}

struct SchemaCase {
  std::string schema;
  std::vector<std::string> allowed, others;
};

void expect_cases(const std::vector<SchemaCase>& cases) {
  for (const SchemaCase& c : cases) {
    SCOPED_TRACE(c.schema);
    const auto constraint = Constraint::from_schema(c.schema);
    for (const std::string& text : c.allowed) EXPECT_TRUE(constraint->check(text).is_accepted) << text;
    for (const std::string& text : c.others) EXPECT_FALSE(constraint->check(text).is_accepted) << text;
  }
}

TEST(Schema, TypesAndSpelling) {
  expect_cases({
      {"{}",
       {"null", "true", "-0.5e+3", "\"\"", "[]", "{}", "[1, [2,{\"a\":[]}]]", "{\n  \"a\": 1\n}", "[\n\t\t1\n]"},
       {"", " 1", "1 ", "01", "1.", ".5", "+1", "nul", "[1,]", "{\"a\":1,}", "[1  ,2]", "\"\n\"", "\"\\x\"", "'a'"}},
      {"true", {"1"}, {}},
      {R"({"type":"integer"})", {"0", "-7", "123456789012345678901234567890"}, {"1.0", "1e3", "\"1\"", "00"}},
      {R"({"type":"number"})", {"0", "1.50", "-1e-7", "2E10", "1.6e308"}, {"1e999", "true"}},
      {R"({"type":["string","null"]})", {"\"x\"", "null"}, {"1", "[]"}},
      {R"({"type":"boolean"})", {"true", "false"}, {"\"true\"", "0", "tru"}},
      {R"({"minimum":3})", {"3", "\"x\"", "[]", "{}", "null"}, {"2"}},
  });
}

TEST(Schema, Strings) {
  const std::string smile = "\xF0\x9F\x98\x80";
  expect_cases({
      {R"({"type":"string"})",
       {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", "\"\xC3\xA9\"", "\"\\ud83d\\ude00\"", "\"\x7F\""},
       {"\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83dx\"", "\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\t\"", "\"a"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {"\"ab\"", "\"" + smile + smile + "\"", "\"\\ud83d\\ude00\\u0041a\""},
       {"\"a\"", "\"abcd\"", "\"" + smile + "\""}},
      {R"({"type":"string","pattern":"b+c"})", {"\"abbcd\"", "\"\\u0062c\""}, {"\"ac\"", "\"\""}},
      {R"({"type":"string","pattern":"^(a|bc){2,3}$"})", {"\"abc\"", "\"bcbca\""}, {"\"a\"", "\"aaaa\"", "\"xaa\""}},
      {R"({"type":"string","pattern":"^a|b$"})", {"\"ax\"", "\"xb\""}, {"\"xa\"", "\"bx\""}},
      {R"({"type":"string","pattern":"^\\p{Lu}\\P{Lu}\\d\\w\\s[^a-c\\]-]$"})",
       {"\"\xC3\x84x7_ z\"", "\"Ab1a\\u00a0.\""},
       {"\"xx7_ z\"", "\"AB7_ z\"", "\"Ax7_ b\"", "\"Ax7_ -\"", "\"Ax7_ ]\""}},
      {R"({"type":"string","pattern":"^[\\u{1F600}-\\u{1F64F}]+$"})", {"\"" + smile + "\\ud83d\\ude01\""}, {"\"a\""}},
      {R"({"type":"string","pattern":"^.{2}$","maxLength":9,"not":{"const":"ab"}})",
       {"\"ac\""},
       {"\"ab\"", "\"\\n\\n\""}},
      {R"({"enum":["a\"b","c/d"]})", {"\"a\\\"b\"", "\"c/d\"", "\"c\\/d\"", "\"\\u0063/d\""}, {"\"ab\"", "\"c\""}},
  });
}

TEST(Schema, Numbers) {
  expect_cases({
      {R"({"type":"integer","minimum":-12,"maximum":205})",
       {"-12", "-1", "0", "99", "205"},
       {"-13", "-20", "206", "300", "1000"}},
      {R"({"type":"integer","exclusiveMinimum":9,"exclusiveMaximum":11})", {"10"}, {"9", "11", "1", "100"}},
      {R"({"minimum":0.1})",
       {"0.1", "0.10", "0.11", "1", "1e-1", "2.5e3", "10.0"},
       {"0.09", "0", "-1", "1e-2", "9.99e-2"}},
      {R"({"maximum":-2.50})", {"-2.5", "-2.500", "-3", "-1e1", "-2.5e0"}, {"-2.49", "0", "-2", "-2.49e0", "1e5"}},
      {R"({"exclusiveMaximum":1e2})", {"99.999", "-5e300", "9.99e1"}, {"100", "100.0", "1e2", "1.0e+02", "1e3"}},
      {R"({"minimum":9007199254740993})",
       {"9007199254740993", "9007199254740993.0"},
       {"9007199254740992", "9007199254740992.9"}},
      {R"({"type":"integer","multipleOf":7})", {"0", "7", "-14", "700000000000000000000"}, {"1", "8", "-15"}},
      {R"({"multipleOf":0.01})", {"1", "1.5", "1.25", "-0.07", "3.10", "2.500"}, {"1.255", "0.001"}},
      {R"({"multipleOf":2.5})", {"5", "2.5", "7.50", "10.0"}, {"3", "2.4", "1.25"}},
      {R"({"const":1})", {"1"}, {"2", "11", "1.5", "\"1\""}},
      {R"({"const":-12.50})", {"-12.5"}, {"12.5", "-12"}},
      {R"({"not":{"multipleOf":2},"type":"integer"})", {"1", "-3", "12345"}, {"0", "2", "-4"}},
      {R"({"$schema":"http://json-schema.org/draft-04/schema#","minimum":3,"exclusiveMinimum":true})",
       {"4", "3.1"},
       {"3"}},
  });
}

TEST(Schema, Arrays) {
  expect_cases({
      {R"({"items":{"type":"integer"},"minItems":1,"maxItems":2})",
       {"[1]", "[1,2]", "7"},
       {"[]", "[1,2,3]", "[\"a\"]"}},
      {R"({"prefixItems":[{"const":1},{"const":2}],"items":false})", {"[]", "[1]", "[1,2]"}, {"[2]", "[1,2,3]"}},
      {R"({"prefixItems":[{"const":1}],"items":{"const":9}})", {"[1,9,9]"}, {"[1,2]"}},
      {R"({"$schema":"http://json-schema.org/draft-07/schema","items":[{"const":1}],"additionalItems":{"const":5}})",
       {"[1]", "[1,5]"},
       {"[1,2]"}},
      {R"({"items":{"enum":["a","b","c"]},"uniqueItems":true})",
       {"[]", "[\"b\",\"a\"]"},
       {"[\"a\",\"a\"]", "[\"a\",\"\\u0061\"]"}},
      {R"({"contains":{"const":1},"minContains":2,"maxContains":2})", {"[1,2,1]", "[1,1]"}, {"[1]", "[1,1,1]", "[]"}},
      {R"({"const":[1,{"a":null}]})",
       {"[1,{\"a\":null}]", "[1, {\"a\": null}]"},
       {"[1]", "[1,{}]", "[1,{\"a\":null},2]"}},
  });
}

TEST(Schema, Objects) {
  expect_cases({
      {R"({"properties":{"a":{"type":"integer"},"b":{}},"required":["a"]})",
       {R"({"a":1})", R"({"b":2,"a":1})", R"({"a": 1, "z": []})", R"({"\u0061":1})"},
       {"{}", R"({"b":1})", R"({"a":"x"})", R"({"a":1,"a":2})", R"({"a":1,"\u0061":2})"}},
      {R"({"properties":{"a":{}},"additionalProperties":false})", {"{}", R"({"a":[]})"}, {R"({"b":1})", R"({"aa":1})"}},
      {R"({"properties":{"a":{}},"additionalProperties":{"type":"null"}})", {R"({"ab":null,"a":1})"}, {R"({"ab":1})"}},
      {R"({"patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":5}},"additionalProperties":false})",
       {R"({"x":1})", R"({"xy":5})", R"({"y":"t"})"},
       {R"({"xy":4})", R"({"xy":5.5})", R"({"z":1})"}},
      {R"({"propertyNames":{"maxLength":2}})", {R"({"ab":1})"}, {R"({"abc":1})"}},
      {R"({"minProperties":1,"maxProperties":2})",
       {R"({"a":1})", R"({"a":1,"b":2})"},
       {"{}", R"({"a":1,"b":2,"c":3})"}},
      {R"({"required":["a","b"],"maxProperties":3})",
       {R"({"c":1,"b":2,"a":3})"},
       {R"({"c":1,"d":2,"a":3})", R"({"a":1})"}},
      {R"({"dependentRequired":{"a":["b"]}})", {"{}", R"({"b":1})", R"({"b":1,"a":1})"}, {R"({"a":1})"}},
      {R"({"$schema":"http://json-schema.org/draft-07/schema","dependencies":{"a":["b"]},"dependentRequired":{"b":["c"]}})",
       {R"({"b":1,"a":1})"},
       {R"({"a":1})"}},
      {R"({"dependentSchemas":{"a":{"properties":{"b":false}}}})", {R"({"b":1})", R"({"a":1})"}, {R"({"b":1,"a":1})"}},
      {R"({"const":{"b":1,"a":[]}})",
       {R"({"b":1,"a":[]})", R"({"a":[],"b":1})"},
       {R"({"b":1})", R"({"b":1,"a":[],"c":0})"}},
  });
}

TEST(Schema, Combinations) {
  expect_cases({
      {R"({"allOf":[{"properties":{"a":{"minimum":3}}},{"properties":{"a":{"type":"integer"}},"required":["a"]}]})",
       {R"({"a":3})"},
       {R"({"a":2})", R"({"a":3.5})", "{}"}},
      {R"({"anyOf":[{"type":"integer"},{"type":"string","minLength":2}]})", {"1", "\"ab\""}, {"\"a\"", "1.5", "null"}},
      {R"({"oneOf":[{"type":"integer","minimum":2},{"type":"integer","maximum":4}]})", {"1", "5"}, {"2", "3", "4"}},
      {R"({"oneOf":[{"required":["a"]},{"required":["b"]}],"type":"object"})",
       {R"({"a":1})", R"({"b":1,"c":2})"},
       {"{}", R"({"a":1,"b":2})"}},
      {R"({"oneOf":[{"properties":{"k":{"const":"x"},"v":{"type":"null"}},"required":["k"]},
                    {"properties":{"k":{"const":"y"},"v":{"type":"integer"}},"required":["k"]}],"type":"object"})",
       {R"({"k":"x","v":null})", R"({"v":3,"k":"y"})"},
       {R"({"k":"x","v":3})", R"({"k":"z"})", "{}"}},
      {R"({"not":{"type":["object","array"]}})", {"1", "\"\"", "null"}, {"{}", "[1]"}},
      {R"({"not":{"prefixItems":[{"type":"integer"}],"items":false},"type":"array"})",
       {"[\"a\"]", "[1,2]"},
       {"[]", "[1]"}},
      {R"({"not":{"required":["a"]},"type":"object"})", {"{}", R"({"b":1})"}, {R"({"a":1})"}},
      {R"({"if":{"type":"string"},"then":{"maxLength":1},"else":{"const":3}})",
       {"\"a\"", "3"},
       {"\"ab\"", "4", "null"}},
      {R"({"$ref":"#/$defs/a","maxLength":2,"$defs":{"a":{"type":"string","minLength":2}}})",
       {"\"ab\""},
       {"\"a\"", "\"abc\""}},
      {R"({"$ref":"#/$defs/%c3%AA","$defs":{"ê":{"const":1}}})", {"1"}, {"2"}},
      {R"({"$id":"http://x.y/s.json","items":{"$ref":"t.json#v"},"$defs":{"t":{"$id":"t.json","$defs":{"v":{"$anchor":"v","const":1}}}}})",
       {"[1]"},
       {"[2]"}},
      {R"({"type":"object","properties":{"n":{"$ref":"#"}},"additionalProperties":false})",
       {"{}", R"({"n":{"n":{}}})"},
       {R"({"n":1})", R"({"n":{"m":{}}})"}},
      {R"({"title":"t","description":"d","default":3,"unknown":[],"type":"null"})", {"null"}, {"3"}},
  });
}

TEST(Schema, Formats) {
  const auto format = [](const std::string& name) { return R"({"type":"string","format":")" + name + "\"}"; };
  expect_cases({
      {format("date"),
       {"\"2024-02-29\"", "\"1999-12-31\""},
       {"\"2023-02-29\"", "\"2024-13-01\"", "\"1900-02-29\"", "\"0000-01-01\"", "\"0000-02-29\"", "\"24-01-01\""}},
      {format("time"),
       {"\"12:00:00Z\"", "\"23:59:60Z\"", "\"01:29:60+01:30\"", "\"12:00:00.5-08:00\""},
       {"\"12:00:00\"", "\"24:00:00Z\"", "\"22:59:60Z\"", "\"12:00Z\""}},
      {format("date-time"),
       {"\"2024-02-29T12:00:00Z\"", "\"1990-12-31t15:59:60-08:00\""},
       {"\"2024-02-29 12:00:00Z\"", "\"2024-02-30T12:00:00Z\""}},
      {format("duration"),
       {"\"P4DT12H30M5S\"", "\"P1Y\"", "\"PT36H\"", "\"P4W\""},
       {"\"P\"", "\"PT\"", "\"P1D2H\"", "\"P2D1Y\"", "\"P1YT\""}},
      {format("email"), {"\"a.b@c.de\"", "\"x@[127.0.0.1]\""}, {"\"a..b@c\"", "\"@c\"", "\"a@\"", "\"a@-b\""}},
      {format("hostname"), {"\"a-b.c\"", "\"1x\""}, {"\"-a\"", "\"a_b\"", "\"a.\"", "\"\""}},
      {format("ipv4"), {"\"255.0.10.1\""}, {"\"256.0.0.1\"", "\"01.0.0.1\"", "\"1.2.3\""}},
      {format("ipv6"),
       {"\"::\"", "\"::1\"", "\"1:2:3:4:5:6:7:8\"", "\"1::8\"", "\"::ffff:1.2.3.4\"", "\"1:2:3:4:5:6:1.2.3.4\"",
        "\"1:2:3:4:5:6:7::\"", "\"1:2:3:4:5::1.2.3.4\""},
       {"\":\"", "\"1:2:3:4:5:6:7\"", "\"1::2::3\"", "\"12345::\"", "\"1:2:3:4:5:6:7::8\"", "\"::1.2.3\"",
        "\"1:2:3:4:5:6::1.2.3.4\""}},
      {format("uuid"), {"\"2eb8aa08-AA98-11ea-b4aa-73b441d16380\""}, {"\"2eb8aa08aa9811eab4aa73b441d16380\""}},
      {format("uri"),
       {"\"http://a.b/c?d#e\"", "\"urn:x:y\"", "\"mailto:a@b\"", "\"http://[::1]:80/\""},
       {"\"/a\"", "\"http://a b\"", "\"http://[x]/\"", "\"a\""}},
      {format("int32"), {"\"any\""}, {}},
  });
  EXPECT_EQ(Constraint::from_schema(format("password"))->notes().size(), 1U);
}

TEST(Schema, WhatCannotBeHeldIsRefusedByNameAndPlace) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {R"({"properties":{"a":{"type":"text"}}})", {"type", "#/properties/a", "text"}},
      {R"({"minLength":-1})", {"minLength", "at #"}},
      {R"({"minLength":1.5})", {"minLength"}},
      {R"({"enum":"a"})", {"enum"}},
      {R"({"required":"a"})", {"required"}},
      {R"({"properties":[]})", {"properties"}},
      {R"({"multipleOf":0})", {"multipleOf"}},
      {R"({"pattern":"(a"})", {"pattern", "group"}},
      {R"x({"pattern":"a(?=b)"})x", {"pattern", "look-around"}},
      {R"({"pattern":"(a)\\1"})", {"pattern", "back-reference"}},
      {R"({"pattern":"\\bx"})", {"pattern", "word boundary"}},
      {R"({"pattern":"[z-a]"})", {"pattern", "range"}},
      {R"({"pattern":"\\p{Nonsense}"})", {"pattern", "Nonsense"}},
      {R"({"items":{"format":"regex"}})", {"format", "regex", "#/items"}},
      {R"({"items":{"type":"object"},"uniqueItems":true})", {"uniqueItems"}},
      {R"({"unevaluatedProperties":false})", {"unevaluatedProperties"}},
      {R"({"$dynamicRef":"#a"})", {"$dynamicRef"}},
      {R"({"$ref":"http://elsewhere/x"})", {"$ref", "http://elsewhere/x"}},
      {R"({"$ref":"#/nowhere"})", {"$ref", "#/nowhere"}},
      {R"({"$ref":"#"})", {"$ref"}},
      {R"({"anyOf":[]})", {"anyOf"}},
      {R"({"minProperties":3})", {"minProperties"}},
      {R"({"type":"integer","minimum":2,"maximum":1})", {"no text satisfies"}},
      {R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})", {"no text satisfies"}},
      {R"({"type":"string","pattern":"^a$","minLength":2})", {"no text satisfies"}},
      {"false", {"no text satisfies"}},
      {"{", {"JSON"}},
      {"3", {"no schema"}},
      {R"({"$schema":"http://json-schema.org/draft-03/schema#"})", {"$schema", "draft-03"}},
      {R"({"$schema":"http://other/words"})", {"$schema", "http://other/words"}},
  };
  for (const auto& [schema, words] : cases) {
    SCOPED_TRACE(schema);
    try {
      Constraint::from_schema(schema);
      ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
      for (const std::string& word : words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Schema, RejectionSaysWhereAndWhatWasExpected) {
  const auto constraint =
      Constraint::from_schema(R"({"properties":{"name":{"type":"integer"}},"additionalProperties":false})");
  const auto verdict = constraint->check(R"({"nane":1})");
  EXPECT_FALSE(verdict.is_accepted);
  EXPECT_EQ(verdict.at, 4U);
  EXPECT_EQ(verdict.expected, "me\"");
  const auto cut = constraint->check(R"({"name":1)");
  EXPECT_EQ(cut.at, 9U);
  EXPECT_NE(cut.expected.find("'}'"), std::string::npos);
}

TEST(Schema, ForcedBytesAreTheOnlyWayToGoOn) {
  const auto constraint =
      Constraint::from_schema(R"({"properties":{"number":{"type":"integer"}},"additionalProperties":false})");
  EXPECT_EQ(constraint->forced_bytes(constraint->start()), "");  // other types are allowed
  EXPECT_EQ(constraint->forced_bytes(constraint->advance(constraint->start(), "{\"n")), "umber\"");
  const auto choice = Constraint::from_schema(R"({"enum":["abcd","abxy"]})");
  EXPECT_EQ(choice->forced_bytes(choice->start()), "\"ab");
  EXPECT_EQ(choice->forced_bytes(choice->advance(choice->start(), "\"abc")), "d\"");
}

TEST(Schema, AStateStaysValid) {
  const auto constraint = Constraint::from_schema(R"({"items":{"enum":["a","b"]}})");
  const State before = constraint->advance(constraint->start(), "[");
  const State draft = constraint->advance(before, "\"a\",\"b\"");
  EXPECT_NE(draft, kRejected);
  EXPECT_EQ(constraint->advance(before, "\"c"), kRejected);
  EXPECT_EQ(constraint->advance(before, "\"a\",\"b\""), draft);
}

std::string repeated(const std::string& text, size_t n) {
  std::string all;
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

TEST(Schema, HugeSchemasAreHeldOrRefused) {
  EXPECT_THROW(Constraint::from_schema(repeated("[", 50'000)), Error);
  EXPECT_THROW(Constraint::from_schema(repeated("{\"items\":", 50'000) + "{}" + repeated("}", 50'000)), Error);
  EXPECT_TRUE(is_allowed(R"({"maxLength":1000000000})", "\"abc\""));
  EXPECT_FALSE(is_allowed(R"({"minItems":100000000})", "[1,2]"));
  EXPECT_TRUE(is_allowed("{}", repeated("[", 100'000) + repeated("]", 100'000)));
  std::string names, all_of;
  for (int i = 0; i < 5000; ++i) names += (i == 0 ? "\"key" : ",\"key") + std::to_string(i) + "\":{\"type\":\"null\"}";
  const std::string object = "{\"properties\":{" + names + "},\"additionalProperties\":false}";
  EXPECT_TRUE(is_allowed(object, R"({"key4999":null,"key17":null})"));
  EXPECT_FALSE(is_allowed(object, R"({"key17":null,"key17":null})"));
  std::string texts;
  for (int i = 0; i < 20'000; ++i) texts += (i == 0 ? "\"text " : ",\"text ") + std::to_string(i) + "\"";
  EXPECT_TRUE(is_allowed("{\"enum\":[" + texts + "]}", "\"text 12345\""));
  EXPECT_FALSE(is_allowed("{\"enum\":[" + texts + "]}", "\"text 20000\""));
  for (int i = 0; i < 24; ++i)
    all_of += (i == 0 ? "" : ",") + ("{\"anyOf\":[{\"required\":[\"a" + std::to_string(i)) + "\"]},{\"required\":[\"b" +
              std::to_string(i) + "\"]}]}";
  EXPECT_THROW(Constraint::from_schema("{\"allOf\":[" + all_of + "]}"), Error);
}

}  // namespace
}  // namespace warpchat::grammar
