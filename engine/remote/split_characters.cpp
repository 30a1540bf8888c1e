// A mark is U+FDD0, which is no character, and four hexadecimal digits: a surrogate, or a byte below 0x100.
#include "engine/remote/split_characters.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr std::string_view kMark = "\xEF\xB7\x90";
constexpr size_t kDigits = 4;

std::optional<uint32_t> hexadecimal(std::string_view text, size_t at) {
  if (at > text.size() || text.size() - at < kDigits) return std::nullopt;
  uint32_t value = 0;
  const char *begin = text.data() + at, *end = begin + kDigits;
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

bool is_high(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string mark(uint32_t part) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%04X", part & 0xFFFF);
  return std::string(kMark) + digits;
}

// The \uXXXX at this place.
std::optional<uint32_t> escaped_unit(std::string_view text, size_t at) {
  return text.substr(at, 2) == "\\u" ? hexadecimal(text, at + 2) : std::nullopt;
}

}  // namespace

std::string with_marked_parts(std::string_view text) {
  constexpr size_t kEscape = 2 + kDigits;  // bytes of \uXXXX
  std::string marked;
  for (size_t i = 0, n = 1; i < text.size(); i += n) {
    n = 1;
    if (text[i] == '\\') {
      const std::optional<uint32_t> unit = escaped_unit(text, i);
      const bool is_pair = unit && is_high(*unit) && is_low(escaped_unit(text, i + kEscape).value_or(0));
      n = std::min(!unit ? size_t{2} : is_pair ? 2 * kEscape : kEscape, text.size() - i);
      marked += unit && !is_pair && (is_high(*unit) || is_low(*unit)) ? mark(*unit) : std::string(text.substr(i, n));
      continue;
    }
    const Utf8Step step = first_character(text.substr(i));
    const bool is_whole = step.state == Utf8State::kValid;
    if (is_whole) n = step.bytes;
    marked += is_whole ? std::string(text.substr(i, n)) : mark(static_cast<uint8_t>(text[i]));
  }
  return marked;
}

std::string SplitCharacters::add(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::optional<uint32_t> part = text.starts_with(kMark) ? hexadecimal(text, kMark.size()) : std::nullopt;
    if (part && (*part < 0x100 || is_high(*part) || is_low(*part))) {
      add_part(*part, out);
      text.remove_prefix(kMark.size() + kDigits);
      continue;
    }
    const size_t n = std::min(text.find(kMark, 1), text.size());
    give_up(out);
    out += text.substr(0, n);
    text.remove_prefix(n);
  }
  return out;
}

std::string SplitCharacters::finish() {
  std::string out;
  give_up(out);
  return out;
}

void SplitCharacters::add_part(uint32_t part, std::string& out) {
  if (part < 0x100) return add_byte(static_cast<char>(part), out);
  const uint32_t high = high_;
  if (is_low(part)) high_ = 0;
  give_up(out);
  if (is_high(part)) {
    high_ = part;
  } else if (high == 0) {
    out += kReplacementCharacter;
  } else {
    append_utf8(0x10000 + ((high - 0xD800) << 10) + (part - 0xDC00), out);
  }
}

void SplitCharacters::add_byte(char byte, std::string& out) {
  if (high_ != 0 || first_character(bytes_ + byte).state == Utf8State::kInvalid) give_up(out);
  bytes_ += byte;
  const Utf8State state = first_character(bytes_).state;
  if (state == Utf8State::kInvalid) give_up(out);
  if (state == Utf8State::kValid) out += std::exchange(bytes_, {});
}

void SplitCharacters::give_up(std::string& out) {
  if (high_ != 0 || !bytes_.empty()) out += kReplacementCharacter;
  high_ = 0;
  bytes_.clear();
}

}  // namespace warpchat
