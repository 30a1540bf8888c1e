#include "engine/tool_calls.h"

#include "models/text_format.h"

namespace warpchat {

namespace {
constexpr size_t kMaxShown = 3;  // calls in a sentence
}  // namespace

void append_delta(std::vector<ToolCall>& calls, const ToolCallDelta& delta) {
  if (delta.index >= calls.size()) calls.resize(delta.index + size_t{1});
  ToolCall& call = calls[delta.index];
  call.id += delta.id;
  call.name += delta.name;
  call.arguments += delta.arguments;
}

std::string calls_in_words(const std::vector<ToolCall>& calls) {
  std::string list;
  for (size_t i = 0; i < calls.size() && i < kMaxShown; ++i)
    list += (i == 0 ? "" : ", ") + printable(calls[i].name) + "(" + printable(calls[i].arguments, 200) + ")";
  return "the model wants to call " + list + (calls.size() > kMaxShown ? ", ..." : "") + "; there are no tools here";
}

}  // namespace warpchat
