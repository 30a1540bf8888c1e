// Function calls in answers. This program offers no tools, so it says what the model asks for.
#pragma once
#include <string>
#include <vector>

#include "engine/events.h"

namespace warpchat {

void append_delta(std::vector<ToolCall>& calls, const ToolCallDelta& delta);

// "the model wants to call search({"q": 1}); there are no tools here". Error to call it without calls.
std::string calls_in_words(const std::vector<ToolCall>& calls);

}  // namespace warpchat
