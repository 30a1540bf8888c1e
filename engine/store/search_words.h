// Splits a search into words that must all occur, for both search methods of the store.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// Separated by blanks; text in double quotes is one word. Error for too many or too long words.
std::vector<std::string> split_search_words(std::string_view query);

// Whether the trigram index can answer: every word has at least three characters.
bool fits_index(const std::vector<std::string>& words);

// Each word as an FTS5 string, with any content; all must match.
std::string index_query(const std::vector<std::string>& words);

// JSON array of LIKE patterns with backslash as escape character.
std::string like_patterns(const std::vector<std::string>& words);

// Context of the words as typed, else of the first word (ignoring ASCII case), on one line; else the text's beginning.
std::string excerpt(std::string_view text, const std::vector<std::string>& words, size_t bytes = 100);

}  // namespace warpchat
