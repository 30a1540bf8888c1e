// Special tokens in text: which are found, in which order, and what happens to the text around them.
#include <gtest/gtest.h>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using test::TestVocabulary;

TestVocabulary vocabulary() {
  TestVocabulary v = test::byte_vocabulary();
  v.add("<|a|>", test::kControl), v.add("<|a|><|b|>", test::kControl), v.add("<|b|>", test::kControl);
  v.add("<user>", test::kUserDefined), v.add("<unknown>", test::kUnknown), v.add("<unused>", test::kUnused);
  v.add("xyxy", test::kUserDefined), v.add("yx", test::kUserDefined);
  return v;
}

// Special tokens in brackets; byte tokens form the rest.
std::string shown(const Tokenizer& tokenizer, std::string_view text, bool parse_special) {
  std::string result;
  for (const Token token : tokenizer.encode(text, parse_special, false)) {
    const std::string piece = tokenizer.piece(token, true);
    result += tokenizer.is_special(token) ? "[" + piece + "]" : piece;
  }
  return result;
}

struct SpecialTokenCase {
  const char* name;
  const char *text, *parsed, *plain;
};

const SpecialTokenCase kSpecialTokenCases[] = {
    {"none", "abc", "abc", "abc"},
    {"empty", "", "", ""},
    {"alone", "<|a|>", "[<|a|>]", "<|a|>"},
    {"between_text", "x<|a|>y", "x[<|a|>]y", "x<|a|>y"},
    {"twice", "<|a|> <|a|>", "[<|a|>] [<|a|>]", "<|a|> <|a|>"},
    {"longest_first", "<|a|><|b|><|b|>", "[<|a|><|b|>][<|b|>]", "<|a|><|b|><|b|>"},
    {"user_defined_always", "x<user>y", "x[<user>]y", "x[<user>]y"},
    {"unknown_as_control", "<unknown>", "[<unknown>]", "<unknown>"},
    {"unused_never", "<unused>", "<unused>", "<unused>"},
    {"beginning_only", "<|a|", "<|a|", "<|a|"},
    {"from_the_left", "xyxyxy", "[xyxy]xy", "[xyxy]xy"},
    {"a_longer_one_beats_an_earlier_one", "yxyxy", "y[xyxy]", "y[xyxy]"},
    {"shorter_ones_in_what_is_left", "xyxyyx", "[xyxy][yx]", "[xyxy][yx]"},
    {"user_defined_inside_a_control_text", "<|a<user>|>", "<|a[<user>]|>", "<|a[<user>]|>"},
};

TEST(SpecialTokens, FoundInText) {
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
    const auto tokenizer = vocabulary().tokenizer(method);
    for (const SpecialTokenCase& c : kSpecialTokenCases) {
      EXPECT_EQ(shown(*tokenizer, c.text, true), c.parsed) << c.name;
      EXPECT_EQ(shown(*tokenizer, c.text, false), c.plain) << c.name;
    }
  }
}

struct ContentCase {
  const char* name;
  const char* text;  // content in ( )
  const char* expected;
};

const ContentCase kContentCases[] = {
    {"none", "<|a|>x", "[<|a|>]x"},
    {"all", "(<|a|>x<user>)", "<|a|>x[<user>]"},
    {"behind_the_templates", "<|a|>(<|a|>)<|a|>", "[<|a|>]<|a|>[<|a|>]"},
    {"begins_in_the_template", "<|a(|>)<|a|>", "<|a|>[<|a|>]"},
    {"ends_in_the_template", "(<)|a|><|b|>", "<|a|>[<|b|>]"},
    {"around_content", "<|(a)|>", "<|a|>"},
    {"one_byte_in_the_middle_of_many", "<|a|><|(b)|><|a|>", "[<|a|>]<|b|>[<|a|>]"},
    {"beside_content", "(x)<|a|>(y)", "x[<|a|>]y"},
    {"longer_reaches_into_content", "<|a|>(<|b|>)", "[<|a|>]<|b|>"},
    {"unknown_as_control", "<unknown>(<unknown>)", "[<unknown>]<unknown>"},
    {"user_defined_always", "<us(er)>", "[<user>]"},
    {"several", "(<|a|>)<|b|>(<|b|>)<|a|>()", "<|a|>[<|b|>]<|b|>[<|a|>]"},
};

TEST(SpecialTokens, AreTextInContent) {
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
    const auto tokenizer = vocabulary().tokenizer(method);
    for (const ContentCase& c : kContentCases) {
      std::string text, result;
      std::vector<TextRange> content;
      for (const char* letter = c.text; *letter; ++letter) {
        if (*letter == '(')
          content.push_back({text.size(), text.size()});
        else if (*letter == ')')
          content.back().end = text.size();
        else
          text += *letter;
      }
      for (const Token token : tokenizer->encode(text, content, false)) {
        const std::string piece = tokenizer->piece(token, true);
        result += tokenizer->is_special(token) ? "[" + piece + "]" : piece;
      }
      EXPECT_EQ(result, c.expected) << c.name;
    }
  }
}

// A match that overlaps content is skipped; a later one that overlaps the skipped match still counts.
TEST(SpecialTokens, OverlapOnesInContent) {
  TestVocabulary v = test::byte_vocabulary();
  v.add("xyx", test::kControl);
  const std::vector<TextRange> content = {{0, 1}};
  const auto tokenizer = v.tokenizer();
  EXPECT_EQ(tokenizer->encode("xyxyx", content, false), (std::vector<Token>{'x', 'y', 256}));
  EXPECT_THROW(tokenizer->encode("\xFF", content, false), Error);
}

