// Alphabet of byte-level BPE (GPT-2): each byte is one printable character. Visible Latin-1 characters represent
// themselves, the other 68 bytes are U+0100 to U+0143. So token texts contain neither spaces nor incomplete characters.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

// UTF-8 of the character for a byte: one or two bytes.
std::string_view mapped_byte(uint8_t byte);

std::string map_bytes(std::string_view bytes);

// The bytes that a text represents; characters outside the alphabet stay.
std::string unmap_bytes(std::string_view text);

// The byte, if the text is one character of the alphabet.
std::optional<uint8_t> unmapped_byte(std::string_view text);

}  // namespace warpchat
