#include "engine/store/search_words.h"

#include <utf8proc.h>

#include <algorithm>

#include "engine/store/find_text.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMaxWords = 64, kMaxWordBytes = 1000;  // below SQLite's own limits
constexpr size_t kIndexedCharacters = 3;
constexpr std::string_view kBlanks(" \t\r\n\0", 5);

size_t n_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

size_t find_word(std::string_view text, std::string_view word) {
  const TextPlaces found = find_text(text, word, /*max=*/1);
  return found.empty() ? std::string_view::npos : found.front().first;
}

size_t at_character(std::string_view text, size_t byte) {  // first character boundary at or after this byte
  while (byte < text.size() && continues_character(text[byte])) ++byte;
  return std::min(byte, text.size());
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

std::vector<std::string> split_search_words(std::string_view query) {
  std::vector<std::string> words;
  while (true) {
    query.remove_prefix(std::min(query.find_first_not_of(kBlanks), query.size()));
    if (query.empty()) return words;
    const size_t quote = query.starts_with('"') ? query.find('"', 1) : std::string_view::npos;
    const bool is_phrase = quote != std::string_view::npos && quote > 1;
    const std::string_view word =
        is_phrase ? query.substr(1, quote - 1) : query.substr(0, query.find_first_of(kBlanks));
    if (word.size() > kMaxWordBytes || words.size() == kMaxWords)
      throw Error("a search takes at most " + counted(kMaxWords, "word") + " of " + counted(kMaxWordBytes, "byte") +
                  "; search for less");
    words.emplace_back(word);
    query.remove_prefix(is_phrase ? quote + 1 : word.size());
  }
}

std::string folded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = first_character(text.substr(at));
    const bool is_plain = step.state != Utf8State::kValid || step.bytes == 1;
    if (is_plain)
      for (const char c : text.substr(at, step.bytes)) result += lower_case(c);
    else
      append_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(step.value))), result);
    at += step.bytes;
  }
  return result;
}

bool fits_index(std::string_view word) { return n_characters(word) >= kIndexedCharacters; }

std::string any_of(const std::vector<std::string>& words) {
  std::string query;
  for (const std::string& word : words) {
    query += query.empty() ? "\"" : " OR \"";
    for (const char c : word) query += c == '"' ? "\"\"" : std::string(1, c);
    query += '"';
  }
  return query;
}

bool has_all(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::all_of(words, [&](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

std::string excerpt(std::string_view text, const std::vector<std::string>& words, size_t bytes) {
  std::string phrase;
  for (const std::string& word : words) phrase += (phrase.empty() ? "" : " ") + word;
  size_t found = find_word(text, phrase);
  if (found == std::string_view::npos)
    for (const std::string& word : words) found = std::min(found, find_word(text, word));
  const size_t before = bytes / 3;
  const size_t begin = found == std::string_view::npos || found < before ? 0 : at_character(text, found - before);
  const size_t end = at_character(text, std::min(text.size(), begin + bytes));
  return (begin > 0 ? "..." : "") + on_one_line(text.substr(begin, end - begin)) + (end < text.size() ? "..." : "");
}

}  // namespace warpchat
