// Finds the texts of special tokens in a text, before anything else looks at it. From a text to fragments: special
// tokens, and the texts between them.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "models/text_range.h"
#include "models/token.h"
#include "models/tokenizer/vocabulary.h"

namespace warpchat {

struct Fragment {
  std::string_view text;  // ordinary text; of a special token, what it replaces
  Token token = -1;       // a special token, or -1
};

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // Longer token texts are found before shorter ones, wherever they are; equally long ones by id; each from left to
  // right. User-defined tokens are found always, control and unknown ones only where none of their bytes is in one of
  // the ranges of content, which rise. No fragment is empty.
  std::vector<Fragment> split(const Vocabulary& vocabulary, std::string_view text,
                              std::span<const TextRange> content) const;

 private:
  std::vector<char> find_present(const Vocabulary& vocabulary, std::string_view text) const;

  std::vector<Token> by_length_;       // longest text first
  std::vector<uint32_t> by_text_;      // indices into by_length_, in the order of the texts
  std::array<bool, 256> starts_ = {};  // bytes with which a special token's text starts
};

}  // namespace warpchat
