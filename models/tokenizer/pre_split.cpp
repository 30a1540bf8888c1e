#define PCRE2_CODE_UNIT_WIDTH 8
#include "models/tokenizer/pre_split.h"

#include <pcre2.h>

#include <cassert>
#include <cstdint>

#include "models/error.h"
#include "models/out_of_memory.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

// Character classes for use in brackets. Debian's PCRE2 knows Unicode 14, the models' tokenisers Unicode 15: the ranges
// are additions of 15.0 and 15.1. White space is listed because PCRE2's \s includes U+180E, which Unicode removed.
const std::string kNewSmallLetter = "\\x{1DF25}-\\x{1DF2A}";
const std::string kNewOtherLetter =  // neither capital nor small
    "\\x{1123F}-\\x{11240}\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}\\x{1342F}\\x{13441}-\\x{13446}"
    "\\x{1B132}\\x{1B155}\\x{1E030}-\\x{1E06D}\\x{1E4D0}-\\x{1E4EB}\\x{2B739}\\x{2EBF0}-\\x{2EE5D}"
    "\\x{31350}-\\x{323AF}";
const std::string kLetter = "\\p{L}" + kNewSmallLetter + kNewOtherLetter;
const std::string kMark =
    "\\p{M}\\x{CF3}\\x{ECE}\\x{10EFD}-\\x{10EFF}\\x{11241}\\x{11F00}-\\x{11F01}\\x{11F03}\\x{11F34}-\\x{11F3A}"
    "\\x{11F3E}-\\x{11F42}\\x{13440}\\x{13447}-\\x{13455}\\x{1E08F}\\x{1E4EC}-\\x{1E4EF}";
const std::string kNumber = "\\p{N}\\x{11F50}-\\x{11F59}\\x{1D2C0}-\\x{1D2D3}\\x{1E4F0}-\\x{1E4F9}";
const std::string kPunctuation = "\\p{P}\\x{11B00}-\\x{11B09}\\x{11F43}-\\x{11F4F}";
const std::string kSpace =
    "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";

// The last character of a white space run belongs to the following word.
const std::string kSpaces = "[" + kSpace + "]+(?![^" + kSpace + "])|[" + kSpace + "]+";

const std::string kGpt2Words = "'s|'t|'re|'ve|'m|'ll|'d| ?[" + kLetter + "]+| ?[" + kNumber + "]+| ?[^" + kSpace +
                               kLetter + kNumber + "]+|" + kSpaces;

const std::string kContractions = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const std::string kLineBreaks = "[" + kSpace + "]*[\\r\\n]+|" + kSpaces;

// letters: characters of words. after_symbols: what goes with a run of other characters.
std::string llama3_words(const std::string& digits, const std::string& letters = kLetter,
                         const std::string& after_symbols = "[\\r\\n]*") {
  return kContractions + "|[^\\r\\n" + kLetter + kNumber + "]?[" + letters + "]+|[" + kNumber + "]" + digits + "| ?[^" +
         kSpace + letters + kNumber + "]+" + after_symbols + "|" + kLineBreaks;
}

// Words of capitals, then small letters: "HTTPServer" is one, "camelCase" two.
std::string cased_words(const std::string& digits, const std::string& after_word) {
  const std::string either = "\\p{Lm}\\p{Lo}" + kNewOtherLetter + kMark;
  const std::string capital = "[\\p{Lu}\\p{Lt}" + either + "]", small = "[\\p{Ll}" + kNewSmallLetter + either + "]";
  const std::string before = "[^\\r\\n" + kLetter + kNumber + "]?";
  return before + capital + "*" + small + "+" + after_word + "|" + before + capital + "+" + small + "*" + after_word +
         "|[" + kNumber + "]" + digits + "| ?[^" + kSpace + kLetter + kNumber + "]+[\\r\\n/]*|" + kLineBreaks;
}

// DeepSeek's: letters with capitals (of Unicode 11), punctuation of ASCII and of Chinese, Chinese and Korean.
const std::string kCasedLetter =
    "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}"
    "\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-\\x{3A1}"
    "\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}"
    "\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"
    "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}"
    "\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}"
    "\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}"
    "\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}"
    "\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}"
    "\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}"
    "\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}"
    "\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}"
    "\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}"
    "\\x{1E900}-\\x{1E943}";
const std::string kCjk = "[\\x{800}-\\x{9FA5}\\x{AC00}-\\x{D7FF}]+";
const std::string kMaybeSpace = "[" + kSpace + "]?";

using Patterns = std::vector<std::string>;
Patterns gpt2() { return {kGpt2Words}; }
Patterns smollm() { return {"[" + kNumber + "]", kGpt2Words}; }
Patterns qwen2() { return {llama3_words("")}; }
Patterns qwen35() { return {llama3_words("", kLetter + kMark)}; }
Patterns llama3() { return {llama3_words("{1,3}")}; }
Patterns seed_coder() { return {llama3_words("", kLetter, "")}; }
Patterns minicpm5() { return {"[" + kNumber + "]{1,3}", llama3_words("+")}; }
Patterns tekken() { return {cased_words("", "")}; }
Patterns gpt4o() { return {cased_words("{1,3}", "(?:" + kContractions + ")?")}; }
Patterns deepseek_llm() {
  return {"[\\r\\n]",
          kMaybeSpace + "[" + kCasedLetter + "]+",
          kMaybeSpace + "[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+",
          "(?<![" + kSpace + "])[" + kSpace + "]++$",  // \s+$, in linear time
          kCjk,
          "[" + kNumber + "]+"};
}
Patterns deepseek_coder() {
  return {"[\\r\\n]", kMaybeSpace + "[" + kLetter + "]+", kMaybeSpace + "[" + kPunctuation + "]+", kCjk,
          "[" + kNumber + "]"};
}
Patterns unnamed() { return {"[" + kPunctuation + "$+<=>^~|]+", kGpt2Words, "[" + kNumber + "]+", "[0-9][0-9][0-9]"}; }

