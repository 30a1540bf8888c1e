// Small vocabularies for tokeniser tests: a GGUF file in memory whose fields can be changed first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "models/gguf_reader.h"
#include "models/tokenizer/byte_map.h"
#include "models/tokenizer/pre_split.h"
#include "models/tokenizer/tokenizer.h"
#include "models/utf8.h"
#include "tests/support/gguf/gguf_writer.h"

namespace warpchat::test {

enum TokenType : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct TestVocabulary {
  std::optional<std::string> model = "gpt2", pre = "gpt-2";
  std::vector<std::string> tokens;
  std::vector<int32_t> types;  // written if not empty
  std::vector<float> scores;   // written if not empty
  std::vector<std::string> merges;
  bool has_merges = true;
  std::map<std::string, uint32_t> ids;          // "bos_token_id" and the like
  std::map<std::string, int32_t> negative_ids;  // the same keys, signed
  std::map<std::string, bool> flags;            // "add_bos_token" and the like
  std::string name;                             // general.name

  Token add(const std::string& text, TokenType type = kNormal, float score = 0) {
    tokens.push_back(text), types.push_back(type);
    if (model == "llama") scores.push_back(score);
    return static_cast<Token>(tokens.size() - 1);
  }
  void add_merge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    add(left + right);
  }

  std::vector<std::byte> bytes() const {
    GgufWriter writer;
    const std::string ggml = "tokenizer.ggml.";
    if (!name.empty()) writer.add_string("general.name", name);
    if (model) writer.add_string(ggml + "model", *model);
    if (pre) writer.add_string(ggml + "pre", *pre);
    writer.add_strings(ggml + "tokens", tokens);
    if (!types.empty()) writer.add_ints(ggml + "token_type", types);
    if (!scores.empty()) writer.add_floats(ggml + "scores", scores);
    if (has_merges && model == "gpt2") writer.add_strings(ggml + "merges", merges);
    for (const auto& [key, id] : ids) writer.add_uint32(ggml + key, id);
    for (const auto& [key, id] : negative_ids) {
      std::vector<std::byte> payload(2 * sizeof(uint32_t));  // the type's number and the value
      const auto type = static_cast<uint32_t>(GgufType::kInt32);
      std::memcpy(payload.data(), &type, sizeof type);
      std::memcpy(payload.data() + sizeof type, &id, sizeof id);
      writer.add_encoded(ggml + key, payload);
    }
    for (const auto& [key, flag] : flags) writer.add_bool(ggml + key, flag);
    return writer.bytes();
  }

  std::unique_ptr<Tokenizer> tokenizer(MergeMethod method = MergeMethod::kSentencePieceIfExact) const {
    const std::vector<std::byte> file = bytes();
    return Tokenizer::from(GgufFile::view(file, "test.gguf"), method);
  }
};

// The 256 tokens of a byte-level vocabulary, without merges.
inline TestVocabulary byte_vocabulary() {
  TestVocabulary v;
  for (int byte = 0; byte < 256; ++byte) v.add(map_bytes(std::string(1, static_cast<char>(byte))));
  return v;
}

// <unk>, <s>, </s> and the 256 byte tokens of an SPM vocabulary.
inline TestVocabulary spm_vocabulary() {
  TestVocabulary v;
  v.model = "llama", v.pre.reset();
  v.add("<unk>", kUnknown), v.add("<s>", kControl), v.add("</s>", kControl);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) v.add({'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'}, kByte);
  return v;
}

// Several languages, code, digits, runs of white space.
inline constexpr std::string_view kTrainingText =
    "The quick brown fox jumps over the lazy dog; the other foxes don't, they're there and that's that.\n"
    "    for (int i = 0; i < n; ++i) {\n        total += weights[i] * inputs[i];\n    }\n\n"
    "Äpfel und Öl für die Prüfung, weil die Bäume grün sind. Это просто текст, который здесь стоит.\n"
    "你好，世界。你好，朋友。こんにちは世界。 12 345 6789 2024 2025   the   end\t\tof the text\r\n\r\n"
    "🙂🙂 👍🏽 e\xCC\x81 a\xCC\x88 naïve café\n";

using Symbols = std::vector<std::string>;

