// Text to token ids and back, for the two tokeniser families in GGUF files: byte-level BPE ("gpt2") and SPM ("llama").
// Ids are llama.cpp's. Any valid UTF-8 text survives encode and decode, except for what a vocabulary cannot say: bytes
// for which a byte-level one has no token are lost, and SPM, which writes spaces as U+2581, reads U+2581 as a space.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/gguf_reader.h"
#include "models/text_range.h"
#include "models/token.h"

namespace warpchat {

// How adjacent pieces are joined: by sentencepiece where it gives the same ids (else by our own merges), or by our own.
enum class MergeMethod { kSentencePieceIfExact, kOwn };

class Tokenizer {
 public:
  // Reads tokenizer.ggml.*; checks that its arrays agree with each other. Error names file and key. The file may be
  // closed afterwards.
  static std::unique_ptr<Tokenizer> from(const GgufFile& file, MergeMethod method = MergeMethod::kSentencePieceIfExact);
  virtual ~Tokenizer() = default;

  // Ids of UTF-8 text; a byte that belongs to no character counts as U+FFFD. With parse_special, the texts of control
  // and user-defined tokens become their ids; user-defined ones do so always. add_bos: put bos in front if the file
  // says that this model wants it. A byte for which a byte-level vocabulary has no token gives none, as in llama.cpp.
  // May be called from several threads at once.
  virtual std::vector<Token> encode(std::string_view text, bool parse_special, bool add_bos) const = 0;
  // The same of a text that a template wrote around content: the texts of control tokens become their ids only where
  // none of their bytes is content. content: rising ranges of bytes. Error if the text is not valid UTF-8.
  virtual std::vector<Token> encode(std::string_view text, std::span<const TextRange> content, bool add_bos) const = 0;

  // The bytes of one token (may be part of a UTF-8 character). Control and unknown tokens give "" unless with_control.
  // Here and below, a token outside the vocabulary is an Error.
  virtual std::string piece(Token token, bool with_control = false) const = 0;

  virtual uint32_t n_vocab() const = 0;
  virtual bool is_control(Token token) const = 0;
  virtual bool is_special(Token token) const = 0;       // control, unknown or user-defined: its text is not merged
  virtual Token find(std::string_view text) const = 0;  // id of the token whose text this is, or -1
  virtual Token bos() const = 0;                        // -1 if none
  virtual Token eos() const = 0;
  virtual bool adds_bos() const = 0;
  virtual bool adds_space() const = 0;  // SPM: a space goes before text that starts or follows a special token
  // Tokens that end an answer: eos, eot, eom and <|im_end|>, <|endoftext|>, <|eot_id|>, <|eom_id|> where they are
  // control tokens.
  virtual std::span<const Token> end_of_generation() const = 0;
  bool ends_generation(Token token) const;
  // How the ids are computed, for the status line: "sentencepiece" or "rank-ordered merges (why)".
  virtual std::string_view method() const = 0;
};

// The text of which these are the ids: the pieces, less the space that an SPM tokeniser puts before text that starts or
// follows a special token.
std::string decode(const Tokenizer& tokenizer, std::span<const Token> tokens, bool with_control = false);

// Joins pieces into text and never emits part of a UTF-8 character: incomplete bytes wait for the next piece.
class StreamDetokenizer {
 public:
  explicit StreamDetokenizer(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string add(Token token);  // the complete characters that are new; invalid bytes as U+FFFD
  std::string flush();           // what is left, an incomplete character as U+FFFD

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;
};

}  // namespace warpchat
