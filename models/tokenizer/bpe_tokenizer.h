// Byte-level BPE, tokenizer.ggml.model "gpt2": splits text into words, maps a word's bytes to the alphabet of
// byte_map.h, and merges neighbours by the ranks of tokenizer.ggml.merges.
#pragma once
#include <array>
#include <memory>
#include <optional>

#include "models/tokenizer/merge_rules.h"
#include "models/tokenizer/pre_split.h"
#include "models/tokenizer/sentencepiece_model.h"
#include "models/tokenizer/vocabulary_tokenizer.h"

namespace warpchat {

class BpeTokenizer final : public VocabularyTokenizer {
 public:
  BpeTokenizer(const GgufFile& file, const PreTokenizer& pre, MergeMethod method);
  bool adds_space() const override { return false; }

 private:
  void encode_text(std::string_view text, std::vector<Token>& ids) const override;
  std::string text_of_normal(Token token) const override;
  void encode_word(std::string_view word, Merger& merger, std::vector<Token>& ids) const;
  void build_model(const std::vector<MergeRule>& rules);

  PreSplitter splitter_;
  bool whole_words_;
  std::array<Token, 256> token_of_byte_;  // -1 if the vocabulary lacks the byte
  std::optional<MergeTable> table_;       // exactly one of these two is set
  std::unique_ptr<SentencePieceModel> model_;
  std::vector<Token> token_of_piece_;  // by piece of model_; -1 for its unknown piece
};

}  // namespace warpchat