// The most frequent pair of neighbours; among equals, the first in text order.
inline std::optional<std::pair<std::string, std::string>> best_pair(const std::vector<Symbols>& words) {
  std::map<std::pair<std::string, std::string>, int> count;
  for (const Symbols& word : words)
    for (size_t i = 0; i + 1 < word.size(); ++i) ++count[{word[i], word[i + 1]}];
  std::optional<std::pair<std::string, std::string>> best;
  int max = 1;
  for (const auto& [pair, n] : count)
    if (n > max) best = pair, max = n;
  return best;
}

inline void join_everywhere(std::vector<Symbols>& words, const std::pair<std::string, std::string>& pair) {
  for (Symbols& word : words)
    for (size_t i = 0; i + 1 < word.size(); ++i)
      if (word[i] == pair.first && word[i + 1] == pair.second) {
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<long>(i) + 1);
      }
}

// Byte-pair encoding trained on kTrainingText: merges in order, most frequent first. Pairs occur at least twice.
inline std::vector<std::pair<std::string, std::string>> learn_merges(std::vector<Symbols> words, int n_merges) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (int i = 0; i < n_merges; ++i) {
    const auto pair = best_pair(words);
    if (!pair) break;
    merges.push_back(*pair);
    join_everywhere(words, *pair);
  }
  return merges;
}

// In training order: sentencepiece is exact for it.
inline TestVocabulary learnt_vocabulary(const std::string& pre = "qwen2", int n_merges = 300) {
  TestVocabulary v = byte_vocabulary();
  v.pre = pre;
  std::vector<Symbols> words;
  for (const std::string_view word : PreSplitter(*find_pre_tokenizer(pre)).split(kTrainingText)) {
    words.emplace_back();
    for (const char byte : word) words.back().push_back(map_bytes(std::string(1, byte)));
  }
  for (const auto& [left, right] : learn_merges(words, n_merges)) v.add_merge(left, right);
  v.ids["eos_token_id"] = static_cast<uint32_t>(v.add("<|endoftext|>", kControl));
  v.ids["bos_token_id"] = v.ids["eos_token_id"];
  v.add("<|im_start|>", kControl), v.add("<|im_end|>", kControl), v.add("<think>", kUserDefined);
  return v;
}

inline TestVocabulary learnt_spm_vocabulary(int n_merges = 250) {
  TestVocabulary v = spm_vocabulary();
  std::vector<Symbols> words(1);
  std::map<std::string, int> characters;
  for (std::string_view text = kTrainingText; !text.empty();) {
    const std::string character(text.substr(0, first_character(text).bytes));
    text.remove_prefix(character.size());
    words[0].push_back(character == " " ? "\xE2\x96\x81" : character);
    ++characters[words[0].back()];
  }
  float score = 0;
  for (const auto& [left, right] : learn_merges(words, n_merges)) v.add(left + right, kNormal, --score);
  for (const auto& [character, count] : characters)
    if (count > 1) v.add(character, kNormal, --score);
  v.add("<|im_start|>", kControl), v.add("<think>", kUserDefined);
  return v;
}

// Any valid UTF-8: mostly characters with a meaning for tokenisers, and every other kind.
inline std::string random_text(std::mt19937& random, int max_parts = 40) {
  static const std::vector<std::string> kParts = {
      " ",    "  ",       "\n",           "\r\n",         "\t",    "'s",    "'LL",  "'",   "the",
      "The",  "fox",      "12",           "3456",         "==",    "你好",  "世界", "é",   "e\xCC\x81",
      "🙂", "👍🏽", "<|im_start|>", "<think>",      "<|",    "|>",    "</s>", "<s>", "Ġ",
      "[",    "\xC2\xA0", "\xE3\x80\x80", "\xE1\xA0\x8E", "Bäume", "текст", "\x01", "\x7F"};
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  std::string text;
  for (uint32_t i = below(static_cast<uint32_t>(max_parts)); i > 0; --i) {
    if (below(3) > 0) {
      text += kParts[below(static_cast<uint32_t>(kParts.size()))];
      continue;
    }
    constexpr uint32_t kEnds[] = {0x80, 0x800, 0xD800, 0x110000};  // ends of the ranges of one to four bytes
    const uint32_t size = below(4);
    uint32_t character = below(kEnds[size]);
    if (character >= 0xD800 && character < 0xE000) character = 0xFFFD;
    append_utf8(character, text);
  }
  return text;
}

}  // namespace warpchat::test
