#include "models/tokenizer/special_tokens.h"

#include <algorithm>
#include <numeric>

namespace warpchat {
namespace {

constexpr std::string_view kAsciiSpace = " \t\n\v\f\r";

// Replaces every occurrence of `special` that counts by `token`, in fragments that are still text.
template <class Counts>
std::vector<Fragment> replace_in(const std::vector<Fragment>& fragments, std::string_view special, Token token,
                                 bool strips_right, Counts counts) {
  std::vector<Fragment> result;
  result.reserve(fragments.size() + 2);
  for (const Fragment& fragment : fragments) {
    std::string_view rest = fragment.text;
    if (fragment.token < 0) {
      for (size_t from = 0, at; (at = rest.find(special, from)) != std::string_view::npos;) {
        from = at + 1;
        if (!counts(rest.substr(at, special.size()))) continue;
        from = 0;
        if (at > 0) result.push_back({rest.substr(0, at)});
        result.push_back({rest.substr(at, special.size()), token});
        rest.remove_prefix(at + special.size());
        if (strips_right) rest.remove_prefix(std::min(rest.find_first_not_of(kAsciiSpace), rest.size()));
      }
    }
    if (!rest.empty()) result.push_back({rest, fragment.token});
  }
  return result;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : by_length_(vocabulary.special_tokens()) {
  std::ranges::stable_sort(by_length_, std::greater{}, [&](Token token) { return vocabulary.text(token).size(); });
  by_text_.resize(by_length_.size());
  std::iota(by_text_.begin(), by_text_.end(), 0u);
  std::ranges::sort(by_text_, {}, [&](uint32_t i) { return vocabulary.text(by_length_[i]); });
  for (const Token token : by_length_) starts_[static_cast<uint8_t>(vocabulary.text(token)[0])] = true;
}

// Which of by_length_ occur in the text: one pass instead of one per token.
std::vector<char> SpecialTokens::find_present(const Vocabulary& vocabulary, std::string_view text) const {
  std::vector<char> present(by_length_.size(), false);
  const auto text_of = [&](uint32_t i) { return vocabulary.text(by_length_[i]); };
  for (size_t start = 0; start < text.size(); ++start) {
    if (!starts_[static_cast<uint8_t>(text[start])]) continue;
    auto from = by_text_.begin(), to = by_text_.end();  // tokens that match the text so far
    for (size_t depth = 0; from != to && start + depth < text.size(); ++depth) {
      const auto byte = static_cast<uint8_t>(text[start + depth]);
      const auto byte_of = [&](uint32_t i) {  // a text that ends here sorts first
        return depth < text_of(i).size() ? static_cast<uint8_t>(text_of(i)[depth]) : -1;
      };
      from = std::partition_point(from, to, [&](uint32_t i) { return byte_of(i) < byte; });
      to = std::partition_point(from, to, [&](uint32_t i) { return byte_of(i) == byte; });
      if (from != to && text_of(*from).size() == depth + 1) present[*from] = true;
    }
  }
  return present;
}

std::vector<Fragment> SpecialTokens::split(const Vocabulary& vocabulary, std::string_view text,
                                           std::span<const TextRange> content) const {
  if (text.empty()) return {};
  std::vector<Fragment> fragments = {{text}};
  const std::vector<char> present = find_present(vocabulary, text);
  for (size_t i = 0; i < by_length_.size(); ++i) {
    const Token token = by_length_[i];
    if (!present[i]) continue;
    const bool is_text_in_content = vocabulary.is(token, kControlToken | kUnknownToken);
    fragments = replace_in(fragments, vocabulary.text(token), token, vocabulary.is(token, kStripsRight),
                           [&](std::string_view found) {
                             const auto begin = static_cast<size_t>(found.data() - text.data());
                             return !is_text_in_content || !has_any_of(content, begin, begin + found.size());
                           });
  }
  return fragments;
}

}  // namespace warpchat
