// Splits a search into words that must all occur, and compares them with texts.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// Separated by blanks; text in double quotes is one word. Error for too many or too long words.
std::vector<std::string> split_search_words(std::string_view query);

// Lower-case letters, as the trigram index folds them.
std::string folded(std::string_view text);

// Whether the trigram index finds the word itself: it has at least three characters.
bool fits_index(std::string_view word);

// FTS5 expression: one of the words, which may have any content.
std::string any_of(const std::vector<std::string>& words);

// Whether the text has each of the words; all are folded.
bool has_all(std::string_view text, const std::vector<std::string>& words);

// Context of the words as typed, else of the first word (ignoring case), on one line; else the text's beginning.
std::string excerpt(std::string_view text, const std::vector<std::string>& words, size_t bytes = 100);

}  // namespace warpchat
