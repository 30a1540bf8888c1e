#include "engine/store/find_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "engine/store/search_words.h"
#include "models/utf8.h"

namespace warpchat {

// An invalid byte is its own letter.
SmallLetter small_letter_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first >= 'A' && first <= 'Z' ? first + 32 : first, 1};
  const Utf8Step step = first_character(text.substr(at));
  if (step.state != Utf8State::kValid) return {-first, 1};
  return {utf8proc_tolower(static_cast<int32_t>(step.value)), step.bytes};
}

TextPlaces find_text(std::string_view text, std::string_view words, size_t max) {
  std::vector<int32_t> wanted;
  for (size_t at = 0; at < words.size();) {
    const SmallLetter letter = small_letter_at(words, at);
    wanted.push_back(letter.small);
    at += letter.bytes;
  }
  TextPlaces found;
  for (size_t begin = 0; begin < text.size() && !wanted.empty() && found.size() < max;) {
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

TextPlaces find_any(std::string_view text, const std::vector<std::string>& wanted) {
  TextPlaces all, places;
  for (const std::string& words : wanted) std::ranges::move(find_text(text, words), std::back_inserter(all));
  std::ranges::sort(all);
  for (const auto& place : all)
    if (places.empty() || place.first >= places.back().second) places.push_back(place);
  return places;
}

TextPlaces find_searched(std::string_view text, std::string_view words) {
  TextPlaces phrase = find_text(text, words);
  return phrase.empty() ? find_any(text, split_search_words(words)) : phrase;
}

}  // namespace warpchat
