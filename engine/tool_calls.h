// Function calls in answers as they stream, and what is said of calls that are not carried out.
#pragma once
#include <algorithm>
#include <span>
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

// One has no result: nothing here carries out calls.
inline bool has_undone(const std::vector<ToolCall>& calls) {
  return std::ranges::find(calls, CallStatus::kNone, &ToolCall::status) != calls.end();
}

// "the model wants to call search({"q": 1}); there are no tools here". Error to call it without calls.
inline std::string calls_in_words(const std::vector<ToolCall>& calls) {
  constexpr size_t kMaxShown = 3;
  const auto shown = [](const ToolCall& call) {
    return printable(call.name) + "(" + printable(call.arguments, 200) + ")";
  };
  const std::string list = word_list(std::span(calls).first(std::min(calls.size(), kMaxShown)), ", ", shown);
  return "the model wants to call " + list + (calls.size() > kMaxShown ? ", ..." : "") + "; there are no tools here";
}

}  // namespace warpchat
