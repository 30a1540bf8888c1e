#include "models/tokenizer/bpe_tokenizer.h"

#include <unordered_map>

#include "models/tokenizer/byte_map.h"

namespace warpchat {

BpeTokenizer::BpeTokenizer(const GgufFile& file, const PreTokenizer& pre, MergeMethod method)
    : VocabularyTokenizer(file, {.roles = {}, .adds_bos = pre.adds_bos, .composes = pre.composes}),
      splitter_(pre),
      whole_words_(pre.whole_words) {
  for (int byte = 0; byte < 256; ++byte)
    token_of_byte_[byte] = vocabulary_.find(mapped_byte(static_cast<uint8_t>(byte)));
  const std::vector<MergeRule> rules = read_merge_rules(file, vocabulary_);
  MergeTable table(rules);
  const std::string why = method == MergeMethod::kOwn ? "asked for" : why_pairs_matter(rules, table, vocabulary_);
  if (why.empty()) {
    build_model(rules);
    method_ = "sentencepiece";
  } else {
    table_ = std::move(table);
    method_ = "rank-ordered merges (" + why + ")";
  }
}

void BpeTokenizer::build_model(const std::vector<MergeRule>& rules) {
  SentencePieceModelBytes bytes;
  const auto add = [&](Token token, float score) {
    bytes.add(vocabulary_.text(token), score);
    token_of_piece_.push_back(token);
  };
  for (const Token token : token_of_byte_)
    if (token >= 0) add(token, 0);
  for (size_t rank = 0; rank < rules.size(); ++rank) add(rules[rank].result, -static_cast<float>(rank));
  token_of_piece_.push_back(-1);
  model_ = std::make_unique<SentencePieceModel>(std::move(bytes), " ");  // the alphabet has no space
}

void BpeTokenizer::encode_text(std::string_view text, std::vector<Token>& ids) const {
  struct Known {
    size_t from, to;  // range of this word's ids
  };
  std::unordered_map<std::string_view, Known> known;  // cache, since words repeat
  Merger merger;
  for (const std::string_view word : splitter_.split(text)) {
    const size_t from = ids.size();
    if (const auto seen = known.find(word); seen != known.end()) {
      for (size_t i = seen->second.from; i < seen->second.to; ++i) ids.push_back(ids[i]);
      continue;
    }
    encode_word(word, merger, ids);
    known.emplace(word, Known{from, ids.size()});
  }
}

void BpeTokenizer::encode_word(std::string_view word, Merger& merger, std::vector<Token>& ids) const {
  if (whole_words_) {
    if (const Token token = vocabulary_.find(map_bytes(word)); token >= 0) return ids.push_back(token);
  }
  if (model_) {
    for (const FoundPiece& found : model_->encode(map_bytes(word)))
      if (const Token token = token_of_piece_[found.piece]; token >= 0) ids.push_back(token);
    return;
  }
  merger.clear();
  for (uint32_t i = 0; i < word.size(); ++i) merger.add(i, i + 1, token_of_byte_[static_cast<uint8_t>(word[i])]);
  merger.merge([&](const Symbol& left, const Symbol& right) { return table_->find(left.token, right.token); },
               [&](const Symbol& symbol) {
                 if (symbol.token >= 0) ids.push_back(symbol.token);
               });
}

std::string BpeTokenizer::text_of_normal(Token token) const { return unmap_bytes(vocabulary_.text(token)); }

}  // namespace warpchat
