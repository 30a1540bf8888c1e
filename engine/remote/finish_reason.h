// The reasons that servers give for an answer's end.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "models/ascii.h"

namespace warpchat {

enum class Finish {
  kNone,      // the answer goes on
  kComplete,  // the model ended it
  kLength,    // cut at a limit of tokens
  kFiltered,  // cut by a content filter
  kUnknown,   // anything else, e.g. that the server gave up: the answer may be incomplete
};

// Servers differ in names and in case. Only known reasons mean that an answer is complete.
inline Finish finish_of(std::string_view reason) {
  // OpenAI, Text Generation Inference, Together, Anthropic, Mistral, Cohere, Gemini, Bedrock and their gateways.
  static constexpr std::pair<std::string_view, Finish> kReasons[] = {
      {"", Finish::kNone},
      {"null", Finish::kNone},
      {"none", Finish::kNone},
      {"stop", Finish::kComplete},
      {"eos", Finish::kComplete},
      {"eos_token", Finish::kComplete},
      {"stop_sequence", Finish::kComplete},
      {"stop_token", Finish::kComplete},
      {"end_turn", Finish::kComplete},
      {"complete", Finish::kComplete},
      {"completed", Finish::kComplete},
      {"tool_calls", Finish::kComplete},
      {"tool_call", Finish::kComplete},
      {"tool_use", Finish::kComplete},
      {"function_call", Finish::kComplete},
      {"length", Finish::kLength},
      {"max_tokens", Finish::kLength},
      {"max_output_tokens", Finish::kLength},
      {"max_new_tokens", Finish::kLength},
      {"max_length", Finish::kLength},
      {"model_length", Finish::kLength},
      {"content_filter", Finish::kFiltered},
      {"content_filtered", Finish::kFiltered},
      {"safety", Finish::kFiltered},
      {"refusal", Finish::kFiltered},
      {"recitation", Finish::kFiltered},
      {"blocklist", Finish::kFiltered},
      {"prohibited_content", Finish::kFiltered},
      {"sensitive", Finish::kFiltered},
      {"guardrail_intervened", Finish::kFiltered},
  };
  const std::string name = lower_case(trimmed(reason));
  for (const auto& [known, finish] : kReasons)
    if (name == known) return finish;
  return Finish::kUnknown;
}

}  // namespace warpchat
