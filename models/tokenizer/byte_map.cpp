#include "models/tokenizer/byte_map.h"

#include <array>

namespace warpchat {
namespace {

constexpr int kCharacters = 0x144;  // the alphabet's last character is U+0143

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<std::array<char, 2>, 256> utf8{};
  std::array<uint8_t, 256> utf8_bytes{};
  std::array<int16_t, kCharacters> byte_of{};  // -1: not in the alphabet

  constexpr Alphabet() {
    for (auto& byte : byte_of) byte = -1;
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const int character = stands_for_itself(byte) ? byte : next++;
      byte_of[character] = static_cast<int16_t>(byte);
      utf8_bytes[byte] = character < 0x80 ? 1 : 2;
      if (character < 0x80) {
        utf8[byte] = {static_cast<char>(character), 0};
      } else {
        utf8[byte] = {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
      }
    }
  }
};
constexpr Alphabet kAlphabet;

struct Unmapped {
  size_t bytes;   // length of the character; 1 if it is not in the alphabet
  int byte = -1;  // the byte it represents
};

Unmapped first_of(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {1, kAlphabet.byte_of[first]};
  if ((first & 0xE0) != 0xC0 || text.size() < 2 || (static_cast<uint8_t>(text[1]) & 0xC0) != 0x80) return {1};
  const int character = (first & 0x1F) << 6 | (static_cast<uint8_t>(text[1]) & 0x3F);
  if (character < 0x80 || character >= kCharacters || kAlphabet.byte_of[character] < 0) return {1};
  return {2, kAlphabet.byte_of[character]};
}

}  // namespace

std::string_view mapped_byte(uint8_t byte) { return {kAlphabet.utf8[byte].data(), kAlphabet.utf8_bytes[byte]}; }

std::string map_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) text += mapped_byte(static_cast<uint8_t>(byte));
  return text;
}

std::string unmap_bytes(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const Unmapped next = first_of(text.substr(at));
    bytes += next.byte < 0 ? text[at] : static_cast<char>(next.byte);
    at += next.bytes;
  }
  return bytes;
}

std::optional<uint8_t> unmapped_byte(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const Unmapped only = first_of(text);
  if (only.byte < 0 || only.bytes != text.size()) return std::nullopt;
  return static_cast<uint8_t>(only.byte);
}

}  // namespace warpchat
