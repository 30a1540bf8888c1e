// Text to token ids and back, for the tokeniser families of GGUF files: byte-level BPE ("gpt2") and SPM ("llama"). Ids
// equal llama.cpp's, except that Qwen's tokenisers compose text (NFC) as transformers does. Valid UTF-8 text survives
// encode and decode, with three exceptions: composed text stays composed, bytes without a token in a byte-level
// vocabulary are lost, and SPM, which encodes spaces as U+2581, reads U+2581 as a space.
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

// Merges by sentencepiece if it gives the same ids, else by our implementation; or always by our implementation.
enum class MergeMethod { kSentencePieceIfExact, kOwn };

class Tokenizer {
 public:
  // Reads tokenizer.ggml.* and checks its arrays for consistency. Error with file and key. The file may be closed
  // afterwards.
  static std::unique_ptr<Tokenizer> from(const GgufFile& file, MergeMethod method = MergeMethod::kSentencePieceIfExact);
  virtual ~Tokenizer() = default;

  // Ids of UTF-8 text; invalid bytes count as U+FFFD. parse_special: texts of control tokens become their ids;
  // user-defined tokens always do. add_bos: prepends bos if the file wants it. A byte without a token in a byte-level
  // vocabulary is dropped, as in llama.cpp. Thread-safe.
  virtual std::vector<Token> encode(std::string_view text, bool parse_special, bool add_bos) const = 0;
  // The same for a rendered template: control tokens' texts become ids only outside content. content: sorted byte
  // ranges. Error for invalid UTF-8.
  virtual std::vector<Token> encode(std::string_view text, std::span<const TextRange> content, bool add_bos) const = 0;

  // Bytes of one token (may be part of a UTF-8 character). Control and unknown tokens give "" unless with_control. Here
  // and below, a token outside the vocabulary is an Error.
  virtual std::string piece(Token token, bool with_control = false) const = 0;

  virtual uint32_t n_vocab() const = 0;
  virtual bool is_control(Token token) const = 0;
  virtual bool is_unused(Token token) const = 0;        // stands for no text, such as padding
  virtual bool is_special(Token token) const = 0;       // control, unknown or user-defined: never merged
  virtual Token find(std::string_view text) const = 0;  // id of the token with this text, or -1
  virtual Token bos() const = 0;                        // -1 if none
  virtual Token eos() const = 0;
  virtual bool adds_bos() const = 0;
  virtual bool adds_space() const = 0;  // SPM: inserts a space before text at the start or after a special token
  virtual bool composes() const = 0;    // text is composed (NFC) between special tokens, before it is split
  // End-of-generation tokens: eos, eot, eom, those behind a piece of code (fim_pad, ...) and those whose text ends an
  // answer in some model, such as <|im_end|>.
  virtual std::span<const Token> end_of_generation() const = 0;
  bool ends_generation(Token token) const;
  // Merge method for the status line: "sentencepiece" or "rank-ordered merges (why)".
  virtual std::string_view method() const = 0;
  // What in the file was ignored, and why: a sentence each, for the log.
  virtual const std::vector<std::string>& notes() const = 0;
};

// Text of these ids: the pieces without the spaces that an SPM tokeniser inserts at the start or after a special token.
std::string decode(const Tokenizer& tokenizer, std::span<const Token> tokens, bool with_control = false);

// Joins pieces into text, without emitting partial UTF-8 characters: incomplete bytes wait for the next piece.
class StreamDetokenizer {
 public:
  explicit StreamDetokenizer(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string add(Token token);  // newly completed characters; invalid bytes as U+FFFD
  std::string flush();           // the rest; an incomplete character as U+FFFD

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;
};

}  // namespace warpchat
