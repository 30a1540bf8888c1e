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
  const auto first = static_cast<uint8_t>(text[0]);
  const Lead lead = lead_of(first);
  if (lead.bytes == 0) return {1, Utf8State::kInvalid};
  char32_t value = lead.bytes == 1 ? first : first & 0x7Fu >> lead.bytes;
  for (size_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {i, Utf8State::kIncomplete};
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint8_t from = i == 1 ? lead.second_from : 0x80, to = i == 1 ? lead.second_to : 0xBF;
    if (byte < from || byte > to) return {i, Utf8State::kInvalid};
    value = value << 6 | (byte & 0x3Fu);
  }
  return {lead.bytes, Utf8State::kValid, value};
}

char32_t next_code_point(std::string_view text, size_t& offset) {
  const Utf8Step step = first_character(text.substr(offset));
  offset += step.bytes;
  return step.value;
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0;;) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) return std::string_view::npos;
    const Utf8Step step = first_character(text.substr(at));
    if (step.state != Utf8State::kValid) return at;
    at += step.bytes;
  }
}

bool is_valid_utf8(std::string_view text) { return find_invalid_utf8(text) == std::string_view::npos; }

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
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
