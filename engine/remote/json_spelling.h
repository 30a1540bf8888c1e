// One spelling for JSON texts of equal values, so that a server's blanks and its ways to write numbers are no fault.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct SpelledJson {
  std::string text;               // compact; integers without fraction and exponent
  std::vector<size_t> positions;  // of each byte of `text`, and of its end: where it is in the original
};

// Changes blanks between tokens and numbers alone: text that is not JSON stays so. is_cut: the text is a beginning; a
// number at its end, which may go on, is left out.
SpelledJson spell_json(std::string_view text, bool is_cut);

}  // namespace warpchat
