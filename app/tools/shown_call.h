// A call as a person reads it before it is made.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpchat {

// Name and whole arguments, as JSON on several lines. Whatever a screen would hide, move or obey is written as \uXXXX:
// controls of C0 and C1, of the direction of text, characters without width or ink, blanks other than the usual one,
// unassigned and private ones. So the text has all that is sent, and nothing of it is raw. Terminal and window show it.
std::string shown_call(std::string_view name, const nlohmann::json& arguments);

// The same of a text that need not be JSON, such as a description: line breaks stay, a backslash is not doubled, and
// bytes that are not UTF-8 are written as \xHH.
std::string shown_text(std::string_view text);

}  // namespace warpchat
