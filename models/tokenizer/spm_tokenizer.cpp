#include "models/tokenizer/spm_tokenizer.h"

#include <algorithm>

#include "models/utf8.h"

namespace warpchat {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (size_t at; (at = text.find(from)) != std::string_view::npos; text.remove_prefix(at + from.size()))
    result.append(text.substr(0, at)).append(to);
  return result.append(text);
}

}  // namespace

SpmTokenizer::SpmTokenizer(const GgufFile& file, MergeMethod method)
    : VocabularyTokenizer(file, {.roles = {.bos = 1, .eos = 2}, .adds_bos = true}),
      adds_space_(file.get_bool("tokenizer.ggml.add_space_prefix", true)) {
  const std::vector<float> scores = file.get_floats("tokenizer.ggml.scores");  // [n_vocab], finite
  token_of_byte_.fill(-1);
  for (Token token = 0; vocabulary_.contains(token); ++token)
    if (vocabulary_.is(token, kByteToken)) token_of_byte_[byte_value(vocabulary_.text(token))] = token;
  if (std::ranges::find(token_of_byte_, -1) != token_of_byte_.end() && vocabulary_.roles().unknown < 0)
    file.fail(
        "key tokenizer.ggml.tokens lacks byte tokens (\"<0x00>\" to \"<0xFF>\") and there is no "
        "tokenizer.ggml.unknown_token_id in their place");
  if (method == MergeMethod::kOwn) {
    rank_scores(scores);
    method_ = "rank-ordered merges (asked for)";
  } else {
    build_model(scores);
    method_ = "sentencepiece";
  }
}

// Control and byte tokens are not text: they only result from special tokens and missing characters. Of several tokens
// with one text, the first counts.
bool SpmTokenizer::can_merge(Token token) const {
  return !vocabulary_.is(token, kControlToken | kUnknownToken | kByteToken) &&
         vocabulary_.find(vocabulary_.text(token)) == token;
}

void SpmTokenizer::build_model(const std::vector<float>& scores) {
  SentencePieceModelBytes bytes;
  for (Token token = 0; vocabulary_.contains(token); ++token) {
    if (!can_merge(token)) continue;
    bytes.add(vocabulary_.text(token), scores[token]);
    token_of_piece_.push_back(token);
  }
  token_of_piece_.push_back(-1);
  std::string unknown_text = " ";  // any text that is no piece
  while (vocabulary_.find(unknown_text) >= 0) unknown_text += ' ';
  model_ = std::make_unique<SentencePieceModel>(std::move(bytes), unknown_text);
}

void SpmTokenizer::rank_scores(const std::vector<float>& scores) {
  std::vector<float> distinct = scores;
  std::ranges::sort(distinct, std::greater{});
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const float score : scores)
    rank_.push_back(
        static_cast<uint32_t>(std::ranges::lower_bound(distinct, score, std::greater{}) - distinct.begin()));
}

void SpmTokenizer::encode_text(std::string_view text, std::vector<Token>& ids) const {
  std::string marked = adds_space_ ? std::string(kSpaceMark) : std::string();
  marked += replace_all(text, " ", kSpaceMark);
  if (!model_) return merge_own(marked, ids);
  for (const FoundPiece& found : model_->encode(marked)) {
    if (const Token token = token_of_piece_[found.piece]; token >= 0) {
      ids.push_back(token);
    } else {
      append_bytes(found.text, ids);
    }
  }
}

void SpmTokenizer::merge_own(std::string_view text, std::vector<Token>& ids) const {
  const auto token_at = [&](uint32_t begin, uint32_t end) {
    const Token token = vocabulary_.find(text.substr(begin, end - begin));
    return token >= 0 && can_merge(token) ? token : -1;
  };
  Merger merger;
  for (uint32_t begin = 0; begin < text.size();) {
    const auto end = static_cast<uint32_t>(begin + first_character(text.substr(begin)).bytes);
    merger.add(begin, end, token_at(begin, end));
    begin = end;
  }
  merger.merge(
      [&](const Symbol& left, const Symbol& right) {
        const Token token = token_at(left.begin, right.end);
        return token < 0 ? Join{} : Join{rank_[token], token};
      },
      [&](const Symbol& symbol) {
        if (symbol.token >= 0) return ids.push_back(symbol.token);
        append_bytes(text.substr(symbol.begin, symbol.end - symbol.begin), ids);
      });
}

void SpmTokenizer::append_bytes(std::string_view characters, std::vector<Token>& ids) const {
  while (!characters.empty()) {
    const std::string_view character = characters.substr(0, first_character(characters).bytes);
    const auto token_of = [this](char byte) { return token_of_byte_[static_cast<uint8_t>(byte)]; };
    if (std::ranges::all_of(character, [&](char byte) { return token_of(byte) >= 0; })) {
      for (const char byte : character) ids.push_back(token_of(byte));
    } else {
      ids.push_back(vocabulary_.roles().unknown);
    }
    characters.remove_prefix(character.size());
  }
}

std::string SpmTokenizer::text_of_normal(Token token) const {
  return replace_all(vocabulary_.text(token), kSpaceMark, " ");
}

}  // namespace warpchat
