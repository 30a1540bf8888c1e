// The question at a terminal whether a call of a tool may be made.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/message.h"

namespace warpchat {

// A tool as its source describes it: foreign text.
std::string described_tool(std::string_view name, std::string_view description, std::string_view schema);

struct CallQuestion {
  ToolCall call;
  std::string why_asked;  // ToolCallsChanged
  std::string tool;       // described_tool()
};
enum class CallAnswer : uint8_t { kThisTime, kNo, kInConversation, kStop };

// One of the letters, as PromptReader::ask_key gives it.
using AskKey = std::function<std::optional<char>(const std::string& question, std::string_view letters)>;

CallAnswer ask_about_call(const CallQuestion& question, const AskKey& ask_key);

}  // namespace warpchat
