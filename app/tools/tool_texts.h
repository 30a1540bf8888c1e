// What a model reads in place of a result: sentences that say what happened to its call, and what it may do.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/tool.h"

namespace warpchat {

ToolResult denied_result(std::string_view tool);     // by the user, or by rules that the user has made
ToolResult unfinished_result();                      // of a call in an answer that was cut
ToolResult stopped_result();                         // by the user, during the call
ToolResult unreadable_result(std::string_view why);  // why: a part of a sentence, "its arguments are no object"
ToolResult unknown_tool_result(std::string_view name, const std::vector<std::string>& known);
ToolResult round_limit_result(size_t max_rounds);     // a call that is not made since the answer has had so many rounds
ToolResult failed_result(std::string_view sentence);  // kError, cut

}  // namespace warpchat
