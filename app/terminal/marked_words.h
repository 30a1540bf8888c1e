// The words of a search in text that is laid out for a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace warpchat {

// laid_out: lines with escape_sequence()s, as WordWrap makes them. Marks the places of find_searched() in what is seen
// of it from byte `from` on. A line's end and the indent of the next line count as a blank, so that a phrase is found
// where it is broken; they are not marked. words: none if empty.
std::string mark_words(std::string_view laid_out, std::string_view words, size_t from = 0);

// Whether all of the words are seen in it.
bool has_words_of(std::string_view laid_out, std::string_view words);

// Whole lines of it around the first place, at most so many rows of a terminal with these columns, or one line; empty:
// there is no such place.
std::string rows_around_words(const std::string& laid_out, std::string_view words, int columns, int rows);

}  // namespace warpchat
