// SPM, tokenizer.ggml.model "llama": spaces become U+2581, neighbours merge if their joined text is a token, best score
// first, and characters without a token become byte tokens.
#pragma once
#include <array>
#include <memory>

#include "models/tokenizer/merger.h"
#include "models/tokenizer/sentencepiece_model.h"
#include "models/tokenizer/vocabulary_tokenizer.h"

namespace warpchat {

class SpmTokenizer final : public VocabularyTokenizer {
 public:
  SpmTokenizer(const GgufFile& file, MergeMethod method);
  bool adds_space() const override { return adds_space_; }

 private:
  void encode_text(std::string_view text, std::vector<Token>& ids) const override;
  std::string text_of_normal(Token token) const override;
  bool can_merge(Token token) const;
  void build_model(const std::vector<float>& scores);
  void rank_scores(const std::vector<float>& scores);
  void merge_own(std::string_view text, std::vector<Token>& ids) const;
  void append_bytes(std::string_view characters, std::vector<Token>& ids) const;

  bool adds_space_;
  std::array<Token, 256> token_of_byte_;       // -1 if the vocabulary lacks the byte
  std::unique_ptr<SentencePieceModel> model_;  // null: merge_own
  std::vector<Token> token_of_piece_;          // by piece of model_; -1 for its unknown piece
  std::vector<uint32_t> rank_;  // for merge_own: [n_vocab], rank 0 is the best score; equal scores share a rank
};

}  // namespace warpchat
