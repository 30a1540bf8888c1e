#include "models/text_format.h"

#include <algorithm>

namespace warpchat {
namespace {

// Length of the valid UTF-8 character at the start of the text, or 0. Source: Unicode 15, table 3-7.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
}

// The first character, or an invalid byte. Empty only at the end.
struct Character {
  std::string_view bytes;
  char32_t value = 0;
  bool is_valid = false;
};

Character first_character(std::string_view text) {
  const size_t length = utf8_length(text);
  if (length == 0) return {text.substr(0, 1), 0, false};
  char32_t value = static_cast<uint8_t>(text[0]);
  if (length > 1) value &= 0x7Fu >> length;
  for (size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<uint8_t>(text[i]) & 0x3Fu);
  return {text.substr(0, length), value, true};
}

template <class OnCharacter>  // (const Character&)
void for_each_character(std::string_view text, OnCharacter on_character) {
  while (!text.empty()) {
    const Character character = first_character(text);
    on_character(character);
    text.remove_prefix(character.bytes.size());
  }
}

bool is_separator(char32_t c) { return c == 0x2028 || c == 0x2029; }  // of lines and paragraphs

void append_json_escape(std::string& out, char32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[unit >> shift & 15];
}

}  // namespace

bool CharacterFilter::can_show(char32_t c) {
  constexpr char32_t kFlag = 0x1F3F4, kFirstTag = 0xE0020, kEndOfFlag = 0xE007F;
  constexpr int kMaxTags = 7;  // a country of two letters, a part of up to four characters, the end
  const bool is_in_flag = tags_left_ > 0;
  const bool is_tag = c >= kFirstTag && c <= kEndOfFlag;
  tags_left_ = c == kFlag ? kMaxTags : is_tag && c != kEndOfFlag ? std::max(0, tags_left_ - 1) : 0;
  if (is_tag || c == 0xE0001) return is_tag && is_in_flag;
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
  return !(c >= 0x202A && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069);
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string printable(std::string_view text, size_t limit) {
  CharacterFilter filter;
  std::string out;
  while (!text.empty()) {
    if (out.size() >= limit) return out + "...";
    const Character c = first_character(text);
    if (c.is_valid && filter.can_show(c.value) && !is_separator(c.value))
      out += c.bytes;
    else
      append_escaped(out, c.bytes);
    text.remove_prefix(c.bytes.size());
  }
  return out;
}

std::string replace_controls(std::string_view text) {
  CharacterFilter filter;
  std::string out;
  for_each_character(text, [&](const Character& c) {
    const bool can_show = filter.can_show(c.value) || c.value == '\n' || c.value == '\t';
    if (c.is_valid && c.value == '\r') return;
    out += c.is_valid && can_show ? c.bytes : std::string_view("\uFFFD");
  });
  return out;
}

std::string escape_controls_in_json(std::string_view json) {
  CharacterFilter filter;
  std::string out;
  for_each_character(json, [&](const Character& c) {
    if (filter.can_show(c.value) || c.value == '\n' || c.value == '\t') {
      out += c.is_valid ? c.bytes : std::string_view("\uFFFD");
    } else if (c.value > 0xFFFF) {
      append_json_escape(out, 0xD7C0 + (c.value >> 10));
      append_json_escape(out, 0xDC00 + (c.value & 0x3FF));
    } else {
      append_json_escape(out, c.value);
    }
  });
  return out;
}

std::string counted(uint64_t number, std::string_view noun) {
  return grouped(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace warpchat
