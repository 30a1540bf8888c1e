#include "engine/calls/call_format.h"

#include "engine/calls/markup.h"

namespace warpchat {

CallFormat find_call_format(std::string_view chat_template) {
  const auto has = [&](std::string_view text) { return chat_template.find(text) != std::string_view::npos; };
  if (has(calls::kToolCallsMark)) return has(calls::kArgsMark) ? CallFormat::kMistralArgs : CallFormat::kMistralJson;
  if (has(calls::kCallOpen)) {
    if (has(calls::kFunctionOpen) && has(calls::kParameterOpen)) return CallFormat::kXml;
    // GLM writes names and values between tags of its own, Hunyuan a code block.
    return has("<arg_key>") || has("<tool_sep>") ? CallFormat::kNone : CallFormat::kHermes;
  }
  if (has(calls::kFunctionOpen)) return CallFormat::kNone;  // JSON between XML tags
  const bool has_parameters = has("\"parameters\"") || has("\\\"parameters\\\"");
  if (has(calls::kPythonMark) || (has("ipython") && has_parameters)) return CallFormat::kLlama;
  return CallFormat::kNone;
}

std::span<const std::string_view> calls::openers_of(CallFormat format) {
  static constexpr std::string_view kTags[] = {kCallOpen, kFunctionOpen}, kMistral[] = {kToolCallsMark},
                                    kLlama[] = {kPythonMark};
  switch (format) {
    case CallFormat::kHermes:
      return std::span(kTags).first(1);
    case CallFormat::kXml:  // some models leave the first tag out
      return kTags;
    case CallFormat::kLlama:
      return kLlama;
    case CallFormat::kMistralJson:
    case CallFormat::kMistralArgs:
      return kMistral;
    case CallFormat::kNone:
      break;
  }
  return {};
}

std::string_view call_opener(CallFormat format) {
  const std::span<const std::string_view> openers = calls::openers_of(format);
  return openers.empty() ? "" : openers.front();
}

}  // namespace warpchat
