#include "app/formats/shown_call.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cstdint>

#include "app/formats/html_text.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/human_bytes.h"
#include "models/text_format.h"
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

// "called files__read {"path":"a"}", as printable text.
std::string title_of(const ToolCall& call) {
  constexpr size_t kMaxArguments = 200;
  const bool is_over = !name_of(call.status).empty();
  const std::string_view how = !is_over                            ? "calling "
                               : call.status == CallStatus::kOk    ? "called "
                               : call.status == CallStatus::kError ? "failed: "
                                                                   : "denied: ";
  return std::string(how) + printable(call.name) + " " + printable(shown_text(call.arguments), kMaxArguments);
}

std::string indented(const std::string& arguments) {
  const nlohmann::json json = try_parse_untrusted_json<nlohmann::json>(arguments);
  return json.is_discarded() ? arguments : json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string fenced(std::string_view language, const std::string& text) {
  const std::string fence = fence_around(text);
  return fence + std::string(language) + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n\n";
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

std::string first_line(std::string_view text, size_t max_bytes) {
  text = trimmed(text);
  return printable(trimmed(text.substr(0, text.find_first_of("\r\n"))), max_bytes);
}

std::vector<std::string> call_lines(const std::vector<ToolCall>& calls) {
  std::vector<std::string> lines;
  for (const ToolCall& call : calls) {
    if (name_of(call.status).empty()) continue;
    const bool has_result = call.status != CallStatus::kDenied;  // it says that, too
    const bool has_more = trimmed(call.result).find('\n') != std::string::npos;
    lines.push_back(title_of(call) + (has_result ? ": " + first_line(call.result) + (has_more ? " ..." : "") : ""));
  }
  return lines;
}

std::string calls_markdown(const std::vector<ToolCall>& calls, size_t max_result) {
  std::string text;
  for (const ToolCall& call : calls) {
    if (call.status == CallStatus::kNone || call.status == CallStatus::kAsking) continue;
    text += "<details><summary>" + in_html(title_of(call)) + "</summary>\n\n" +
            fenced("json", shown_text(indented(call.arguments)));
    if (call.result.size() > max_result)
      text += fenced("text", call.result.substr(0, character_start(call.result, max_result))) + "(the first " +
              human_bytes(max_result) + " of " + human_bytes(call.result.size()) + ")\n\n";
    else if (!call.result.empty())
      text += fenced("text", call.result);
    text += "</details>\n\n";
  }
  return text;
}

std::string answer_markdown(const Message& answer, size_t max_result) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!trimmed(part).empty()) text += std::string(part.substr(0, part.find_last_not_of(" \t\r\n") + 1)) + "\n\n";
  };
  for (const ToolRound& round : answer.rounds) {
    add(round.content);
    text += calls_markdown(round.calls, max_result);
  }
  const std::string last = calls_markdown(answer.tool_calls, max_result);
  if (last.empty()) return text + answer.content;
  add(answer.content);
  return text + last;
}

// JSON has line breaks only between its values, and escapes of its own for controls of C0. What is not UTF-8 cannot be
// sent as it is: it becomes U+FFFD here as it does there.
std::string shown_call(std::string_view name, const nlohmann::json& arguments) {
  std::string shown_name = shown_text(name);
  for (size_t at = 0; (at = shown_name.find('\n', at)) != std::string::npos;) shown_name.replace(at, 1, "\\u000a");
  return shown_name + " " + shown_text(arguments.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string shown_call(const ToolCall& call) {
  const nlohmann::json arguments = try_parse_untrusted_json<nlohmann::json>(call.arguments);
  return arguments.is_discarded() ? shown_text(call.name + " " + call.arguments) : shown_call(call.name, arguments);
}

}  // namespace warpchat