TEST(SpecialTokens, ControlByTextWhateverTheTypeSays) {
  TestVocabulary v = test::byte_vocabulary();
  const Token end = v.add("<|im_end|>", test::kNormal), prefix = v.add("<|fim_prefix|>", test::kUserDefined);
  const auto tokenizer = v.tokenizer();
  EXPECT_TRUE(tokenizer->is_control(end));
  EXPECT_EQ(tokenizer->encode("<|im_end|>", true, false), std::vector<Token>{end});
  EXPECT_EQ(tokenizer->encode("<|fim_prefix|>", true, false), std::vector<Token>{prefix});
  EXPECT_GT(tokenizer->encode("<|fim_prefix|>", false, false).size(), 1u);
}

// Phi-3's tokeniser drops white space after special tokens; in GGUF, only the name tells that.
TEST(SpecialTokens, Phi3DropsTheSpaceBehind) {
  TestVocabulary v = vocabulary();
  v.add("<|endoftext|>", test::kControl);
  v.name = "Phi-3 Mini";
  const auto tokenizer = v.tokenizer();
  EXPECT_EQ(shown(*tokenizer, "a <|a|> \n\tb <user>", true), "a [<|a|>]b [<user>]");
  EXPECT_EQ(shown(*tokenizer, "<|a|>  ", true), "[<|a|>]");
  EXPECT_EQ(shown(*tokenizer, "<|a|>\xC2\xA0x", true), "[<|a|>]\xC2\xA0x");  // ASCII only
  EXPECT_EQ(shown(*tokenizer, "<|endoftext|> b", true), "[<|endoftext|>] b");
}

struct EndCase {
  const char* name;
  std::vector<std::pair<const char*, test::TokenType>> tokens;  // after the 256 bytes
  std::map<std::string, uint32_t> ids;
  std::vector<Token> ends;
};

const EndCase kEndCases[] = {
    {"none", {}, {}, {}},
    {"eos", {{"<e>", test::kControl}}, {{"eos_token_id", 256}}, {256}},
    {"eot_and_eom",
     {{"<t>", test::kControl}, {"<m>", test::kControl}},
     {{"eot_token_id", 256}, {"eom_token_id", 257}},
     {256, 257}},
    {"behind_code",
     {{"<p>", test::kControl}, {"<r>", test::kControl}, {"<f>", test::kControl}},
     {{"fim_pad_token_id", 256}, {"fim_rep_token_id", 257}, {"fim_sep_token_id", 258}, {"fim_mid_token_id", 0}},
     {256, 257, 258}},
    {"known_texts",
     {{"<|endoftext|>", test::kControl}, {"<|im_start|>", test::kControl}, {"<|im_end|>", test::kControl}},
     {{"eos_token_id", 256}},
     {256, 258}},
    {"llama_3",
     {{"<|end_of_text|>", test::kControl}, {"<|eot_id|>", test::kControl}, {"<|eom_id|>", test::kControl}},
     {{"eos_token_id", 256}},
     {256, 257, 258}},
    {"gpt_oss",
     {{"<|end|>", test::kControl}, {"<|return|>", test::kControl}, {"<|call|>", test::kControl}},
     {{"eos_token_id", 257}},
     {257, 258}},
    {"solar_open",
     {{"<|end|>", test::kControl}, {"<|flush|>", test::kControl}, {"<|calls|>", test::kControl}},
     {},
     {258, 257}},
    {"phi", {{"<|end|>", test::kControl}, {"<|call|>", test::kControl}}, {}, {256, 257}},
    {"gemma",
     {{"<|tool_response>", test::kControl}, {"</s>", test::kNormal}, {"<turn|>", test::kControl}},
     {},
     {258, 256}},
    {"each_once", {{"<|im_end|>", test::kControl}}, {{"eos_token_id", 256}, {"eot_token_id", 256}}, {256}},
};

// Each ends an answer, also where the file gives it the type of ordinary text.
TEST(SpecialTokens, TextsThatEndAnAnswer) {
  for (const char* text : {"<|im_end|>",
                           "<|endoftext|>",
                           "<|eot_id|>",
                           "<|eom_id|>",
                           "<|end|>",
                           "<end_of_turn>",
                           "</s>",
                           "<EOT>",
                           "_<EOT>",
                           "[EOT]",
                           "[EOS]",
                           "<|end_of_text|>",
                           "<end_of_utterance>",
                           "<eos>",
                           "<｜end▁of▁sentence｜>",
                           "<|return|>",
                           "<|call|>",
                           "<|calls|>",
                           "<|flush|>",
                           "<turn|>",
                           "<|tool_response>",
                           "[e~[",
                           "<|fim_pad|>",
                           "<|repo_name|>",
                           "<|file_sep|>"})
    for (const test::TokenType type : {test::kNormal, test::kControl, test::kUserDefined}) {
      TestVocabulary v = test::byte_vocabulary();
      const Token end = v.add(text, type);
      const auto tokenizer = v.tokenizer();
      EXPECT_TRUE(tokenizer->ends_generation(end)) << text;
      EXPECT_TRUE(tokenizer->is_control(end)) << text;
      EXPECT_EQ(tokenizer->piece(end), "") << text;
    }
}

TEST(SpecialTokens, EndOfGeneration) {
  for (const EndCase& c : kEndCases) {
    TestVocabulary v = test::byte_vocabulary();
    for (const auto& [text, type] : c.tokens) v.add(text, type);
    v.ids = c.ids;
    const auto tokenizer = v.tokenizer();
    const auto ends = tokenizer->end_of_generation();
    EXPECT_EQ(std::vector<Token>(ends.begin(), ends.end()), c.ends) << c.name;
    for (const Token token : c.ends) EXPECT_TRUE(tokenizer->ends_generation(token)) << c.name;
    EXPECT_FALSE(tokenizer->ends_generation(0)) << c.name;
  }
}

}  // namespace
}  // namespace warpchat
