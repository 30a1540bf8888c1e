// Common part of both tokeniser families: vocabulary, special tokens, bos.
#pragma once
#include <string>
#include <vector>

#include "models/tokenizer/special_tokens.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/vocabulary.h"

namespace warpchat {

class VocabularyTokenizer : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view text, bool parse_special, bool add_bos) const final;
  std::vector<Token> encode(std::string_view text, std::span<const TextRange> content, bool add_bos) const final;
  std::string piece(Token token, bool with_control) const final;
  uint32_t n_vocab() const final { return vocabulary_.size(); }
  bool is_control(Token token) const final { return vocabulary_.is(checked(token), kControlToken); }
  bool is_unused(Token token) const final { return vocabulary_.is(checked(token), kUnusedToken); }
  bool is_special(Token token) const final { return vocabulary_.is(checked(token), kSpecialKinds); }
  Token find(std::string_view text) const final { return vocabulary_.find(text); }
  Token bos() const final { return vocabulary_.roles().bos; }
  Token eos() const final { return vocabulary_.roles().eos; }
  bool adds_bos() const final { return adds_bos_; }
  bool composes() const final { return composes_; }
  std::span<const Token> end_of_generation() const final { return vocabulary_.end_of_generation(); }
  std::string_view method() const final { return method_; }
  const std::vector<std::string>& notes() const final { return notes_; }

 protected:
  struct Defaults {  // for what a file may say itself
    TokenRoles roles;
    bool adds_bos = false, composes = false;
  };
  VocabularyTokenizer(const GgufFile& file, const Defaults& defaults);

  // Appends ids of valid, non-empty text without special tokens: the whole text, or a part between special tokens.
  virtual void encode_text(std::string_view text, std::vector<Token>& ids) const = 0;
  virtual std::string text_of_normal(Token token) const = 0;

  Vocabulary vocabulary_;
  std::string method_;

 private:
  std::vector<Token> encode_valid(std::string_view text, std::span<const TextRange> content, bool add_bos) const;
  Token checked(Token token) const;

  SpecialTokens special_;
  bool adds_bos_, composes_;
  std::vector<std::string> notes_;
};

}  // namespace warpchat
