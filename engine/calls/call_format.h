// How a model writes tool calls into its answer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

enum class CallFormat : uint8_t {
  kNone,
  kHermes,       // <tool_call>\n{"name": "f", "arguments": {...}}\n</tool_call>
  kXml,          // <tool_call>\n<function=f>\n<parameter=a>\nvalue\n</parameter>\n</function>\n</tool_call>
  kLlama,        // {"name": "f", "parameters": {...}}, also behind <|python_tag|>; <|python_tag|>f.call(a="b")
  kMistralJson,  // [TOOL_CALLS][{"name": "f", "arguments": {...}, "id": "9chars123"}]
  kMistralArgs,  // [TOOL_CALLS]f[ARGS]{...}, also [TOOL_CALLS]f[CALL_ID]9chars123[ARGS]{...}
};

// The format that a chat template writes; kNone for a template without tools, or with a format that is not known.
CallFormat find_call_format(std::string_view chat_template);

// What opens a call and is no text; empty: there is nothing.
std::string_view call_opener(CallFormat format);

struct CallTool {
  std::string name;
  std::string schema = {};  // JSON Schema of the arguments; empty: any object
};

}  // namespace warpchat
