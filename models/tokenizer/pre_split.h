// Splits text into the words within which byte-level BPE merges. Patterns come from the model families' own tokenisers,
// and are named as in tokenizer.ggml.pre.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace warpchat {

struct PreTokenizer {
  std::string_view name;
  std::vector<std::string> (*patterns)();  // each splits the pieces that earlier ones left
  bool whole_words;                        // a word equal to a token's text is that token, regardless of merges
  bool adds_bos;                           // default if the file does not say
  bool composes = false;                   // text is composed first (NFC); default if the file does not say
};

const PreTokenizer* find_pre_tokenizer(std::string_view name);  // nullptr if unknown
std::string pre_tokenizer_names();                              // "default, gpt-2, ...", for messages

class PreSplitter {
 public:
  explicit PreSplitter(const PreTokenizer& pre);

  // Words of valid UTF-8 text in order; concatenated they are the text. Thread-safe.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, FreeCode>> patterns_;
};

}  // namespace warpchat
