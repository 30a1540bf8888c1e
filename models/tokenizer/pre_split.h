// Cuts text into the words inside which byte-level BPE merges. The patterns are those of the model families' own
// tokenisers, by the name that GGUF gives them in tokenizer.ggml.pre.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace warpchat {

struct PreTokenizer {
  std::string_view name;
  std::vector<std::string> (*patterns)();  // each cuts the pieces that the ones before it left
  bool whole_words;                        // a word that is a token's text is that token, whatever the merges say
  bool adds_bos;                           // where the file does not say
};

const PreTokenizer* find_pre_tokenizer(std::string_view name);  // nullptr if unknown
std::string pre_tokenizer_names();                              // "default, gpt-2, ...", for messages

class PreSplitter {
 public:
  explicit PreSplitter(const PreTokenizer& pre);

  // The words of valid UTF-8 text, in order and together the whole text. May be called from several threads at once.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, FreeCode>> patterns_;
};

}  // namespace warpchat
