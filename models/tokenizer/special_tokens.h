// Finds special tokens in a text before other processing: splits it into special tokens and the texts between them.
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
  std::string_view text;  // ordinary text, or the replaced text of a special token
  Token token = -1;       // a special token, or -1
};

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // Longer token texts are matched first, anywhere in the text; equally long ones by id, each from left to right.
  // User-defined tokens always match. Control and unknown tokens match only outside the content ranges, which are
  // sorted. No fragment is empty.
  std::vector<Fragment> split(const Vocabulary& vocabulary, std::string_view text,
                              std::span<const TextRange> content) const;

 private:
  std::vector<char> find_present(const Vocabulary& vocabulary, std::string_view text) const;

  std::vector<Token> by_length_;       // longest text first
  std::vector<uint32_t> by_text_;      // indices into by_length_, sorted by text
  std::array<bool, 256> starts_ = {};  // first bytes of special tokens' texts
};

}  // namespace warpchat
