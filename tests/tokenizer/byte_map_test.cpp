// The alphabet of byte-level BPE: known letters, and no loss.
#include "models/tokenizer/byte_map.h"

#include <gtest/gtest.h>

#include <set>

namespace warpchat {
namespace {

TEST(ByteMap, KnownLetters) {
  EXPECT_EQ(map_bytes(" the\n\t"), "ĠtheĊĉ");
  EXPECT_EQ(map_bytes("é"), "Ã©");
  EXPECT_EQ(map_bytes(std::string(1, '\0')), "Ā");       // the first letter that stands for another byte
  EXPECT_EQ(map_bytes("\x7F\xA0\xAD"), "ġłŃ");           // the last three
  EXPECT_EQ(map_bytes("!~\xA1\xAC\xAE\xFF"), "!~¡¬®ÿ");  // the ends of the ranges that stand for themselves
}

TEST(ByteMap, EveryByteHasOneLetterThatIsNoSpace) {
  std::set<std::string> letters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string letter(mapped_byte(static_cast<uint8_t>(byte)));
    EXPECT_TRUE(letters.insert(letter).second) << byte;
    EXPECT_NE(letter, " ");
    EXPECT_EQ(unmapped_byte(letter), byte);
    EXPECT_EQ(unmap_bytes(letter), std::string(1, static_cast<char>(byte)));
  }
}

TEST(ByteMap, OtherCharactersStandForThemselves) {
  EXPECT_EQ(unmap_bytes("a b"), "a b");
  EXPECT_EQ(unmap_bytes("Ġ你Ġ"), " 你 ");
  EXPECT_EQ(unmap_bytes("\xC4"), "\xC4");          // half a letter
  EXPECT_EQ(unmap_bytes("\xC5\x84"), "\xC5\x84");  // U+0144, one past the alphabet
  EXPECT_EQ(unmap_bytes("\xC2\xAD"), "\xC2\xAD");  // U+00AD is no letter
  for (const char* text : {"", " ", "aa", "你", "\xC4", "\xC5\x84", "\xC1\xA1"})
    EXPECT_FALSE(unmapped_byte(text)) << text;
}

}  // namespace
}  // namespace warpchat
