#include "app/tools/shown_call.h"

#include <unicode/uchar.h>

#include <cstdint>

#include "models/utf8.h"

namespace warpchat {

namespace {

// What Unicode calls a letter or symbol, and fonts draw as nothing.
bool is_blank_symbol(char32_t c) {
  constexpr char32_t kBrailleBlank = 0x2800;
  return c == kBrailleBlank;
}

bool is_hidden(char32_t c) {
  if (c < 0x7F) return c < ' ';
  const auto code = static_cast<UChar32>(c);
  switch (u_charType(code)) {
    case U_CONTROL_CHAR:
    case U_FORMAT_CHAR:
    case U_SPACE_SEPARATOR:
    case U_LINE_SEPARATOR:
    case U_PARAGRAPH_SEPARATOR:
    case U_PRIVATE_USE_CHAR:
    case U_SURROGATE:
    case U_UNASSIGNED:
      return true;
    default:
      return u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) || is_blank_symbol(c);
  }
}

void append_hex(std::string& out, const char* mark, char32_t value, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  out += mark;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 15];
}

void append_escaped(std::string& out, char32_t c) {
  constexpr char32_t kFirstOfPairs = 0x10000;
  if (c < kFirstOfPairs) return append_hex(out, "\\u", c, 4);
  append_hex(out, "\\u", 0xD7C0 + (c >> 10), 4);
  append_hex(out, "\\u", 0xDC00 + (c & 0x3FF), 4);
}

}  // namespace

std::string shown_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Step step = first_character(text);
    if (step.state != Utf8State::kValid)
      append_hex(shown, "\\x", static_cast<unsigned char>(text[0]), 2);
    else if (step.value != '\n' && is_hidden(step.value))
      append_escaped(shown, step.value);
    else
      shown += text.substr(0, step.bytes);
    text.remove_prefix(step.state == Utf8State::kValid ? step.bytes : 1);
  }
  return shown;
}

// JSON has line breaks only between its values, and escapes of its own for controls of C0. What is not UTF-8 cannot be
// sent as it is: it becomes U+FFFD here as it does there.
std::string shown_call(std::string_view name, const nlohmann::json& arguments) {
  std::string shown_name = shown_text(name);
  for (size_t at = 0; (at = shown_name.find('\n', at)) != std::string::npos;) shown_name.replace(at, 1, "\\u000a");
  return shown_name + " " + shown_text(arguments.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace warpchat