constexpr PreTokenizer kPreTokenizers[] = {
    {"default", unnamed, false, false},
    {"gpt-2", gpt2, false, false},
    {"smollm", smollm, false, false},
    {"qwen2", qwen2, false, false, /*composes=*/true},
    {"qwen35", qwen35, false, false, /*composes=*/true},  // and later ones
    {"deepseek-r1-qwen", qwen2, false, false},
    {"llama-bpe", llama3, true, true},
    {"llama3", llama3, true, true},  // former names of llama-bpe
    {"llama-v3", llama3, true, true},
    // Models whose tokeniser splits like one of the above.
    {"falcon3", llama3, true, true},
    {"falcon-h1", llama3, true, true},
    {"pixtral", llama3, true, true},
    {"midm-2.0", llama3, true, true},
    {"lfm2", llama3, true, true},
    {"smaug-bpe", llama3, false, false},
    {"dbrx", llama3, false, false},
    {"glm4", llama3, false, false},
    {"chatglm-bpe", llama3, false, false},
    {"kormo", qwen2, false, false},
    {"f2llmv2", qwen2, false, false},
    {"megrez", qwen2, false, false},
    {"stablelm2", qwen2, false, false},
    {"hunyuan", qwen2, false, false},
    {"solar-open", qwen2, false, false},
    {"grok-2", qwen2, false, false},
    {"mellum", gpt2, false, false},
    {"a.x-4.0", gpt2, false, false},
    {"phi-2", gpt2, false, false},
    {"gigachat", gpt2, false, false},
    {"exaone4", gpt2, false, false},
    {"trillion", gpt2, false, false},
    {"granite-docling", gpt2, false, false},
    {"minerva-7b", smollm, false, false},
    {"starcoder", smollm, false, false},
    {"refact", smollm, false, false},
    {"command-r", smollm, false, false},
    {"codeshell", smollm, false, false},
    {"exaone", smollm, false, false},
    {"mellum2", smollm, false, false},
    // Models with words of their own.
    {"tekken", tekken, true, true},
    {"gpt-4o", gpt4o, false, false},
    {"llama4", gpt4o, false, false},
    {"kanana2", gpt4o, false, false},
    {"deepseek-llm", deepseek_llm, false, false},
    {"deepseek-coder", deepseek_coder, false, false},
    {"seed-coder", seed_coder, false, false},
    {"minicpm5", minicpm5, true, false},
};

[[noreturn]] void fail(const char* action, int code) {
  PCRE2_UCHAR message[256] = {};
  pcre2_get_error_message(code, message, sizeof message);
  throw Error(std::string("cannot ") + action + ": " + reinterpret_cast<const char*>(message));
}

// Context of a match. The patterns never nest repetitions, so the work is linear in the text, and PCRE2's match limit
// would only reject long runs of white space.
struct Matching {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data{pcre2_match_data_create(1, nullptr),
                                                                           &pcre2_match_data_free};
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context{pcre2_match_context_create(nullptr),
                                                                                    &pcre2_match_context_free};
  Matching() {
    if (!data || !context) throw OutOfMemory();
    pcre2_set_match_limit(context.get(), UINT32_MAX);
  }
};

// Splits off every match; text between matches is a word, too.
void cut(const pcre2_code* pattern, const Matching& matching, std::string_view text,
         std::vector<std::string_view>& words) {
  size_t done = 0;
  while (done < text.size()) {
    // The caller checks UTF-8 once: a check per match would read the whole text for each word.
    const int found = pcre2_match(pattern, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), done,
                                  PCRE2_NO_UTF_CHECK, matching.data.get(), matching.context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) fail("split text into words", found);
    const PCRE2_SIZE* span = pcre2_get_ovector_pointer(matching.data.get());
    assert(span[1] > span[0]);
    if (span[0] > done) words.push_back(text.substr(done, span[0] - done));
    words.push_back(text.substr(span[0], span[1] - span[0]));
    done = span[1];
  }
  if (done < text.size()) words.push_back(text.substr(done));
}

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizer& pre : kPreTokenizers)
    if (pre.name == name) return &pre;
  return nullptr;
}

std::string pre_tokenizer_names() { return word_list(kPreTokenizers, ", ", &PreTokenizer::name); }

void PreSplitter::FreeCode::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

PreSplitter::PreSplitter(const PreTokenizer& pre) {
  for (const std::string& pattern : pre.patterns()) {
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                         PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr);
    if (!compiled) fail("compile the pattern that splits text into words", code);
    patterns_.emplace_back(compiled);
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without a JIT, matching is slower but equal
  }
}

std::vector<std::string_view> PreSplitter::split(std::string_view text) const {
  std::vector<std::string_view> words = {text}, pieces;
  const Matching matching;
  for (const auto& pattern : patterns_) {
    pieces.swap(words);
    words.clear();
    for (const std::string_view piece : pieces) cut(pattern.get(), matching, piece, words);
  }
  return words;
}

}  // namespace warpchat
