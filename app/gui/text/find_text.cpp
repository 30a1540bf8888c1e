#include "app/gui/text/find_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "models/utf8.h"

namespace warpchat::gui {

// An invalid byte is its own letter.
SmallLetter small_letter_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first >= 'A' && first <= 'Z' ? first + 32 : first, 1};
  const Utf8Step step = first_character(text.substr(at));
  if (step.state != Utf8State::kValid) return {-first, 1};
  return {utf8proc_tolower(static_cast<int32_t>(step.value)), step.bytes};
}

std::vector<std::pair<size_t, size_t>> find_text(std::string_view text, std::string_view words) {
  std::vector<int32_t> wanted;
  for (size_t at = 0; at < words.size();) {
    const SmallLetter letter = small_letter_at(words, at);
    wanted.push_back(letter.small);
    at += letter.bytes;
  }
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t begin = 0; begin < text.size() && !wanted.empty();) {
    size_t end = begin, n = 0, first = 0;
    while (n < wanted.size() && end < text.size()) {
      const SmallLetter letter = small_letter_at(text, end);
      if (n == 0) first = letter.bytes;
      if (letter.small != wanted[n]) break;
      end += letter.bytes;
      ++n;
    }
    if (n == wanted.size()) found.emplace_back(begin, end);
    begin = n == wanted.size() ? end : begin + std::max<size_t>(first, 1);
  }
  return found;
}

}  // namespace warpchat::gui
