// A set of Unicode characters (code points without surrogates), as sorted ranges.
#pragma once
#include <string_view>
#include <vector>

namespace warpchat::grammar {

inline constexpr char32_t kLastCharacter = 0x10FFFF;

class CharacterSet {
 public:
  struct Range {
    char32_t from, to;  // both included
    bool operator==(const Range&) const = default;
  };

  CharacterSet() = default;
  CharacterSet(char32_t from, char32_t to) { add(from, to); }
  static CharacterSet all() { return {0, kLastCharacter}; }
  static CharacterSet of(std::u32string_view characters);

  void add(char32_t from, char32_t to);  // surrogates are left out
  void add(const CharacterSet& other);
  CharacterSet complement() const;

  bool contains(char32_t character) const { return count(character, character) == 1; }
  // How many characters from..to (both included) the set has.
  uint32_t count(char32_t from, char32_t to) const;
  bool is_empty() const { return ranges_.empty(); }
  const std::vector<Range>& ranges() const { return ranges_; }  // ascending, apart
  bool operator==(const CharacterSet&) const = default;

 private:
  std::vector<Range> ranges_;
};

// Characters with a property of Unicode as ECMAScript names it: "L", "Lu", "Letter", "Script=Greek", "sc=Grek",
// "General_Category=Lu", "ASCII", "Any". Error if there is no such property.
CharacterSet characters_with_property(std::string_view name);

}  // namespace warpchat::grammar
