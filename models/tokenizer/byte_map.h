// The alphabet of byte-level BPE (GPT-2): every byte is written as one printable character, the visible Latin-1 ones as
// themselves and the other 68 as U+0100 to U+0143, so that token texts contain neither spaces nor broken characters.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

// The one or two UTF-8 bytes of the character that stands for a byte.
std::string_view mapped_byte(uint8_t byte);

std::string map_bytes(std::string_view bytes);

// The bytes that a text stands for; characters outside the alphabet stand for themselves.
std::string unmap_bytes(std::string_view text);

// The byte, if the text is one character of the alphabet.
std::optional<uint8_t> unmapped_byte(std::string_view text);

}  // namespace warpchat
