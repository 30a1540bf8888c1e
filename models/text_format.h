// Text for people: readable numbers, and foreign text without characters that a terminal or a reader could obey.
#pragma once
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace warpchat {

// 1932735904 -> "1,932,735,904".
std::string grouped(uint64_t number);

// A tag of a flag that consists of tags, or the end of them. Invisible elsewhere.
constexpr bool is_flag_tag(char32_t c) { return c >= 0xE0020 && c <= 0xE007F; }

// Which characters of a foreign text may be shown, asked in the text's order. Refused: C0, DEL and C1 controls (line
// breaks and tabs, too), bidirectional embeddings, overrides and isolates, and tag characters, which are invisible,
// except in a flag: U+1F3F4, at most six tags, U+E007F (Unicode Technical Standard 51). Left-to-right and right-to-left
// marks are shown.
class CharacterFilter {
 public:
  bool can_show(char32_t c);

 private:
  int tags_left_ = 0;  // that the flag may still have; 0: no flag
};

// For a name within a sentence: refused characters, line separators and invalid UTF-8 as \xHH, cut to `limit` bytes
// (marked by an ellipsis).
std::string printable(std::string_view text, size_t limit = 80);

// Backticks for a line before a text and one behind it, in Markdown: more than stand together in it.
std::string fence_around(std::string_view text);

// For a text of several lines: refused characters and invalid UTF-8 as U+FFFD. Line breaks and tabs stay; carriage
// returns are left out.
std::string replace_controls(std::string_view text);

// For a JSON document: refused characters in its strings as \uHHHH, so that it keeps its value.
std::string escape_controls_in_json(std::string_view json);

// "1 token", "2 tokens", "1,024 tokens".
std::string counted(uint64_t number, std::string_view noun);

// "a, b, c"; "a, b and c" with " and " before the last one. text_of: what stands for an element of `words`.
template <class Words, class TextOf = std::identity>
std::string word_list(const Words& words, std::string_view before_last = ", ", TextOf text_of = {}) {
  std::string list;
  for (auto word = std::begin(words); word != std::end(words);) {
    list += std::invoke(text_of, *word);
    if (++word != std::end(words)) list += std::next(word) == std::end(words) ? before_last : ", ";
  }
  return list;
}

}  // namespace warpchat
