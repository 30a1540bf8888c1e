// Vocabulary of a GGUF file: texts and kinds of tokens, and special tokens by role, from the keys tokenizer.ggml.*.
// Error with file and key if they are inconsistent.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"
#include "models/token.h"
#include "models/tokenizer/text_index.h"

namespace warpchat {

// Properties of a token as bits. A text that ends answers in every known model makes its token a control token, in
// addition to its type in the file, as in llama.cpp.
enum TokenKind : uint8_t {
  kNormalToken = 1,       // also tokens without type
  kUnknownToken = 2,      // represents text that the vocabulary cannot express
  kControlToken = 4,      // structure, not text
  kUserDefinedToken = 8,  // always one token, wherever its text occurs
  kByteToken = 16,        // "<0x0A>"
  kStripsRight = 32,      // white space after it is dropped
  kUnusedToken = 64,      // stands for no text; besides, a normal token
};
inline constexpr int kSpecialKinds = kUnknownToken | kControlToken | kUserDefinedToken;

struct TokenRoles {  // -1: none
  Token bos = -1, eos = -1, unknown = -1;
};

class Vocabulary {
 public:
  // defaults: bos and eos if the file lacks them; `unknown` defaults to the first token of that type.
  Vocabulary(const GgufFile& file, TokenRoles defaults);

  uint32_t size() const { return static_cast<uint32_t>(kinds_.size()); }
  bool contains(Token token) const { return token >= 0 && static_cast<uint32_t>(token) < size(); }
  std::string_view text(Token token) const {
    return std::string_view(texts_).substr(starts_[token], starts_[token + 1] - starts_[token]);
  }
  bool is(Token token, int kinds) const { return (kinds_[token] & kinds) != 0; }  // has any of the kinds
  Token find(std::string_view text) const;  // -1 if none; the first of several tokens with the same text
  const std::vector<Token>& special_tokens() const { return special_; }  // ids, ascending

  const TokenRoles& roles() const { return roles_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what in the file was ignored, and why
  std::span<const Token> end_of_generation() const { return ends_; }

 private:
  void read_texts(const GgufFile& file);
  void check_count(const GgufFile& file, std::string_view key) const;
  void read_kinds(const GgufFile& file);
  void read_roles(const GgufFile& file, TokenRoles defaults);
  void read_strip(const GgufFile& file);
  void mark_control_by_text();
  Token read_role(const GgufFile& file, std::string_view key, Token absent);
  bool ends_nothing(std::string_view end) const;
  void add_end(Token token);

  std::string texts_;             // all tokens' texts, concatenated
  std::vector<uint32_t> starts_;  // [size + 1] offsets in texts_
  std::vector<uint8_t> kinds_;    // [size] TokenKind bits
  std::vector<Token> special_;
  TokenRoles roles_;
  std::vector<Token> ends_;
  TextIndex index_;
  std::vector<std::string> notes_;
};

// Value of a token's text "<0x0A>", or -1.
int byte_value(std::string_view text);

}  // namespace warpchat
