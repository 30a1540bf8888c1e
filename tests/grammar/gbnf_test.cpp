// Grammars as llama.cpp has them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/grammar/constraint.h"
#include "models/error.h"

namespace warpchat::grammar {
namespace {

struct Case {
  std::string grammar;
  std::vector<std::string> allowed, others;
};

constexpr const char* kJson = R"gbnf(# the grammar of JSON that llama.cpp ships has this form
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws

object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
)gbnf";

TEST(Gbnf, TextsOfGrammars) {
  const std::vector<Case> cases = {
      {"root ::= \"ab\" [c-e]* | \"\\x41\\u00e9\\U0001F600\\n\"",
       {"ab", "abcdec", "A\xC3\xA9\xF0\x9F\x98\x80\n"},
       {"", "abf", "A"}},
      {"root ::= [^a\\]-] . \"\\\"\"", {"b\xC3\xA9\"", "\xF0\x9F\x98\x80\n\""}, {"ab\"", "]b\"", "-b\"", "b\""}},
      {"root ::= x{2} x{1,} \"-\" x{0,2} (\"+\" x)?\nx ::= \"x\"", {"xxx-", "xxxx-xx+x"}, {"xx-", "xxx-xxx", "xxx-+"}},
      {"root ::= a-b_1 |\n  \"z\"\na-b_1 ::= (\n \"q\"\n | \"r\"\n)+ # end", {"z", "qrq"}, {"", "zz"}},
      {"root ::= \"(\" root \")\" | \"x\"", {"x", "((x))"}, {"((x)", "()"}},
      {"root ::= e \"b\"\ne ::= (\"a\" e \"c\")*", {"b", "aaccb", "acacb"}, {"aacb", "ab"}},
      {"root ::= ((\"a\"?){0,5}){2,1000000} \"b\"", {"b", "aaaaab"}, {"a"}},
      {kJson, {"{\"a\": [1, -2.5e3, \"\\u00e9\", {}]}", "{}"}, {"[1]", "{\"a\":}", "{\"a\":1,}"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.grammar);
    const auto constraint = Constraint::from_grammar(c.grammar);
    for (const std::string& text : c.allowed) EXPECT_TRUE(constraint->check(text).is_accepted) << text;
    for (const std::string& text : c.others) EXPECT_FALSE(constraint->check(text).is_accepted) << text;
  }
}

TEST(Gbnf, FaultsNameTheLineOrTheRule) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"start ::= \"a\"", "root"},
      {"root ::= \"a\"\n  other", "line 2"},
      {"root ::= missing", "missing"},
      {"root ::= (\"a\"\n", "bracket"},
      {"root ::= [a", "bracket"},
      {"root ::= \"a", "quote"},
      {"root ::= \"a\"{3,1}", "line 1"},
      {"root ::= \"\\q\"", "\\q"},
      {"root ::= root \"a\" | \"b\"", "root"},
      {"root ::= x\nx ::= \"\" x \"a\" | \"b\"", "left recursion"},
      {"root ::= \"a\" root", "no text satisfies"},
      {"root ::= <think>", "token"},
      {"root ::= \"a\"\nroot ::= \"b\"", "second time"},
      {"root = \"a\"", "::="},
      {"", "root"},
      {"root ::= " + std::string(100'000, '('), "nested"},
  };
  for (const auto& [grammar, word] : cases) {
    SCOPED_TRACE(grammar.substr(0, 100));
    try {
      Constraint::from_grammar(grammar);
      ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(Gbnf, ObjectsOfSchemas) {
  const std::string schema = R"({"properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["s"]})";
  const MemberMarkup markup{.open = "<", .name_end = ">", .close = "</>", .name_refused = ">"};
  const std::vector<ObjectRule> objects = {{"object", schema}, {"members", schema, markup}};
  const auto constraint = Constraint::from_grammar("root ::= \"j\" object+ | \"m\" members \".\"", objects);
  for (const char* text : {"j{\"s\": \"\"}", "j{\"s\":\"\",\"n\":1}{\"s\":\"\"}", "m<s>\"</a></>.", "m<n>1</> <s></>."})
    EXPECT_TRUE(constraint->check(text).is_accepted) << text;
  for (const char* text : {"j", "j[]", "j{}", "j{\"s\":1}", "m.", "m<n>x</><s></>.", "m<s></><n>1</>.", "m<s></></>."})
    EXPECT_FALSE(constraint->check(text).is_accepted) << text;
}

}  // namespace
}  // namespace warpchat::grammar
