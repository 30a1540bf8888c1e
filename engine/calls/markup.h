// Markers of calls, and kinds of characters beside them.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/calls/call_format.h"

namespace warpchat::calls {

inline constexpr std::string_view kCallOpen = "<tool_call>", kCallClose = "</tool_call>";
inline constexpr std::string_view kFunctionOpen = "<function=", kFunctionClose = "</function>";
inline constexpr std::string_view kParameterOpen = "<parameter=", kParameterClose = "</parameter>";
inline constexpr std::string_view kToolCallsMark = "[TOOL_CALLS]", kArgsMark = "[ARGS]", kCallIdMark = "[CALL_ID]";
inline constexpr std::string_view kPythonMark = "<|python_tag|>";

// What opens a call in the text, the usual one first.
std::span<const std::string_view> openers_of(CallFormat format);

constexpr bool has_tags(CallFormat format) { return format == CallFormat::kHermes || format == CallFormat::kXml; }
constexpr bool is_mistral(CallFormat format) {
  return format == CallFormat::kMistralJson || format == CallFormat::kMistralArgs;
}

constexpr bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_of_python_name(char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }

struct Range {  // offsets in a text
  size_t from = 0, to = 0;
  bool is_known() const { return to > from; }
  std::string_view of(std::string_view text) const { return text.substr(from, to - from); }
};

}  // namespace warpchat::calls
