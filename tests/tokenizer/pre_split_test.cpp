// Text into words, one row for each rule of each pattern. The words are llama.cpp's.
#include "models/tokenizer/pre_split.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : "|") + std::string(word);
  return text;
}

constexpr const char* kAllPatterns[] = {"default",    "gpt-2",     "smollm",       "qwen2",
                                        "qwen35",     "llama-bpe", "tekken",       "gpt-4o",
                                        "seed-coder", "minicpm5",  "deepseek-llm", "deepseek-coder"};

struct PreSplitCase {
  const char* name;
  const char* pre;
  std::string text, words;  // words separated by |
};

const PreSplitCase kPreSplitCases[] = {
    {"space_goes_with_the_word", "gpt-2", "one two", "one| two"},
    {"last_of_several_spaces_goes_with_it", "gpt-2", "one   two", "one|  | two"},
    {"spaces_at_the_end_stay_together", "gpt-2", "one   ", "one|   "},
    {"only_a_space_goes_with_the_word", "gpt-2", "a\tb\nc", "a|\t|b|\n|c"},
    {"digits_together", "gpt-2", "a1234 56b", "a|1234| 56|b"},
    {"contractions_in_lower_case", "gpt-2", "it's I'LL they've", "it|'s| I|'|LL| they|'ve"},
    {"punctuation_together", "gpt-2", "a+=(b);\n", "a|+=(|b|);|\n"},
    {"combining_characters_are_punctuation", "gpt-2", "e\xCC\x81t", "e|\xCC\x81|t"},
    {"roman_numerals_and_fractions_are_numbers", "gpt-2", "Ⅷ½a", "Ⅷ½|a"},
    {"wide_space_is_white_space", "gpt-2",
     "a\xE3\x80\x80\xE3\x80\x80"
     "b",
     "a|\xE3\x80\x80|\xE3\x80\x80|b"},
    {"u_180e_is_none", "gpt-2",
     "a\xE1\xA0\x8E"
     "b",
     "a|\xE1\xA0\x8E|b"},
    {"u_180e_goes_with_the_space", "gpt-2", "a \xE1\xA0\x8E", "a| \xE1\xA0\x8E"},
    {"letter_of_unicode_15", "gpt-2", "a\xF0\xB1\x8D\x90", "a\xF0\xB1\x8D\x90"},  // U+31350
    {"digit_of_unicode_15", "gpt-2", "1\xF0\x91\xBD\x90", "1\xF0\x91\xBD\x90"},   // U+11F50
    {"symbol_of_unicode_15", "gpt-2", "+\xF0\x9F\xAB\xA8", "+\xF0\x9F\xAB\xA8"},  // U+1FAE8
    {"nul_is_a_character", "gpt-2", std::string("a\0b", 3), std::string("a|\0|b", 5)},
    {"digits_one_by_one", "smollm", "a1234 56b", "a|1|2|3|4| |5|6|b"},
    {"digits_are_cut_out_first", "smollm", "a  5", "a|  |5"},  // so the spaces end their piece and stay together
    {"contraction_at_the_end_of_a_piece", "smollm", "it's5", "it|'s|5"},
    {"contractions_in_any_case", "qwen2", "it's I'LL they'Ve", "it|'s| I|'LL| they|'Ve"},
    {"digits_one_by_one", "qwen2", "a1234 56", "a|1|2|3|4| |5|6"},
    {"any_one_character_goes_with_a_word", "qwen2", "(a\tb $c", "(a|\tb| $|c"},
    {"line_breaks_go_with_punctuation", "qwen2", "a);\n\nb", "a|);\n\n|b"},
    {"line_breaks_end_white_space", "qwen2", "a \n \n  b", "a| \n \n| | b"},
    {"carriage_returns_too", "qwen2", "a\r\n\r\nb", "a|\r\n\r\n|b"},
    {"no_line_break_before_a_word", "qwen2", "\na", "\n|a"},
    {"long_s_is_no_s", "qwen2", "'\xC5\xBF", "'\xC5\xBF"},  // U+017F equals s if case is ignored
    {"combining_characters_are_punctuation", "qwen2", "e\xCC\x81t", "e|\xCC\x81t"},
    {"combining_characters_are_letters", "qwen35", "e\xCC\x81t 1", "e\xCC\x81t| |1"},
    {"not_before_a_word", "qwen35", "\xCC\x81 \xCC\x81", "\xCC\x81| \xCC\x81"},
    {"no_punctuation", "qwen35", "a+\xCC\x81", "a|+\xCC\x81"},
    {"mark_of_unicode_15", "qwen35", "a\xE0\xB3\xB3+", "a\xE0\xB3\xB3|+"},  // U+0CF3
    {"digits_in_threes", "llama-bpe", "1234567 89", "123|456|7| |89"},
    {"older_name", "llama3", "1234", "123|4"},
    {"other_name", "deepseek-r1-qwen", "12", "1|2"},
    {"punctuation_is_cut_out_first", "default", "a (b) $5", "a| |(|b|)| |$|5"},
    {"ascii_digits_in_threes", "default", "12345678 १२३४", "123|456|78| |१२३४"},
    {"backtick_is_no_symbol_here", "default", "a `b", "a| `|b"},
    {"contraction_is_cut_apart", "default", "it's", "it|'|s"},
    {"punctuation_of_unicode_15", "default", "a \xF0\x91\xAC\x80", "a| |\xF0\x91\xAC\x80"},  // U+11B00
};

