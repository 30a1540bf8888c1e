#include "engine/grammar/token_trie.h"

#include <algorithm>

#include "engine/grammar/expressions.h"
#include "models/utf8.h"

namespace warpchat::grammar {

namespace {

constexpr size_t kMaxTokenBytes = kFarBytes;  // longer ones are never allowed

// Characters of a text that may stand in a JSON string as they are, the last perhaps incomplete. 0: another text.
uint32_t count_plain(std::string_view text) {
  uint32_t n = 0;
  while (!text.empty()) {
    const Utf8Step step = first_character(text);
    const bool is_whole = step.state == Utf8State::kValid;
    if (step.state == Utf8State::kInvalid || (!is_whole && step.bytes < text.size())) return 0;
    if (is_whole && (step.value < 0x20 || step.value == U'"' || step.value == U'\\')) return 0;
    text.remove_prefix(step.bytes);
    ++n;
  }
  return n;
}

struct Text {
  std::string_view bytes;
  Token token;
  uint32_t n_characters;  // 0: not plain
  auto operator<=>(const Text&) const = default;
};

TokenTrie::Tree tree_of(std::vector<Text> texts) {
  TokenTrie::Tree tree;
  std::ranges::sort(texts);
  std::vector<uint32_t> open;  // nodes of the last text
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) tree.nodes[open.back()].end = static_cast<uint32_t>(tree.nodes.size());
  };
  std::string_view last;
  for (const Text& text : texts) {
    size_t common = 0;
    while (common < std::min(last.size(), text.bytes.size()) && last[common] == text.bytes[common]) ++common;
    close_to(common);
    for (size_t i = common; i < text.bytes.size(); ++i) {
      open.push_back(static_cast<uint32_t>(tree.nodes.size()));
      const std::string_view beginning = text.bytes.substr(0, i + 1);
      const bool is_aligned = text.n_characters > 0 && is_valid_utf8(beginning);
      const auto n_characters = is_aligned ? static_cast<uint16_t>(count_plain(beginning)) : uint16_t{0};
      tree.nodes.push_back({static_cast<uint8_t>(text.bytes[i]), is_aligned, static_cast<uint16_t>(i + 1), n_characters,
                            0, static_cast<uint32_t>(tree.tokens.size()), 0});
    }
    ++tree.nodes[open.back()].n_own;
    tree.tokens.push_back(text.token);
    tree.n_characters.push_back(static_cast<uint16_t>(text.n_characters));
    last = text.bytes;
  }
  close_to(0);
  tree.nodes.push_back({0, false, 0, 0, 0, static_cast<uint32_t>(tree.tokens.size()), 0});
  return tree;
}

}  // namespace

TokenTrie::TokenTrie(const std::vector<std::string>& texts) : n_tokens_(static_cast<uint32_t>(texts.size())) {
  std::vector<Text> plain, others;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty() || texts[i].size() > kMaxTokenBytes) continue;
    const uint32_t n_characters = count_plain(texts[i]);
    (n_characters > 0 ? plain : others).push_back({texts[i], static_cast<Token>(i), n_characters});
    max_characters_ = std::max(max_characters_, n_characters);
  }
  plain_masks_.assign(max_characters_ + 1, std::vector<uint32_t>(n_words()));
  for (const Text& text : plain)
    for (uint32_t max = text.n_characters; max <= max_characters_; ++max)
      plain_masks_[max][static_cast<size_t>(text.token) / 32] |= uint32_t{1} << (text.token % 32);
  plain_ = tree_of(std::move(plain));
  others_ = tree_of(std::move(others));
}

bool TokenTrie::has_longer(std::string_view beginning) const {
  const auto is_in = [&](const Tree& tree) {
    size_t i = 0, end = tree.nodes.size() - 1;
    for (const char c : beginning) {
      while (i < end && tree.nodes[i].byte != static_cast<uint8_t>(c)) i = tree.nodes[i].end;
      if (i == end) return false;
      end = tree.nodes[i++].end;
    }
    return i < end;
  };
  return is_in(plain_) || is_in(others_);
}

TokenTrie TokenTrie::of(const Tokenizer& tokenizer) {
  std::vector<std::string> texts(tokenizer.n_vocab());
  for (Token token = 0; static_cast<size_t>(token) < texts.size(); ++token)
    if (!tokenizer.is_unused(token) && !tokenizer.ends_generation(token))
      texts[static_cast<size_t>(token)] = tokenizer.piece(token);
  return TokenTrie(texts);
}

std::span<const uint32_t> TokenTrie::plain_mask(uint32_t max_characters) const {
  return plain_masks_[std::min<size_t>(max_characters, plain_masks_.size() - 1)];
}

}  // namespace warpchat::grammar
