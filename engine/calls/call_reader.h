// Reads calls that have ended: names and arguments out of their text.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/calls/call_format.h"
#include "engine/calls/markup.h"

namespace warpchat::calls {

struct ReadCall {
  std::string name, arguments = "{}";
  std::string error = {};  // a sentence for the model; empty: none
};

// The text of a JSON string's characters; nullopt: it is none. quoted: with its quotes.
std::optional<std::string> text_of_json_string(std::string_view quoted);

// object: the whole of a call in JSON. name, arguments: of its members, as offsets in it.
ReadCall read_json_call(std::string_view object, Range name, Range arguments);
// object: the arguments alone.
ReadCall read_arguments(std::string name, std::string_view object);
// text: from the name on, behind <function=, to the last tag.
ReadCall read_xml_call(std::string_view text, std::span<const CallTool> tools);
// text: f.call(a="b", c=1)
ReadCall read_python_call(std::string_view text);

}  // namespace warpchat::calls
