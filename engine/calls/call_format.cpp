#include "engine/calls/call_format.h"

namespace warpchat {

CallFormat find_call_format(std::string_view chat_template) {
  const auto has = [&](std::string_view text) { return chat_template.find(text) != std::string_view::npos; };
  if (has("[TOOL_CALLS]")) return has("[ARGS]") ? CallFormat::kMistralArgs : CallFormat::kMistralJson;
  if (has("<tool_call>")) {
    if (has("<function=") && has("<parameter=")) return CallFormat::kXml;
    // GLM writes names and values between tags of its own, Hunyuan a code block.
    return has("<arg_key>") || has("<tool_sep>") ? CallFormat::kNone : CallFormat::kHermes;
  }
  if (has("<function=")) return CallFormat::kNone;  // JSON between XML tags
  const bool has_parameters = has("\"parameters\"") || has("\\\"parameters\\\"");
  if (has("<|python_tag|>") || (has("ipython") && has_parameters)) return CallFormat::kLlama;
  return CallFormat::kNone;
}

}  // namespace warpchat
