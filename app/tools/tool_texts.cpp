#include "app/tools/tool_texts.h"

#include <algorithm>
#include <span>

#include "models/text_format.h"

namespace warpchat {

namespace {
constexpr size_t kMaxNamed = 200;  // tools in a sentence
}

ToolResult failed_result(std::string_view sentence) { return {ToolStatus::kError, cut_result(std::string(sentence))}; }

ToolResult denied_result(std::string_view tool) {
  return {ToolStatus::kDenied,
          "the user denied the call of " + printable(tool) + "; it was not made, and asking again may not help"};
}

ToolResult unfinished_result() { return failed_result("the call was not made: the answer ended too early"); }

ToolResult stopped_result() { return {ToolStatus::kStopped, "the call was stopped"}; }

ToolResult unreadable_result(std::string_view why) {
  return failed_result("the call cannot be read: " + std::string(why) +
                       "; a call is the name of a tool and an object with its arguments");
}

ToolResult unknown_tool_result(std::string_view name, const std::vector<std::string>& known) {
  std::string list = word_list(std::span(known).first(std::min(known.size(), kMaxNamed)));
  if (known.size() > kMaxNamed) list += " and " + grouped(known.size() - kMaxNamed) + " more";
  return failed_result("there is no tool '" + printable(name) + "'; " +
                       (known.empty() ? "there are no tools" : "the tools are " + list));
}

ToolResult round_limit_result(size_t max_rounds) {
  return failed_result("the call was not made: the answer has had " + counted(max_rounds, "round") +
                       " of calls, which is the limit");
}

}  // namespace warpchat
