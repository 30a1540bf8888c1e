#define PCRE2_CODE_UNIT_WIDTH 8
#include "models/tokenizer/pre_split.h"

#include <pcre2.h>

#include <cassert>
#include <cstdint>

#include "models/error.h"

namespace warpchat {
namespace {

// Character classes for use in brackets. Debian's PCRE2 knows Unicode 14, the models' tokenisers Unicode 15: the ranges
// are additions of 15.0 and 15.1. White space is listed because PCRE2's \s includes U+180E, which Unicode removed.
const std::string kLetter =
    "\\p{L}\\x{1123F}-\\x{11240}\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}\\x{1342F}\\x{13441}-\\x{13446}"
    "\\x{1B132}\\x{1B155}\\x{1DF25}-\\x{1DF2A}\\x{1E030}-\\x{1E06D}\\x{1E4D0}-\\x{1E4EB}\\x{2B739}"
    "\\x{2EBF0}-\\x{2EE5D}\\x{31350}-\\x{323AF}";
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

// letters: characters of words.
std::string llama3_words(const std::string& digits, const std::string& letters = kLetter) {
  return "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\\r\\n" + kLetter + kNumber + "]?[" + letters +
         "]+|[" + kNumber + "]" + digits + "| ?[^" + kSpace + letters + kNumber + "]+[\\r\\n]*|[" + kSpace +
         "]*[\\r\\n]+|" + kSpaces;
}

using Patterns = std::vector<std::string>;
Patterns gpt2() { return {kGpt2Words}; }
Patterns smollm() { return {"[" + kNumber + "]", kGpt2Words}; }
Patterns qwen2() { return {llama3_words("")}; }
Patterns qwen35() { return {llama3_words("", kLetter + kMark)}; }
Patterns llama3() { return {llama3_words("{1,3}")}; }
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
  Matching() { pcre2_set_match_limit(context.get(), UINT32_MAX); }
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

std::string pre_tokenizer_names() {
  std::string names;
  for (const PreTokenizer& pre : kPreTokenizers) names += (names.empty() ? "" : ", ") + std::string(pre.name);
  return names;
}

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
