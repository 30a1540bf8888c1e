// Any text, and any merges over two letters. Both merge methods give the same ids, and valid text comes back, at once
// and token by token. The first byte chooses the vocabulary, the second whether special tokens are parsed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "models/tokenizer/compose.h"
#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

struct Pair {
  explicit Pair(const test::TestVocabulary& v) : automatic(v.tokenizer()), own(v.tokenizer(MergeMethod::kOwn)) {}
  std::unique_ptr<Tokenizer> automatic, own;
};

void check_round_trip(const Tokenizer& tokenizer, const std::vector<Token>& ids, std::string_view text,
                      bool parse_special) {
  const bool writes_spaces_as_marks = tokenizer.adds_space();  // so the mark U+2581 is read as a space
  if (!is_valid_utf8(text) || (writes_spaces_as_marks && text.find("\xE2\x96\x81") != std::string_view::npos)) return;
  const std::string back = decode(tokenizer, ids, parse_special);
  if (!tokenizer.composes()) return require(back == text);
  std::string composed, composed_back;
  require(compose_text(back, composed_back) == compose_text(text, composed));
}

void check_stream(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  std::string streamed, joined;
  StreamDetokenizer stream(tokenizer);
  for (const Token token : ids) {
    const std::string added = stream.add(token);
    require(is_valid_utf8(added));
    streamed += added;
    joined += tokenizer.piece(token);
  }
  require(streamed + stream.flush() == joined);  // the input was repaired, so no token holds a broken character
}

// The second half is content.
void check_content(const Pair& pair, std::string_view text) {
  if (!is_valid_utf8(text)) return;
  const TextRange half{text.size() / 2, text.size()};
  const std::vector<Token> ids = pair.automatic->encode(text, std::span(&half, 1), false);
  require(ids == pair.own->encode(text, std::span(&half, 1), false));
  check_round_trip(*pair.own, ids, text, true);
}

void check_text(const Pair& pair, std::string_view text, bool parse_special) {
  const std::vector<Token> ids = pair.automatic->encode(text, parse_special, true);
  require(ids == pair.own->encode(text, parse_special, true));
  const bool has_bos = pair.own->adds_bos();
  require(!has_bos || ids.front() == pair.own->bos());
  const std::vector<Token> without_bos(ids.begin() + has_bos, ids.end());
  check_round_trip(*pair.own, without_bos, text, parse_special);
  check_content(pair, text);
  check_stream(*pair.own, without_bos);
}

// Merges of the letters a and b: every byte of `choices` joins two known tokens.
test::TestVocabulary chosen_vocabulary(std::string_view choices) {
  test::TestVocabulary v = test::byte_vocabulary();
  std::vector<std::string> parts = {"a", "b"};
  for (const char choice : choices) {
    const auto byte = static_cast<uint8_t>(choice);
    const std::string left = parts[(byte & 15) % parts.size()], right = parts[(byte >> 4) % parts.size()];
    v.merges.push_back(left + " " + right);
    if (std::ranges::find(v.tokens, left + right) != v.tokens.end()) continue;
    v.add(left + right);
    parts.push_back(left + right);
  }
  return v;
}

void run(std::string_view data) {
  static const Pair kFixed[] = {Pair(test::learnt_vocabulary("qwen2")), Pair(test::learnt_vocabulary("smollm")),
                                Pair(test::learnt_vocabulary("default")), Pair(test::learnt_spm_vocabulary())};
  if (data.size() < 2) return;
  const size_t vocabulary = static_cast<uint8_t>(data[0]) % 5;
  const bool parse_special = data[1] & 1;
  data.remove_prefix(2);
  if (vocabulary < 4) return check_text(kFixed[vocabulary], data, parse_special);
  const size_t n_merges = std::min<size_t>(data.size() / 2, 12);
  std::string word(data.substr(n_merges));
  for (char& letter : word) letter = letter & 1 ? 'a' : 'b';
  check_text(Pair(chosen_vocabulary(data.substr(0, n_merges))), word, parse_special);
}

}  // namespace
}  // namespace warpchat

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  warpchat::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
