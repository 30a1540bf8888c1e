// Source of answers: the model on this machine, or a remote endpoint. A responder is stateless: each request contains
// all messages, and cached computation is found by the prompt's tokens.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/answer_form.h"
#include "engine/events.h"
#include "engine/message.h"
#include "engine/sampler.h"
#include "models/error.h"
#include "models/token.h"

namespace warpchat {

inline constexpr char kEnableThinking[] = "enable_thinking";  // template variable of models with optional reasoning

// A function that the model may call.
struct ToolDeclaration {
  std::string name, description;
  nlohmann::ordered_json schema = nlohmann::ordered_json::object();  // JSON Schema of its arguments, an object
};

// {"type": "function", "function": {"name", "description", "parameters"}}: for templates and servers.
nlohmann::ordered_json as_json(const ToolDeclaration& tool);

struct AnswerOptions {
  std::string system_prompt;                                                     // empty: none
  std::string chat_template;                                                     // Jinja source; empty: the model's
  nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();  // kEnableThinking, ...
  SamplingParams sampling;
  int32_t max_tokens = -1;                  // -1: until the end of the answer or of the context
  bool in_front = true;                     // prefilled before others, because the user waits for it
  bool drafts = true;                       // AnswerRequest::drafts
  std::vector<ToolDeclaration> tools = {};  // in the prompt; without them nothing is read as a call
  bool holds_arguments = true;  // a call's arguments keep to its tool's schema, where the model runs on this machine
  AnswerForm form = {};         // of the whole answer; a thought before it is free
  bool parse_special = false;   // parse <|im_start|> and the like in messages as control tokens
  std::function<bool()> is_stopped{};  // asked often while the prompt is built, on that thread; empty: never
  bool drop_oldest = false;            // drop the oldest turns if messages do not fit, where tokens can be counted
};

// Messages: a conversation as it is stored; the model reads what messages_for_model() leaves of it. The last one is
// answered if it is a user's (or a tool's), or continued if it is an unfinished answer, whose text is not sent as
// events. Text and tokens are completed as they are: without template and system prompt, and with control tokens parsed
// in text.
using Prompt = std::variant<std::vector<Message>, std::string, std::vector<Token>>;

struct ResponderFacts {
  std::string model;            // for display: the file's path, or the endpoint's model name
  std::string endpoint;         // URL; empty: this machine
  uint32_t context = 0;         // tokens; 0: unknown
  bool can_think = false;       // supports kEnableThinking
  bool opens_thoughts = false;  // a server that does so without a mark: text may turn out to be a thought
  bool counts_tokens = false;   // count() returns a number
  bool can_call_tools = true;   // AnswerOptions::tools reach the model
  bool can_continue = true;     // a last message that is an answer is continued, not begun anew
  uint32_t at_once = 1;         // concurrent generations
};

// The prompt plus one token does not fit: "the prompt needs 9,120 tokens, the context holds 8,192".
class PromptTooLong : public Error {
 public:
  PromptTooLong(uint32_t n_prompt, uint32_t n_context, bool drop_helps);
  PromptTooLong(const std::string& sentence, uint32_t n_tokens, uint32_t n_context)
      : Error(sentence), tokens(n_tokens), context(n_context), can_drop(false) {}
  uint32_t tokens, context;  // needed: the prompt and one token; available
  bool can_drop;             // would fit without the oldest turns (AnswerOptions::drop_oldest)
};

// A running answer. The destructor stops it and waits for its end.
class Generation {
 public:
  virtual ~Generation() = default;
  virtual std::optional<Event> next_event(std::chrono::milliseconds timeout) = 0;  // none after GenerationEnd
  virtual void stop() = 0;                                                         // asynchronous; ends soon after
  // Answers the question about the first call that is CallStatus::kAsking.
  virtual void decide(bool /*is_allowed*/) {}
};

class Responder {
 public:
  // Called once the prompt is built, before anything of the answer begins: a message that is stored here outlives
  // whatever the answer does. What it throws, start() throws.
  using OnReady = std::function<void()>;

  virtual ~Responder() = default;
  virtual ResponderFacts facts() const = 0;

  // Throws PromptTooLong, or Error if all generations are in use or it cannot begin. Later errors are in GenerationEnd.
  // Generations must not outlive the responder.
  virtual std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options,
                                            const OnReady& ready = {}) = 0;

  // Tokens of the prompt as in start(); nullopt if unknown. Not during a generation.
  virtual std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions& options) = 0;
};

}  // namespace warpchat
