// Characters that a server splits between two events: a surrogate pair with one half in each, or the bytes of one
// character.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

// JSON that parses although its texts begin or end within a character: each half of a surrogate pair and each byte that
// is not part of a whole character becomes a mark, which SplitCharacters understands.
std::string with_marked_parts(std::string_view text);

// Joins the marked parts of successive texts to characters.
class SplitCharacters {
 public:
  std::string add(std::string_view text);  // whole characters; holds back the beginning of one
  std::string finish();                    // U+FFFD for a beginning that is held back

 private:
  void add_part(uint32_t part, std::string& out);
  void add_byte(char byte, std::string& out);
  void give_up(std::string& out);

  std::string bytes_;  // beginning of a character
  uint32_t high_ = 0;  // first half of a surrogate pair; 0: none
};

}  // namespace warpchat
