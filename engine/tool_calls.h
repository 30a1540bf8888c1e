// Function calls in answers. This program offers no tools, so it says what the model asks for.
#pragma once
#include <string>
#include <vector>

#include "engine/events.h"
#include "models/text_format.h"

namespace warpchat {

inline void append_delta(std::vector<ToolCall>& calls, const ToolCallDelta& delta) {
  if (delta.index >= calls.size()) calls.resize(delta.index + size_t{1});
  ToolCall& call = calls[delta.index];
  call.id += delta.id;
  call.name += delta.name;
  call.arguments += delta.arguments;
}

// "the model wants to call search({"q": 1}); there are no tools here". Error to call it without calls.
inline std::string calls_in_words(const std::vector<ToolCall>& calls) {
  constexpr size_t kMaxShown = 3;
  std::string list;
  for (size_t i = 0; i < calls.size() && i < kMaxShown; ++i)
    list += (i == 0 ? "" : ", ") + printable(calls[i].name) + "(" + printable(calls[i].arguments, 200) + ")";
  return "the model wants to call " + list + (calls.size() > kMaxShown ? ", ..." : "") + "; there are no tools here";
}

}  // namespace warpchat
