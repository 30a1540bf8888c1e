#include "tests/support/tiny_vocabulary.h"

#include <cassert>
#include <string_view>

namespace warpchat {
namespace {

enum TokenType : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct Tokens {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;  // SPM only; a higher score merges first
  void add(std::string text, TokenType type, float score = 0) {
    texts.push_back(std::move(text)), types.push_back(type), scores.push_back(score);
  }
};

// Pairs in merge order: each part is a byte or an earlier pair.
constexpr std::string_view kMerges[] = {
    "Ġ t",   "Ġ a",    "h e",   "i n", "r e",     "o n",  "Ġt he", "e r",  "Ġ s",   "a t",  "Ġ w",   "n d",
    "Ġ o",   "o r",    "Ġ i",   "i s", "o u",     "Ġ b",  "in g",  "Ġ f",  "Ġa nd", "Ġ H",  "e l",   "l o",
    "el lo", "H ello", "Ġw or", "l d", "Ġwor ld", "Ġo f", "Ġi s",  "Ġt o", "Ġ Ġ",   "y ou", "Ġ you",
};

constexpr std::string_view kPieces[] = {"▁",  "t",  "h",    "e",      "a",    "o",      "n",  "i",    "s",
                                        "r",  "l",  "d",    "w",      "H",    "▁t",     "he", "▁the", "in",
                                        "er", "on", "▁a",   "nd",     "▁and", "ll",     "lo", "ello", "or",
                                        "ld", "▁w", "▁wor", "▁world", "▁H",   "▁Hello", "is", "▁is"};

constexpr std::string_view kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
    "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

std::string utf8(uint32_t code_point) {  // below U+0800
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xc0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 63))};
}

// GPT-2's letters for bytes: printable Latin-1 maps to itself, other bytes to U+0100 and up, in order.
std::vector<std::string> byte_letters() {
  std::vector<std::string> letters;
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
    letters.push_back(utf8(printable ? byte : next++));
  }
  return letters;
}

Tokens byte_bpe_tokens() {
  Tokens tokens;
  for (const std::string& letter : byte_letters()) tokens.add(letter, kNormal);
  for (std::string_view pair : kMerges) {
    const size_t space = pair.find(' ');
    tokens.add(std::string(pair.substr(0, space)) + std::string(pair.substr(space + 1)), kNormal);
  }
  for (const char* control : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) tokens.add(control, kControl);
  return tokens;
}

Tokens spm_tokens() {
  Tokens tokens;
  tokens.add("<unk>", kUnknown), tokens.add("<s>", kControl), tokens.add("</s>", kControl);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) tokens.add({'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'}, kByte);
  float score = 0;
  for (std::string_view piece : kPieces) tokens.add(std::string(piece), kNormal, --score);
  for (const char* control : {"<|im_start|>", "<|im_end|>"}) tokens.add(control, kControl);
  return tokens;
}

Tokens tokens_of(TinyVocabulary kind) { return kind == TinyVocabulary::kSpm ? spm_tokens() : byte_bpe_tokens(); }

}  // namespace

uint32_t vocabulary_size(TinyVocabulary kind) { return static_cast<uint32_t>(tokens_of(kind).texts.size()); }

void add_vocabulary(GgufWriter& writer, TinyVocabulary kind, uint32_t n_vocab, const std::vector<AddedToken>& added) {
  Tokens tokens = tokens_of(kind);
  const auto own = static_cast<uint32_t>(tokens.texts.size());
  for (const AddedToken& token : added) tokens.add(token.text, token.is_control ? kControl : kUserDefined);
  assert(n_vocab >= tokens.texts.size());
  for (auto n = static_cast<uint32_t>(tokens.texts.size()); n < n_vocab; ++n)
    tokens.add("[PAD" + std::to_string(n) + "]", kUnused);
  const bool spm = kind == TinyVocabulary::kSpm;
  writer.add_string("tokenizer.ggml.model", spm ? "llama" : "gpt2");
  writer.add_string("tokenizer.ggml.pre", spm ? "default" : "qwen2");
  writer.add_strings("tokenizer.ggml.tokens", tokens.texts);
  writer.add_ints("tokenizer.ggml.token_type", tokens.types);
  if (spm) {
    writer.add_floats("tokenizer.ggml.scores", tokens.scores);
    writer.add_uint32("tokenizer.ggml.unknown_token_id", 0);
  } else {
    writer.add_strings("tokenizer.ggml.merges", std::vector<std::string>(std::begin(kMerges), std::end(kMerges)));
  }
  writer.add_uint32("tokenizer.ggml.bos_token_id", spm ? 1 : own - 3);
  writer.add_uint32("tokenizer.ggml.eos_token_id", own - 1);
  writer.add_bool("tokenizer.ggml.add_bos_token", spm);
  writer.add_string("tokenizer.chat_template", kChatMl);
}

}  // namespace warpchat
