// Calls of tools as a person reads them: before they are made, and after.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/message.h"

namespace warpchat {

// Name and whole arguments, as JSON on several lines. Whatever a screen would hide, move or obey is written as \uXXXX:
// controls of C0 and C1, of the direction of text, characters without width or ink, blanks other than the usual one,
// unassigned and private ones. So the text has all that is sent, and nothing of it is raw. Terminal and window show it.
std::string shown_call(std::string_view name, const nlohmann::json& arguments);
std::string shown_call(const ToolCall& call);

// The same of a text that need not be JSON, such as a description: line breaks stay, a backslash is not doubled, and
// bytes that are not UTF-8 are written as \xHH.
std::string shown_text(std::string_view text);

// The first line of a foreign text, printable and cut.
std::string first_line(std::string_view text, size_t max_bytes = 100);

// A line for each call that is over: how it went, its name, arguments and the result's first line.
std::vector<std::string> call_lines(const std::vector<ToolCall>& calls);

// The calls as Markdown: each folded under how it stands, its name and arguments; inside the whole arguments and the
// result, of which at most so many bytes are shown. Without those that are written, asked about or left undone.
std::string calls_markdown(const std::vector<ToolCall>& calls, size_t max_result = SIZE_MAX);

// The text of an answer's rounds and what follows them, each with its calls behind it.
std::string answer_markdown(const Message& answer, size_t max_result = SIZE_MAX);

}  // namespace warpchat
