// What a generation tells its front end, through a queue that any thread can drain.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "models/token.h"

namespace warpchat {

enum class EndReason { kEndOfText, kTokenLimit, kContextFull, kStopped, kFailed };

struct Timings {
  uint32_t prompt_tokens = 0;  // of the whole prompt
  uint32_t reused_tokens = 0;  // of them, found in the KV cache
  uint32_t generated_tokens = 0;
  double prompt_seconds = 0;       // computing the prompt's other tokens
  double generate_seconds = 0;     // from the first generated token to the last
  double first_token_seconds = 0;  // from the request to the first token
};

struct PromptProgress {
  uint32_t done, total;
};  // tokens that had to be computed, and those that have been
struct TextDelta {
  std::string text;  // complete UTF-8 characters; may be empty while one is incomplete
  Token token;       // -1: text that was held back until the end
  double seconds;    // since the token before
  bool thinking;     // inside <think> ... </think>
};
struct Notice {
  std::string text;
};  // for people: "dropped the two oldest turns: ..."
struct GenerationEnd {
  EndReason reason;
  Timings timings;
  std::string error;  // for kFailed: the sentence
};
using Event = std::variant<PromptProgress, TextDelta, Notice, GenerationEnd>;

class EventQueue {
 public:
  void push(Event event);
  std::optional<Event> try_pop();
  std::optional<Event> pop(std::chrono::milliseconds timeout);  // nullopt when none came in time

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

}  // namespace warpchat
