// What somebody searches for, as the words that must all occur, and as the store's two ways of looking need them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// Separated by blanks; what stands in double quotes is one, blanks included. Error for more words or longer ones than a
// search takes.
std::vector<std::string> split_search_words(std::string_view query);

// Whether the trigram index can answer: every word has at least three characters.
bool fits_index(const std::vector<std::string>& words);

// Each word as a string of FTS5, whatever it contains; all must match.
std::string index_query(const std::vector<std::string>& words);

// A JSON array of LIKE patterns with the escape character backslash.
std::string like_patterns(const std::vector<std::string>& words);

// The surroundings of the words as they were typed, else of the first of them (ASCII letters in either case), on one
// line; or else the text's beginning.
std::string excerpt(std::string_view text, const std::vector<std::string>& words, size_t bytes = 100);

}  // namespace warpchat
