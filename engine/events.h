// What a generation tells its front end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/message.h"
#include "engine/way_out.h"
#include "models/token.h"

namespace warpchat {

enum class EndReason { kEndOfText, kTokenLimit, kContextFull, kStopped, kFailed };

struct PromptProgress {
  uint32_t done, total;
  bool operator==(const PromptProgress&) const = default;
};  // tokens that had to be computed, and those that have been
struct TextDelta {
  std::string text;  // complete UTF-8 characters; may be empty while one is incomplete
  Token token;       // -1: not known, or text that was held back until the end
  double seconds;    // since the token before
  bool thinking;     // of the reasoning
  std::optional<float> logprob = {};
};
// Once it is known, and again as it grows where the answer's tokens cannot be counted by their deltas.
struct Usage {
  uint32_t prompt_tokens, generated_tokens;
  uint32_t unseen_turns = 0;  // at the start, left out of the prompt: a user's message with its answer each
};
struct ToolCallDelta {
  uint32_t index;                   // of the answer's calls
  std::string id, name, arguments;  // pieces, to be added to what came before
};
struct Notice {
  std::string text;
};  // for people: "host does not take min_p: asked again without"
struct GenerationEnd {
  EndReason reason;
  Timings timings;
  std::string error;  // for kFailed: the sentence
  WayOut way_out = {};
};
using Event = std::variant<PromptProgress, TextDelta, Usage, ToolCallDelta, Notice, GenerationEnd>;

}  // namespace warpchat
