// Events that a generation sends to its front end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/message.h"
#include "engine/remedy.h"
#include "models/token.h"

namespace warpchat {

enum class EndReason { kEndOfText, kTokenLimit, kContextFull, kStopped, kFailed, kContentFilter };

struct PromptProgress {
  uint32_t done, total;
  bool operator==(const PromptProgress&) const = default;
};  // prompt tokens to compute, and those computed so far
struct TextDelta {
  std::string text;  // complete UTF-8 characters; may be empty while one is incomplete
  Token token;       // -1: unknown, or text held back until the end
  double seconds;    // since the previous token
  bool thinking;     // belongs to the reasoning
  std::optional<float> logprob = {};
};
// Sent once known, and again as it grows where a server's deltas do not give the number of tokens.
struct Usage {
  uint32_t prompt_tokens, generated_tokens;
  uint32_t unseen_turns = 0;  // left out of the prompt's start: a user's message with its answer each
};
// The text of the answer so far is reasoning, or else is not, whatever its TextDeltas said: a thought was found to end
// although nothing had marked its beginning, or a presumed thought did not end.
struct Reclassified {
  bool thinking;
};
struct ToolCallDelta {
  uint32_t index;                   // among the calls since the answer's beginning or RoundEnded
  std::string id, name, arguments;  // pieces, to be appended to earlier ones
  std::string fault = {};           // why the call cannot be read, a sentence for the model
};
// The calls of all earlier ToolCallDeltas as they now are: asked about, carried out, with results.
struct ToolCallsChanged {
  std::vector<ToolCall> calls;
  std::string why_asked =
      {};  // about the one that is asked about, a part of a sentence; empty: nothing was decided yet
};
// The results go back to the model, which goes on: text and calls so far are a ToolRound.
struct RoundEnded {};
struct Notice {
  std::string text;
};  // text for the user: "host does not take min_p: asked again without"
// Whether a server told the numbers of Timings; this machine knows them all.
struct ToldCounts {
  bool prompt = true, reused = true, generated = true;
};
struct GenerationEnd {
  EndReason reason;
  Timings timings;
  std::string error;  // the message, for kFailed
  Remedy remedy = {};
  ToldCounts told = {};
  bool reasoning_ended = false;  // the answer's thought was closed
  std::string form_fault = {};   // how the answer misses AnswerOptions::form, a sentence; it stays as it is
};
using Event = std::variant<PromptProgress, TextDelta, Reclassified, Usage, ToolCallDelta, ToolCallsChanged, RoundEnded,
                           Notice, GenerationEnd>;

}  // namespace warpchat
