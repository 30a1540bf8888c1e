#include "models/utf8.h"

#include <cstdint>
#include <cstring>

namespace warpchat {
namespace {

// Range of a character's second byte, by its first. Excludes overlong forms, surrogates and values above U+10FFFF
// (Unicode standard, table 3-7).
struct Lead {
  size_t bytes;  // 0: not a first byte
  uint8_t second_from, second_to;
};

Lead lead_of(uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first < 0xF0) return {3, uint8_t(first == 0xE0 ? 0xA0 : 0x80), uint8_t(first == 0xED ? 0x9F : 0xBF)};
  if (first < 0xF5) return {4, uint8_t(first == 0xF0 ? 0x90 : 0x80), uint8_t(first == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

size_t ascii_prefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t eight; at + 8 <= text.size(); at += 8) {
    std::memcpy(&eight, text.data() + at, 8);
    if (eight & 0x8080808080808080u) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

Utf8Step first_character(std::string_view text) {
  const Lead lead = lead_of(static_cast<uint8_t>(text[0]));
  if (lead.bytes == 0) return {1, Utf8State::kInvalid};
  for (size_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {i, Utf8State::kIncomplete};
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint8_t from = i == 1 ? lead.second_from : 0x80, to = i == 1 ? lead.second_to : 0xBF;
    if (byte < from || byte > to) return {i, Utf8State::kInvalid};
  }
  return {lead.bytes, Utf8State::kValid};
}

char32_t code_point_of(std::string_view character) {
  char32_t value = static_cast<uint8_t>(character[0]);
  if (character.size() > 1) value &= 0x7Fu >> character.size();
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<uint8_t>(c) & 0x3Fu);
  return value;
}

bool is_valid_utf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    const Utf8Step step = first_character(text);
    if (step.state != Utf8State::kValid) return false;
    text.remove_prefix(step.bytes);
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = first_character(text);
    if (step.state == Utf8State::kValid) {
      valid += text.substr(0, step.bytes);
    } else {
      for (size_t i = 0; i < step.bytes; ++i) valid += kReplacementCharacter;
    }
    text.remove_prefix(step.bytes);
  }
  return valid;
}

void append_utf8(char32_t c, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace warpchat
