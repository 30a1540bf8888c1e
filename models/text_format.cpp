#include "models/text_format.h"

#include <algorithm>

#include "models/utf8.h"

namespace warpchat {
namespace {

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
}

// A character, or an invalid byte.
struct Character {
  std::string_view bytes;
  char32_t value;
  bool is_valid;
};

// Calls on_character(const Character&) until it returns false.
template <class OnCharacter>
void for_each_character(std::string_view text, OnCharacter on_character) {
  while (!text.empty()) {
    const Utf8Step step = first_character(text);
    const bool is_valid = step.state == Utf8State::kValid;
    const Character character{text.substr(0, is_valid ? step.bytes : 1), step.value, is_valid};
    if (!on_character(character)) return;
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
  constexpr char32_t kFlag = 0x1F3F4, kEndOfFlag = 0xE007F;
  constexpr int kMaxTags = 7;  // a country of two letters, a part of up to four characters, the end
  const bool is_in_flag = tags_left_ > 0;
  const bool is_tag = is_flag_tag(c);
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

std::string fence_around(std::string_view text) {
  size_t longest = 2, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(longest + 1, '`');
}

std::string printable(std::string_view text, size_t limit) {
  CharacterFilter filter;
  std::string out;
  for_each_character(text, [&](const Character& c) {
    if (out.size() >= limit) return out += "...", false;
    if (c.is_valid && filter.can_show(c.value) && !is_separator(c.value))
      out += c.bytes;
    else
      append_escaped(out, c.bytes);
    return true;
  });
  return out;
}

std::string replace_controls(std::string_view text) {
  CharacterFilter filter;
  std::string out;
  for_each_character(text, [&](const Character& c) {
    const bool can_show = filter.can_show(c.value) || c.value == '\n' || c.value == '\t';
    if (!c.is_valid || c.value != '\r') out += c.is_valid && can_show ? c.bytes : kReplacementCharacter;
    return true;
  });
  return out;
}

std::string escape_controls_in_json(std::string_view json) {
  CharacterFilter filter;
  std::string out;
  for_each_character(json, [&](const Character& c) {
    if (filter.can_show(c.value) || c.value == '\n' || c.value == '\t') {
      out += c.is_valid ? c.bytes : kReplacementCharacter;
    } else if (c.value > 0xFFFF) {
      append_json_escape(out, 0xD7C0 + (c.value >> 10));
      append_json_escape(out, 0xDC00 + (c.value & 0x3FF));
    } else {
      append_json_escape(out, c.value);
    }
    return true;
  });
  return out;
}

std::string counted(uint64_t number, std::string_view noun) {
  return grouped(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace warpchat
