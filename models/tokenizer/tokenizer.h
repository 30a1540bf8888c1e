// Text to token ids and back, for the two tokeniser families in GGUF files: byte-level BPE ("gpt2") and SPM ("llama").
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"
#include "models/token.h"

namespace warpchat {


class Tokenizer {
 public:
  // Reads tokenizer.ggml.*; checks that its arrays agree with each other. Error names file and key.
  static std::unique_ptr<Tokenizer> from(const GgufFile& file);
  virtual ~Tokenizer() = default;

  // Ids of valid UTF-8 text. With parse_special, the texts of control and user-defined tokens become their ids.
  // add_bos: put bos in front if the file says that this model wants it.
  virtual std::vector<Token> encode(std::string_view text, bool parse_special, bool add_bos) const = 0;

  // The bytes of one token (may be part of a UTF-8 character). Control tokens give "" unless with_control.
  virtual std::string piece(Token token, bool with_control = false) const = 0;

  virtual uint32_t n_vocab() const = 0;
  virtual bool is_control(Token token) const = 0;
  virtual Token find(std::string_view text) const = 0;  // id of the token whose text this is, or -1
  virtual Token bos() const = 0;                        // -1 if none
  virtual Token eos() const = 0;
  virtual bool adds_bos() const = 0;
  // Tokens that end an answer: eos, eot and <|im_end|>, <|endoftext|>, <|eot_id|> where they are control tokens.
  virtual std::span<const Token> end_of_generation() const = 0;
  bool ends_generation(Token token) const;
  // How the ids are computed, for the status line: "sentencepiece" or "rank-ordered merges (why)".
  virtual std::string_view method() const = 0;
};

// Joins pieces into text and never emits part of a UTF-8 character: incomplete bytes wait for the next piece.
class StreamDetokenizer {
 public:
  explicit StreamDetokenizer(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string add(Token token);  // the complete characters that are new
  std::string flush();           // what is left, invalid bytes as U+FFFD

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;
};

}  // namespace warpchat
