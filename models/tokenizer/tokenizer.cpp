#include "models/tokenizer/tokenizer.h"

#include <algorithm>

#include "models/text_format.h"
#include "models/tokenizer/bpe_tokenizer.h"
#include "models/tokenizer/compose.h"
#include "models/tokenizer/spm_tokenizer.h"
#include "models/tokenizer/vocabulary_tokenizer.h"
#include "models/utf8.h"

namespace warpchat {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{1} << 28;  // keeps positions within 31 bits, however spaces are encoded

const PreTokenizer& pre_tokenizer_of(const GgufFile& file) {
  // Files older than the key mean "default".
  const std::string_view name = file.get_string("tokenizer.ggml.pre", "default");
  const PreTokenizer* pre = find_pre_tokenizer(name);
  if (!pre) file.fail("key tokenizer.ggml.pre is \"" + printable(name) + "\", supported are " + pre_tokenizer_names());
  return *pre;
}

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::from(const GgufFile& file, MergeMethod method) {
  const std::string_view model = file.get_string("tokenizer.ggml.model");
  if (model == "gpt2") return std::make_unique<BpeTokenizer>(file, pre_tokenizer_of(file), method);
  if (model == "llama") return std::make_unique<SpmTokenizer>(file, method);
  file.fail("key tokenizer.ggml.model is \"" + printable(model) +
            "\", supported are gpt2 (byte-level BPE) and llama (SPM)");
}

bool Tokenizer::ends_generation(Token token) const {
  return std::ranges::find(end_of_generation(), token) != end_of_generation().end();
}

VocabularyTokenizer::VocabularyTokenizer(const GgufFile& file, const Defaults& defaults)
    : vocabulary_(file, defaults.roles),
      special_(vocabulary_),
      composes_(file.get_bool("tokenizer.ggml.normalizer.nfc", defaults.composes)) {
  constexpr std::string_view kAddBos = "tokenizer.ggml.add_bos_token";
  adds_bos_ = file.get_bool(kAddBos, defaults.adds_bos && bos() >= 0);
  notes_ = vocabulary_.notes();
  if (adds_bos_ && bos() < 0) {
    adds_bos_ = false;
    notes_.push_back("key " + std::string(kAddBos) + " is true, but there is no such token, so none is added");
  }
}

static void require_length(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    throw Error("cannot tokenize a text of " + counted(text.size(), "byte") + ": at most " + grouped(kMaxTextBytes) +
                " are possible; split it");
}

std::vector<Token> VocabularyTokenizer::encode(std::string_view text, bool parse_special, bool add_bos) const {
  require_length(text);
  std::string repaired;
  if (!is_valid_utf8(text)) text = repaired = replace_invalid_utf8(text);
  const TextRange all{0, text.size()};
  return encode_valid(text, std::span(&all, parse_special ? 0 : 1), add_bos);
}

std::vector<Token> VocabularyTokenizer::encode(std::string_view text, std::span<const TextRange> content,
                                               bool add_bos) const {
  require_length(text);
  if (!is_valid_utf8(text)) throw Error("cannot tokenize a prompt that is not valid UTF-8");
  return encode_valid(text, content, add_bos);
}

std::vector<Token> VocabularyTokenizer::encode_valid(std::string_view text, std::span<const TextRange> content,
                                                     bool add_bos) const {
  std::vector<Token> ids;
  std::string composed;
  if (add_bos && adds_bos_) ids.push_back(bos());
  for (const Fragment& fragment : special_.split(vocabulary_, text, content)) {
    if (fragment.token >= 0) {
      ids.push_back(fragment.token);
    } else {
      encode_text(composes_ ? compose_text(fragment.text, composed) : fragment.text, ids);
    }
  }
  return ids;
}

Token VocabularyTokenizer::checked(Token token) const {
  if (vocabulary_.contains(token)) return token;
  throw Error("token " + std::to_string(token) + " is outside the vocabulary of " +
              counted(vocabulary_.size(), "token"));
}

std::string VocabularyTokenizer::piece(Token token, bool with_control) const {
  if (!with_control && vocabulary_.is(checked(token), kControlToken | kUnknownToken)) return "";
  const std::string_view text = vocabulary_.text(checked(token));
  if (vocabulary_.is(token, kSpecialKinds)) return std::string(text);
  if (vocabulary_.is(token, kByteToken)) return std::string(1, static_cast<char>(byte_value(text)));
  return text_of_normal(token);
}

std::string decode(const Tokenizer& tokenizer, std::span<const Token> tokens, bool with_control) {
  std::string text;
  bool at_start = tokenizer.adds_space();
  for (const Token token : tokens) {
    const std::string piece = tokenizer.piece(token, with_control);
    text += std::string_view(piece).substr(at_start && piece.starts_with(' ') ? 1 : 0);
    at_start = tokenizer.adds_space() && tokenizer.is_special(token);
  }
  return text;
}

// Moves complete characters from `bytes` to `text`; invalid bytes become U+FFFD.
static void move_characters(std::string& bytes, std::string& text) {
  size_t done = 0;
  while (done < bytes.size()) {
    const Utf8Step step = first_character(std::string_view(bytes).substr(done));
    if (step.state == Utf8State::kIncomplete) break;
    text += step.state == Utf8State::kValid ? std::string_view(bytes).substr(done, step.bytes) : kReplacementCharacter;
    done += step.bytes;
  }
  bytes.erase(0, done);
}

std::string StreamDetokenizer::add(Token token) {
  std::string text;
  pending_ += tokenizer_.piece(token);
  move_characters(pending_, text);
  return text;
}

std::string StreamDetokenizer::flush() {
  std::string text(pending_.empty() ? std::string_view() : kReplacementCharacter);
  pending_.clear();
  return text;
}

}  // namespace warpchat
