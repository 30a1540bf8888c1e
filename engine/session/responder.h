// Whoever answers: the model on this machine, or an endpoint on another. A responder keeps nothing of a conversation:
// it is given all messages each time, and finds what it has computed before by the prompt's own tokens.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/events.h"
#include "engine/message.h"
#include "engine/sampler.h"
#include "models/error.h"
#include "models/token.h"

namespace warpchat {

inline constexpr char kEnableThinking[] = "enable_thinking";  // the template variable of models that can do without

struct AnswerOptions {
  std::string system_prompt;  // empty: none is added
  std::string chat_template;  // Jinja source instead of the model's; empty: the model's
  nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();  // kEnableThinking, ...
  SamplingParams sampling;
  int32_t max_tokens = -1;     // -1: until the end of the answer or of the context
  bool in_front = true;        // somebody waits for it: it is begun before others
  bool drafts = true;          // AnswerRequest::drafts
  bool parse_special = false;  // <|im_start|> and its like in messages are control tokens, not text
  bool drop_oldest =
      false;  // of messages that do not all fit, the oldest turns are left out, where tokens can be counted
};

// Messages: the last one is a user's (or a tool's), which is answered, or an unfinished answer, which is continued: its
// text is not sent again as events. Text, tokens: completed as they are; the options' template and system prompt are
// not used, and control tokens are read in the text.
using Prompt = std::variant<std::vector<Message>, std::string, std::vector<Token>>;

struct ResponderFacts {
  std::string model;           // for people and for messages: the file's path, or the name at the endpoint
  std::string endpoint;        // URL; empty: this machine
  uint32_t context = 0;        // tokens; 0: not known
  bool can_think = false;      // kEnableThinking means something to it
  bool counts_tokens = false;  // count() gives a number
  uint32_t at_once = 1;        // generations side by side
};

// The prompt does not fit with one token of an answer: "the prompt needs 9,120 tokens, the context holds 8,192".
class PromptTooLong : public Error {
 public:
  PromptTooLong(uint32_t n_prompt, uint32_t n_context, bool drop_helps);
  PromptTooLong(const std::string& sentence, uint32_t n_tokens, uint32_t n_context)
      : Error(sentence), tokens(n_tokens), context(n_context), can_drop(false) {}
  uint32_t tokens, context;  // needed: the prompt's and one; available
  bool can_drop;             // without the oldest turns (AnswerOptions::drop_oldest) it would fit
};

// One answer on its way. Destroying it stops it, and waits for its end.
class Generation {
 public:
  virtual ~Generation() = default;
  virtual std::optional<Event> next_event(std::chrono::milliseconds timeout) = 0;  // none after the GenerationEnd
  virtual void stop() = 0;                                                         // asks; the GenerationEnd comes soon
};

class Responder {
 public:
  virtual ~Responder() = default;
  virtual ResponderFacts facts() const = 0;

  // PromptTooLong; Error if as many generations run as it can have, or if it cannot begin. What goes wrong later is the
  // GenerationEnd's. The responder outlives its generations.
  virtual std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options) = 0;

  // Tokens of the prompt as start() would compute it; nullopt where it cannot be said. Not while it generates.
  virtual std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions& options) = 0;
};

}  // namespace warpchat
