// The vocabulary of a GGUF file: every token's text and kind, and the special tokens by role. From the keys
// tokenizer.ggml.*, checked against each other; Error names file and key.
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

// What is known of a token, one bit each. A text that ends answers in every known model makes its token a control token
// besides what the file calls it, as in llama.cpp.
enum TokenKind : uint8_t {
  kNormalToken = 1,       // also tokens that the file calls unused or gives no type
  kUnknownToken = 2,      // stands for text that the vocabulary cannot express
  kControlToken = 4,      // structure, not text
  kUserDefinedToken = 8,  // text that is one token wherever it occurs
  kByteToken = 16,        // "<0x0A>"
  kStripsRight = 32,      // the white space that follows it in a text is dropped
};
inline constexpr int kSpecialKinds = kUnknownToken | kControlToken | kUserDefinedToken;

struct TokenRoles {  // -1: none
  Token bos = -1, eos = -1, unknown = -1;
};

class Vocabulary {
 public:
  // defaults: bos and eos where the file does not name them; for unknown that is the first token of this type.
  Vocabulary(const GgufFile& file, TokenRoles defaults);

  uint32_t size() const { return static_cast<uint32_t>(kinds_.size()); }
  bool contains(Token token) const { return token >= 0 && static_cast<uint32_t>(token) < size(); }
  std::string_view text(Token token) const {
    return std::string_view(texts_).substr(starts_[token], starts_[token + 1] - starts_[token]);
  }
  bool is(Token token, int kinds) const { return (kinds_[token] & kinds) != 0; }  // of any of the kinds
  Token find(std::string_view text) const;                                        // -1 if none
  const std::vector<Token>& special_tokens() const { return special_; }           // ids that text may spell out, rising

  const TokenRoles& roles() const { return roles_; }
  std::span<const Token> end_of_generation() const { return ends_; }

 private:
  void read_texts(const GgufFile& file);
  void check_count(const GgufFile& file, std::string_view key) const;
  void read_kinds(const GgufFile& file);
  void read_roles(const GgufFile& file, TokenRoles defaults);
  void read_strip(const GgufFile& file);
  void mark_control_by_text();
  void add_end(Token token);

  std::string texts_;             // of all tokens, one after another
  std::vector<uint32_t> starts_;  // [size + 1] offsets in texts_
  std::vector<uint8_t> kinds_;    // [size] TokenKind bits
  std::vector<Token> special_;
  TokenRoles roles_;
  std::vector<Token> ends_;
  TextIndex index_;
};

// The value of a token's text "<0x0A>", or -1.
int byte_value(std::string_view text);

}  // namespace warpchat