TEST(PreSplit, Words) {
  for (const PreSplitCase& c : kPreSplitCases)
    EXPECT_EQ(joined(PreSplitter(*find_pre_tokenizer(c.pre)).split(c.text)), c.words) << c.pre << " " << c.name;
}

TEST(PreSplit, WordsAreTheWholeText) {
  std::mt19937 random(1);
  for (const char* pre : kAllPatterns) {
    const PreSplitter splitter(*find_pre_tokenizer(pre));
    EXPECT_TRUE(splitter.split("").empty());
    for (int i = 0; i < 300; ++i) {
      const std::string text = test::random_text(random);
      std::string together;
      for (const std::string_view word : splitter.split(text)) {
        EXPECT_FALSE(word.empty());
        together += word;
      }
      EXPECT_EQ(together, text) << pre;
    }
  }
}

// A limit on work or stack per character would show here: PCRE2's own is ten million steps.
TEST(PreSplit, LongRuns) {
  for (const char* pre : kAllPatterns) {
    const PreSplitter splitter(*find_pre_tokenizer(pre));
    EXPECT_EQ(splitter.split(std::string(12 << 20, ' ') + "x").size(), 2u) << pre;
    EXPECT_LE(splitter.split(std::string(1 << 20, ' ') + "你").size(), 3u) << pre;
    for (const char* unit : {"\n", " \n", "a", "A", "aB", "\xCC\x81", ".", "=", "é", "你", "'"}) {
      std::string text;
      while (text.size() < (1u << 18)) text += unit;
      size_t n_bytes = 0;
      for (const std::string_view word : splitter.split(text + "x")) n_bytes += word.size();
      EXPECT_EQ(n_bytes, text.size() + 1) << pre << " " << unit;
    }
  }
}

// Lengths of the words that Hugging Face's tokenizers finds with the models' own patterns (make_words.py).
TEST(PreSplit, WordsAreThoseOfTokenizers) {
  const std::string data = WARPCHAT_SOURCE_DIR "/tests/tokenizer/data/";
  std::vector<std::string> texts;
  std::ifstream texts_file(data + "words_texts.bin", std::ios::binary);
  for (std::string text; std::getline(texts_file, text, '\0');) texts.push_back(text);
  ASSERT_GT(texts.size(), 100u);
  std::ifstream table(data + "words.tsv");
  size_t n_names = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string names, expected;
    std::getline(fields, names, '\t');
    std::istringstream all_names(names);
    const std::vector<std::string> group{std::istream_iterator<std::string>(all_names), {}};
    for (const std::string& text : texts) {
      ASSERT_TRUE(std::getline(fields, expected, '\t'));
      for (const std::string& name : group) {
        const PreTokenizer* pre = find_pre_tokenizer(name);
        ASSERT_NE(pre, nullptr) << name;
        std::string lengths;
        for (const std::string_view word : PreSplitter(*pre).split(text))
          lengths += (lengths.empty() ? "" : ",") + std::to_string(word.size());
        EXPECT_EQ(lengths, expected) << name << ": " << text;
      }
    }
    n_names += group.size();
  }
  EXPECT_GT(n_names, 40u);
}

// As in llama.cpp: whether a word that is a token is taken whole, and whether bos comes first.
TEST(PreSplit, WholeWordsAndBos) {
  for (const char* name : {"llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"}) {
    EXPECT_TRUE(find_pre_tokenizer(name)->whole_words) << name;
    EXPECT_TRUE(find_pre_tokenizer(name)->adds_bos) << name;
  }
  EXPECT_TRUE(find_pre_tokenizer("minicpm5")->whole_words);
  for (const char* name : {"qwen2", "smaug-bpe", "glm4", "gpt-4o", "deepseek-llm", "seed-coder", "minicpm5"})
    EXPECT_FALSE(find_pre_tokenizer(name)->adds_bos) << name;
}

TEST(PreSplit, UnknownNames) {
  EXPECT_EQ(find_pre_tokenizer("viking"), nullptr);
  EXPECT_EQ(find_pre_tokenizer(""), nullptr);
  EXPECT_TRUE(pre_tokenizer_names().starts_with("default, gpt-2, smollm, qwen2, qwen35, deepseek-r1-qwen, llama-bpe"));
}

}  // namespace
}  // namespace warpchat
