// Placeholders: what is one, which values they get, and what the text becomes.
#include "app/formats/prompt_text.h"

#include <gtest/gtest.h>

#include "models/error.h"
#include "tests/support/error_of.h"
#include "tests/support/fuzz_text.h"

namespace warpchat {
namespace {

// "name" and "name=default", in their order.
std::string found_in(std::string_view text) {
  std::string list;
  for (const Placeholder& placeholder : placeholders_of(text))
    list += (list.empty() ? "" : ", ") + placeholder.name + (placeholder.preset ? "=" + *placeholder.preset : "");
  return list;
}

struct TextCase {
  const char* why;
  const char* text;
  const char* placeholders;
  const char* filled;  // where each value is its name in capitals X, or the default
};
constexpr TextCase kTexts[] = {
    {"none", "Hello", "", "Hello"},
    {"one", "Say {word}.", "word", "Say <word>."},
    {"a default", "In {language=French}: {text}", "language=French, text", "In French: <text>"},
    {"an empty default", "{note=}end", "note=", "end"},
    {"twice, with a default at the second place", "{a} {a=1} {a=2}", "a=1", "1 1 1"},
    {"letters of any script, digits and dashes", "{größe} {_x} {part-2}", "größe, _x, part-2", "<größe> <_x> <part-2>"},
    {"JSON", R"({"a": {"b": [1, {}]}, "c": "x"}})", "", R"({"a": {"b": [1, {}]}, "c": "x"}})"},
    {"a value within JSON", R"({"a": {value}})", "value", R"({"a": <value>})"},
    {"code", "if (x) { return {1, 2}; } // {} { a } {a b} {1} {a:2} {a.b} {-a}", "",
     "if (x) { return {1, 2}; } // {} { a } {a b} {1} {a:2} {a.b} {-a}"},
    {"doubled braces", "{{name}} and {{name=x}} and {name}", "name", "{name} and {name=x} and <name>"},
    {"of other templates", "{{{name}}} and {{ name }} and {% if name %}", "",
     "{{name}} and {{ name }} and {% if name %}"},
    {"braces that do not match", "{{a} {a {{ }} } {", "a", "{<a> {a {{ }} } {"},
    {"more braces behind it", "{{a}}} {{{a}}", "", "{a}} {{a}"},
    {"no line break in a default", "{a=1\n2} {b=\n}", "", "{a=1\n2} {b=\n}"},
    {"no braces in a default", "{a={b}}", "b", "{a=<b>}"},
    {"blanks and signs in a default", "{a= two words, = } }", "a= two words, = ", " two words, =  }"},
    {"a name that hides", "{a\u202eb} {\u200b}", "", "{a\u202eb} {\u200b}"},
    {"bytes that are no text", "{a\xff} \xff{b}", "b", "{a\xff} \xff<b>"},
};

TEST(PromptText, HasPlaceholders) {
  for (const TextCase& c : kTexts) {
    EXPECT_EQ(found_in(c.text), c.placeholders) << c.why;
    PromptValues values;
    for (const Placeholder& placeholder : placeholders_of(c.text))
      if (!placeholder.preset) values.of_name[placeholder.name] = "<" + placeholder.name + ">";
    EXPECT_EQ(filled_prompt(c.text, values), c.filled) << c.why;
  }
}

TEST(PromptText, ANameHasALimit) {
  EXPECT_EQ(found_in("{" + std::string(64, 'a') + "}"), std::string(64, 'a'));
  EXPECT_EQ(found_in("{" + std::string(65, 'a') + "}"), "");
}

TEST(PromptText, AValueIsNotReadAgain) {
  PromptValues values;
  values.of_name = {{"a", "{b} {{b}} {a}"}, {"b", "B"}};
  EXPECT_EQ(filled_prompt("{a}/{b}", values), "{b} {{b}} {a}/B");
}

TEST(PromptText, TooManyPlaceholdersAndTooLongTextsAreRefused) {
  std::string text;
  for (size_t i = 0; i < kMaxPlaceholders; ++i) text += "{a" + std::to_string(i) + "}{a0}";
  EXPECT_EQ(placeholders_of(text).size(), kMaxPlaceholders);
  EXPECT_EQ(error_of([&] { placeholders_of(text + "{b}"); }),
            "the prompt has more than 50 placeholders; write {{name}} where {name} is text");
  PromptValues values;
  values.of_name["a"] = std::string(1 << 20, 'x');
  EXPECT_EQ(filled_prompt("{a}{a}{a}{a}", values).size(), kMaxFilledPromptBytes);
  EXPECT_NE(error_of([&] { filled_prompt("{a}{a}{a}{a}!", values); }).find("the filled prompt is longer than"),
            std::string::npos);
}

TEST(PromptText, MissingValuesAreNamed) {
  EXPECT_EQ(error_of([] { filled_prompt("{a} {b=1} {c} {d}", {}); }), "the prompt needs a value for a, c and d");
  PromptValues values;
  values.of_name = {{"a", ""}, {"d", "x"}};
  EXPECT_EQ(names_of_missing(placeholders_of("{a} {b=1} {c} {d}"), values), "c") << "an empty value is one";
}

struct LineCase {
  const char* why;
  const char* text;
  const char* line;
  const char* filled;
};
constexpr LineCase kPromptLines[] = {
    {"the only one gets all of it", "<{text}>", "Hello to you", "<Hello to you>"},
    {"the first without a default", "{language=French} {text} {more=}", "Hello you", "French Hello you "},
    {"the first if all have one", "{a=1} {b=2}", "x y", "x y 2"},
    {"by name", "{language=French}: {text}", "language=German text=How are you?", "German: How are you?"},
    {"in any order, with unnamed text first", "{language=French}: {text}", "Hello  language=Old Norse",
     "Old Norse: Hello"},
    {"in quotes", "{a}|{b}", "a=\"one two\" b=\"x\" and \"y\"", "one two|\"x\" and \"y\""},
    {"an empty value", "<{a=1}>", "a=", "<>"},
    {"what looks like a name is text", "<{text}>", "x=3, so what?", "<x=3, so what?>"},
    {"within a word it is no name", "<{text}>", "see mytext=1", "<see mytext=1>"},
    {"several lines", "{a}|{b}", "one\ntwo b=three\nfour", "one\ntwo|three\nfour"},
    {"no placeholder", "Sum this up:", "some text", "Sum this up:\n\nsome text"},
    {"all are named", "<{a}>", "more a=1", "<1>\n\nmore"},
    {"nothing", "Hello", "  ", "Hello"},
};
TEST(PromptValues, OfALine) {
  for (const LineCase& c : kPromptLines)
    EXPECT_EQ(filled_prompt(c.text, values_of_line(placeholders_of(c.text), c.line)), c.filled) << c.why;
}

TEST(PromptValues, OfWordsOfACommandLine) {
  const std::vector<Placeholder> two = placeholders_of("{language=French} {text}");
  EXPECT_EQ(values_of_words(two, {"text=a language=b", "x", "y"}).of_name,
            (std::map<std::string, std::string>{{"text", "a language=b"}, {"language", "x y"}}))
      << "a word of the shell is one value";
  EXPECT_EQ(values_of_words(two, {"language=\"b\""}).of_name.at("language"), "\"b\"")
      << "the shell has read its quotes";
}

TEST(PromptValues, MistakesAreOneSentence) {
  const std::vector<Placeholder> two = placeholders_of("{language=French} {text}");
  EXPECT_EQ(error_of([&] { values_of_line(two, "text=a text=b"); }), "text is given twice; give it once");
  EXPECT_EQ(error_of([&] { values_of_line(two, "langauge=German Hello"); }),
            "there is no placeholder langauge; perhaps you mean language; there is language and text");
}

// What is a placeholder is filled or left as text, and nothing else changes.
TEST(PromptTextFuzz, OtherTextStays) {
  constexpr std::string_view kPieces[] = {"{",  "}", "{{",  "}}",    "a",    "=", "1",
                                          "\n", " ", "{a}", "{b=2}", "\xff", "ä", "-"};
  for (uint32_t seed = 0; seed < fuzz_rounds(300, 20000); ++seed) {
    FuzzText random(seed);
    const std::string text = random.of(kPieces, 400);
    PromptValues values;
    for (const Placeholder& placeholder : placeholders_of(text)) values.of_name[placeholder.name] = "";
    const std::string filled = filled_prompt(text, values);
    EXPECT_LE(filled.size(), text.size());
    if (text.find('{') == std::string::npos) {
      EXPECT_EQ(filled, text);
    }
    const std::string other = filled_prompt(text + "{z}", [&] { return values.of_name["z"] = "Z", values; }());
    EXPECT_TRUE(other.ends_with("Z")) << text;
  }
}

}  // namespace
}  // namespace warpchat
